"""Read the operations of an OpenAPI document as drafts of tools."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from toolmd._import.functions import add_function, returned_shape
from toolmd._import.names import distinct, parameter_name, shown, tool_name, words_of
from toolmd._import.policy import Policy
from toolmd._import.report import ImportReport
from toolmd._types.call_spec import Safety
from toolmd._types.operation import METHODS, read_operation
from toolmd._types.schema import Parameter

_OTHER_KEYS = frozenset(("parameters", "summary", "description", "servers", "$ref"))


class FoundOperation(NamedTuple):
    """An operation, and where the document has it."""

    name: str
    """The name of its tool."""
    method: str
    path: str
    content: Mapping[str, Any]
    item: Mapping[str, Any]
    """What the operations of its path share."""

    def fits(self, masks: Sequence[str]) -> bool:
        """Return whether its name, path or tag fits one of these patterns; without any it does."""
        tags = self.content.get("tags")
        own = [self.name, _name(self.method, self.path, self.content), self.path]
        own += map(str, tags if isinstance(tags, list) else ())
        return not masks or any(fnmatchcase(one, mask) for one in own for mask in masks)


def find_operations(
    paths: Mapping[str, Any],
    resolved: Callable[[Any], Mapping[str, Any]],
    report: ImportReport,
    only: Sequence[str],
) -> list[FoundOperation]:
    """Return the operations that are wanted; `resolved` follows references.

    All are named before some are chosen, so that a name does not depend on the choice.
    """
    every = list(_operations(paths, resolved, report))
    found = []
    short = _shortened(every)
    for one, kept, name in zip(every, short, distinct(short), strict=True):
        named = one._replace(name=name)
        if named.fits(only):
            if name != one.name:
                own = one.content.get("operationId") or f"{one.method} {one.path}"
                why = "which was generated" if name == kept else "as another one"
                report.note(name, "", f"called {own!r} in the document, {why}")
            found.append(named)
    return found


def _operations(
    paths: Mapping[str, Any], resolved: Callable[[Any], Mapping[str, Any]], report: ImportReport
) -> Iterator[FoundOperation]:
    for path, shared in paths.items():
        item = resolved(shared)
        for method, content in item.items():
            if method.upper() in METHODS and isinstance(content, Mapping):
                name = _name(method, path, content)
                yield FoundOperation(name, method.upper(), path, content, item)
            elif method not in _OTHER_KEYS:
                report.reject(f"{method} {path}", "no method that a tool can call")


def _name(method: str, path: str, content: Mapping[str, Any]) -> str:
    return tool_name(str(content.get("operationId") or f"{method.upper()} {path}")) or "operation"


def _shortened(every: Sequence[FoundOperation]) -> list[str]:
    """Return the name of each operation, without what FastAPI generates where it stays unique."""
    short = [_function(one) or one.name for one in every]
    counted = Counter(
        name for one, own in zip(every, short, strict=True) for name in {one.name, own}
    )
    return [own if counted[own] == 1 else one.name for one, own in zip(every, short, strict=True)]


def _function(one: FoundOperation) -> str:
    """Return the function's name from an id `{function}{path}_{method}`; empty for another id."""
    own = str(one.content.get("operationId") or "")
    tail = re.sub(r"\W", "_", one.path) + "_" + one.method.lower()
    return tool_name(own.removesuffix(tail)) if own.endswith(tail) else ""


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
        whole = tuple(one for one in found if one is not None)
        at = {(one["type"], one["name"].lower()) if "name" in one else ("header", "authorization")
              for one in whole}  # fmt: skip
        return whole if len(at) == len(found) else None


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


