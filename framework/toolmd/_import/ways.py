"""Choose how the operations of an OpenAPI document sign in, and the services that this needs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toolmd._import.names import words_of
from toolmd._import.report import ImportReport

_PUBLIC: tuple[str, ...] = ()


class Auth(NamedTuple):
    """The credentials of one service."""

    entries: tuple[Mapping[str, str], ...] = ()
    scopes: tuple[str, ...] = ()
    """What its tokens must be allowed, as the document names it."""


class Ways:
    """The ways to sign in, each a set of schemes. The one that most operations use is taken."""

    def __init__(
        self, document: Mapping[str, Any], report: ImportReport, resolved: Callable[[Any], Any]
    ) -> None:
        self._default = document.get("security")
        components = document.get("components")
        schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
        self._schemes = schemes if isinstance(schemes, Mapping) else {}
        self._report = report
        self._resolved = resolved
        self._services: dict[tuple[str, ...], str] = {}
        self._chosen: dict[str, tuple[str, ...]] = {}
        self._auth: dict[str, Auth] = {}

    def services(
        self, name: str, operations: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> Mapping[str, Auth]:
        """Choose a way for each operation; return the credentials of each service by its name."""
        offered = [(own, self._offered(one)) for own, one in operations]
        used = Counter(way for _, ways in offered for way in ways)
        scopes: dict[tuple[str, ...], dict[str, None]] = {}
        for own, ways in offered:
            sendable = [way for way in ways if self._entries(name, way) is not None] or [_PUBLIC]
            way = max(sendable, key=lambda one: (bool(one), used[one]))
            if ways and way not in ways:
                lacking = ", ".join(sorted({scheme for one in ways for scheme in one}))
                self._report.note(own, "", f"its way to sign in, {lacking}, can't be carried over")
            elif len(ways) > 1:
                self._report.note(own, "", f"of several ways to sign in: {' and '.join(way)}")
            self._chosen[own] = way
            scopes.setdefault(way, {}).update(dict.fromkeys(ways.get(way, ())))
        most = Counter(self._chosen.values()).most_common()
        for number, (way, _) in enumerate(most):
            suffix = "_".join(words_of(" ".join(way))) or "public"
            own = name if number == 0 else f"{name[: 63 - len(suffix)]}_{suffix}"[:64]
            self._services[way] = own
            self._auth[own] = Auth(self._entries(name, way) or (), tuple(scopes[way]))
        return self._auth

    def service_of(self, operation: str) -> str:
        """Return the name of the service that an operation calls."""
        return self._services[self._chosen[operation]]

    def has(self, operation: str, place: str, name: str) -> bool:
        """Return whether the service's table sets this parameter of an operation."""
        entries = self._auth[self.service_of(operation)].entries
        return any((one["type"], one.get("name", "").lower()) == (place, name.lower())
                   for one in entries)  # fmt: skip

    def _offered(self, operation: Mapping[str, Any]) -> dict[tuple[str, ...], list[str]]:
        """Return the scopes of each way that an operation accepts."""
        listed = operation.get("security", self._default)
        ways: dict[tuple[str, ...], list[str]] = {}
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, Mapping):
                lists = [scopes for scopes in one.values() if isinstance(scopes, list)]
                ways[tuple(sorted(one))] = [str(scope) for scopes in lists for scope in scopes]
        return ways

    def _entries(self, name: str, way: tuple[str, ...]) -> tuple[Mapping[str, str], ...] | None:
        """Return the credentials of a way; None where a table can't hold them."""
        found = []
        for scheme in way:
            variable = f"{name}_{'_'.join(words_of(scheme))}".upper()
            found.append(_credential(self._resolved(self._schemes.get(scheme)), variable))
        set_twice = sum(one is not None and one["type"] in {"bearer", "basic"} for one in found) > 1
        whole = tuple(one for one in found if one is not None)
        return None if len(whole) < len(found) or set_twice else whole


def _credential(scheme: Mapping[str, Any], variable: str) -> dict[str, str] | None:
    kind = scheme.get("type")
    if kind == "http" and str(scheme.get("scheme")).lower() == "basic":
        return {"type": "basic", "user": f"${variable}_USER", "password": f"${variable}_PASSWORD"}
    if kind in {"oauth2", "openIdConnect"} or (
        kind == "http" and str(scheme.get("scheme")).lower() == "bearer"
    ):
        return {"type": "bearer", "token": f"${variable}"}
    place = str(scheme.get("in"))
    if kind == "apiKey" and place in {"header", "query", "cookie"}:
        return {"type": place, "name": str(scheme.get("name")), "value": f"${variable}"}
    return None