SCHEMAS = "#/components/schemas/"
"""Where a document has its schemas."""
_BY_QUERY = frozenset(("GET", "HEAD", "DELETE"))
_OF_THE_CLIENT = frozenset(("accept", "authorization", "content-type"))
"""The headers that OpenAPI does not let a parameter describe."""
_STYLES = {"form": "commas", "spaceDelimited": "spaces", "pipeDelimited": "pipes"}
"""How OpenAPI calls the ways to write an array or an object as one text."""
_FORM = "application/x-www-form-urlencoded"
_READ = frozenset(
    "operationId summary description tags parameters requestBody responses deprecated security"
    " servers".split()
)
"""The keys of an operation that the draft or a note has."""
_OF_A_PATH = frozenset(("parameters", "servers", "$ref", *map(str.lower, METHODS)))
_OF_A_PARAMETER = frozenset(
    "name in required schema content style explode description deprecated allowEmptyValue"
    " allowReserved".split()
)


class Operations:
    """Reads the operations of one document."""

    def __init__(
        self,
        document: Mapping[str, Any],
        report: ImportReport,
        only: Sequence[str] = (),
        policy: Sequence[Policy] = (),
    ) -> None:
        self._schemas = _mapping(_mapping(document.get("components")).get("schemas"))
        self._document = {**document, "$defs": self._schemas}
        self._report = report
        self._only = only
        self._policies = policy
        self._ways = Ways(document, report, self._resolved)

    def read(self, name: str) -> Mapping[str, Auth]:
        """Add a draft for each operation; return the services that they call, by name.

        `name` is the service of most of them. Operations with other credentials have their own.
        """
        paths = _mapping(self._document.get("paths"))
        found = find_operations(paths, self._resolved, self._report, self._only)
        services = self._ways.services(name, [(one.name, one.content) for one in found])
        for one in found:
            self._operation(*one)
        return services

    def _operation(
        self, name: str, method: str, path: str, operation: Mapping[str, Any],
        item: Mapping[str, Any],
    ) -> None:  # fmt: skip
        where = f"http {method} {self._ways.service_of(name)}:{path}"
        if read_operation(where) is None:
            self._report.reject(name, f"{method} {path} can't be called: its path is not one")
            return
        if operation.get("servers") or item.get("servers"):
            self._report.note(name, "", "it has servers of its own: the document's are called")
        if operation.get("deprecated") is True:
            self._report.note(name, "", "the document calls it deprecated")
        others = [
            f"{status} {self._resolved(one).get('description', '')}".strip()
            for status, one in _mapping(operation.get("responses")).items()
        ]
        left = {key: operation[key] for key in operation if key not in _READ}
        left |= {f"path's {key}": one for key, one in item.items() if key not in _OF_A_PATH}
        scopes = [one for one in _list(operation.get("security")) if any(_mapping(one).values())]
        left |= {key: one for key, one in (("responses", others), ("security", scopes)) if one}
        policy = [*self._policies, *self._report.note_unread(name, left)]
        places: dict[str, str | None] = {}
        schema = self._arguments(method, name, operation, item, places)
        if schema is None:
            return
        entry = {
            "name": name,
            "description": "\n\n".join(
                str(operation[key]).strip()
                for key in ("summary", "description") if operation.get(key)
            ),
            "parameters": schema,
        }  # fmt: skip
        tags = tuple(map(str, _list(operation.get("tags"))))
        known = {"implemented_by": where, "tags": tags, **self._policy(method, name)}
        if (result := self._result(operation)) is not None:
            known["returns"] = returned_shape(result, name, self._report, wrapped=False)

        def sent(one: Parameter) -> Parameter:
            return replace(one, shape=replace(one.shape, sent_in=places.get(one.name)))

        add_function(entry, self._report, policy=policy, change=sent, **known)

    def _policy(self, method: str, name: str) -> dict[str, Any]:
        if method in {"GET", "HEAD"}:
            return {"read_only": True}
        if method == "PUT":
            return {"idempotent": "yes"}
        if method == "DELETE":
            self._report.note(name, "", "DELETE: Requires Confirmation was proposed")
            return {"idempotent": "yes", "safety": Safety(requires_confirmation=True)}
        return {}

    def _arguments(
        self, method: str, name: str, operation: Mapping[str, Any], item: Mapping[str, Any],
        places: dict[str, str | None],
    ) -> dict[str, Any] | None:  # fmt: skip
        """Return the JSON Schema of all arguments, and fill in where each is sent.

        None where the operation can't be called.
        """
        fields: dict[str, Any] = {}
        required: list[str] = []

        def put(own: str, place: str, schema: Any, *, needed: bool) -> None:
            shown = parameter_name(own) or "value"
            while shown in fields:
                shown = f"{place.split(maxsplit=1)[0]}_{shown}"
            usual = "query" if method in _BY_QUERY else "body"
            by_itself = shown == own and place in {"path", usual}
            kind, _, style = place.partition(" as ")
            said = " ".join(
                [kind, *([own] if shown != own else []), *([f"as {style}"] if style else [])]
            )
            places[shown] = None if by_itself else place if place == "whole body" else said
            if shown != own:
                self._report.note(name, shown, f"called {own!r} in the document")
            fields[shown] = _mapping(schema)
            if needed:
                required.append(shown)

        if not (self._listed(name, operation, item, put) and self._body(name, operation, put)):
            return None
        return {
            "type": "object", "properties": fields, "required": required,
            "additionalProperties": False, "$defs": self._used(fields),
        }  # fmt: skip

    def _used(self, value: Any) -> dict[str, Any]:
        """Return the document's schemas that a schema refers to, directly or not."""
        names = [reference.removeprefix("#/$defs/").partition("/")[0]
                 for reference in referred(self._document, value)]  # fmt: skip
        names = [name.replace("~1", "/").replace("~0", "~") for name in names]
        return {name: self._schemas[name] for name in names if name in self._schemas}

    def _listed(
        self, name: str, operation: Mapping[str, Any], item: Mapping[str, Any], put: Any
    ) -> bool:
        """Add the listed parameters; return whether each can be sent."""
        every = (*_list(item.get("parameters")), *_list(operation.get("parameters")))
        listed = {(str(one.get("in")), str(one.get("name"))): one
                  for one in map(self._resolved, every)}  # fmt: skip
        for (place, own), parameter in listed.items():
            unread = {k: one for k, one in parameter.items() if k not in _OF_A_PARAMETER}
            for key, one in unread.items():
                self._report.note(name, own, f"`{key}` is not kept: {shown(one)}")
            if place not in {"path", "query", "header", "cookie"}:
                self._report.reject(name, f"`{own}` is sent in {place!r}, which is unknown")
                return False
            if (place == "header" and own.lower() in _OF_THE_CLIENT) or self._ways.has(
                name, place, own
            ):
                self._report.note(name, own, "left out: the client and the service's table set it")
                continue
            needed = place == "path" or parameter.get("required") is True
            sent = self._style(name, parameter)
            if sent is None:
                return False
            schema = dict(_mapping(parameter.get("schema")))
            if sent == "json":
                schema = dict(
                    _mapping(_mapping(parameter["content"])["application/json"].get("schema"))
                )
            if sent == "fields":
                inner = self._resolved(schema)
                self._note_whole(name, own, inner)
                for field, one in _mapping(inner.get("properties")).items():
                    put(field, place, one, needed=needed and field in _list(inner.get("required")))
                continue
            if parameter.get("description"):
                schema.setdefault("description", parameter["description"])
            put(own, f"{place}{sent and f' as {sent}'}", schema, needed=needed)
        return True

    def _style(self, name: str, parameter: Mapping[str, Any]) -> str | None:
        """Return how a parameter is written, `fields` for one that is each of its fields.

        None where it can't be sent, with the reason in the report.
        """
        place, own = parameter["in"], parameter["name"]
        if "content" in parameter:
            if place == "query" and "application/json" in _mapping(parameter["content"]):
                return "json"
            self._report.reject(name, f"`{own}` is sent as {', '.join(parameter['content'])}")
            return None
        usual = "form" if place in {"query", "cookie"} else "simple"
        style = parameter.get("style", usual)
        schema = self._resolved(parameter.get("schema"))
        types = schema.get("type")
        is_array = "items" in schema or types == "array"
        is_object = "properties" in schema or types == "object"
        explode = parameter.get("explode", style == "form")
        if style == "deepObject" and place == "query":
            return "brackets"
        if style == usual and not (is_array or is_object):
            return ""
        if place == "query" and not explode and style in _STYLES:
            return _STYLES[style]
        if (place, style) == ("query", "form") and (is_array or "properties" in schema):
            return "" if is_array else "fields"
        if style == "simple" and is_array:
            return ""
        self._report.reject(name, f"`{own}` is written in the style {style!r}, which can't be sent")
        return None

    def _body(self, name: str, operation: Mapping[str, Any], put: Any) -> bool:
        """Add the arguments of the body; return whether it can be sent."""
        body = self._resolved(operation.get("requestBody"))
        content = _mapping(body.get("content"))
        if not content:
            return True
        needed = body.get("required") is True
        kind = next((k for k in content if re.fullmatch(r"application/([\w.+-]+\+)?json", k)), None)
        kind = kind or next((k for k in content if k == _FORM), None)
        if kind is None:
            what = f"the body is {', '.join(content)}; JSON and forms can be sent"
            if needed:
                self._report.reject(name, what)
                return False
            self._report.note(name, "", f"{what}: left out")
            return True
        if len(content) > 1:
            self._report.note(name, "", f"of the body's kinds {kind} is sent")
        schema = _mapping(_mapping(content[kind]).get("schema"))
        inner = self._resolved(schema)
        place = "form" if kind == _FORM else "body"
        plain = "properties" in inner and not {"allOf", "oneOf", "anyOf"} & set(inner)
        if plain and inner.get("additionalProperties", False) in (False, True):
            of_body = _list(inner.get("required"))
            self._note_whole(name, "", inner)
            for own, field in inner["properties"].items():
                if _mapping(field).get("readOnly") is not True:
                    put(own, place, field, needed=needed and own in of_body)
            return True
        if place == "form":
            self._report.reject(name, "the form's fields are not listed")
            return False
        put("body", "whole body", schema, needed=needed)
        return True

    def _note_whole(self, name: str, own: str, schema: Mapping[str, Any]) -> None:
        """Note what a schema says of an object whose fields are arguments of their own."""
        for key, one in schema.items():
            if key not in {"type", "properties", "required", "additionalProperties"}:
                self._report.note(name, own, f"`{key}` is not kept: {shown(one)}")
            elif key == "additionalProperties" and isinstance(one, Mapping):
                self._report.note(name, own, f"other fields are not kept: {shown(one)}")

    def _result(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        for status, response in _mapping(operation.get("responses")).items():
            if not status.startswith("2"):
                continue
            answer = self._resolved(response)
            for kind, media in _mapping(answer.get("content")).items():
                if kind.endswith("json") and isinstance(_mapping(media).get("schema"), Mapping):
                    said = {"description": str(answer.get("description") or "The answer")}
                    return {**said, **media["schema"], "$defs": self._used(media["schema"])}
        return None

    def _resolved(self, value: Any) -> Mapping[str, Any]:
        """Follow local references; an unknown one is an empty object, which is noted."""
        for _ in range(32):
            one = _mapping(value)
            reference = one.get("$ref")
            if not isinstance(reference, str):
                return one
            value = self._at(reference)
        return {}

    def _at(self, reference: str) -> Any:
        value = target(self._document, reference)
        if value is None:
            where = "nowhere" if reference.startswith("#/") else "out of the document"
            self._report.note("", "", f"the reference {reference!r} leads {where}")
        return value


def target(document: Mapping[str, Any], reference: str) -> Any:
    """Return what a reference leads to within a document; None for nothing."""
    value: Any = document if reference.startswith("#/") else None
    for part in reference[2:].split("/"):
        value = _mapping(value).get(part.replace("~1", "/").replace("~0", "~"))
    return value


def referred(document: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Return what a value refers to within a document, directly or not, by reference."""
    found: dict[str, Any] = {}
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left += one
        elif isinstance(one, dict):
            left += one.values()
            reference = one.get("$ref")
            if isinstance(reference, str) and reference not in found:
                found[reference] = target(document, reference)
                left.append(found[reference])
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
