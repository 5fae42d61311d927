"""Read the value of a setting as the type of its field says, wherever it was written."""

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin
from zoneinfo import ZoneInfo

from toolmd._types.call import fact_name
from toolmd._types.code import Code
from toolmd._types.identity import RESERVED
from toolmd._types.settings import ActAsSettings, Bounds, IssuerSettings, Settings, TokenSettings
from toolmd.config.services import (
    is_safe,
    read_command,
    read_credentials,
    read_env,
    read_headers,
    read_url,
    whole_server,
    whole_service,
)
from toolmd.errors import ConfigError, did_you_mean

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_WORDS = {"1": True, "true": True, "yes": True, "on": True}
_WORDS |= {"0": False, "false": False, "no": False, "off": False}
"""How the environment says yes and no."""


class Origin(NamedTuple):
    """The place where a value was written, for messages."""

    origin: str
    key: str
    text: bool = False
    """Whether only text can stand here, as in the environment; a file has types of its own."""

    def error(self, message: str) -> ConfigError:
        """Build the error that names the place."""
        return ConfigError(f"{self.origin}: {self.key}: {message}")

    def below(self, name: str) -> "Origin":
        """Return the place of a value by its name in a table."""
        return Origin(self.origin, f"{self.key}.{name}")

    def read(self, reader: Callable[[Any], Any], value: Any) -> Any:
        """Return what a function makes of a value; its ValueError becomes that of the place."""
        try:
            return reader(value)
        except ValueError as error:
            raise self.error(str(error)) from None

    def parsed(self, value: Any, wanted: str, *, commas: bool = False) -> Any:
        """Return the JSON of a text in the environment; with `commas`, parts by commas, too."""
        if not self.text or not isinstance(value, str):
            return value
        if commas and not value.lstrip().startswith(("[", "{")):
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise self.error(f"must be {wanted}, as JSON") from error


def read(kind: Any, value: Any, at: Origin) -> Any:
    """Read a value of a type that the settings have; raises ConfigError, which names the place."""
    kind, rule = get_args(kind) if get_origin(kind) is Annotated else (kind, None)
    kind = get_args(kind)[0] if isinstance(kind, UnionType) else kind  # of `str | None`
    origin, inner = get_origin(kind), get_args(kind)
    if rule in _RAW:
        return at.read(_RAW[rule], value)
    if origin is tuple:
        value = _read_list(inner[0], value, at)
    elif origin is Mapping:
        value = _read_map(inner[0], inner[1], value, at)
    elif origin is Literal:
        if value not in inner:
            near = did_you_mean(str(value), inner)
            wanted = f"must be {' or '.join(inner)}, not {value!r}"
            raise at.error(f"{wanted}; {near}" if near else wanted)
    elif _is_table(kind):
        return _read_table(kind, value, at)
    elif isinstance(rule, Bounds):
        return _read_number(kind, rule, value, at)
    elif kind is bool:
        value = _WORDS.get(value.strip().lower()) if at.text and isinstance(value, str) else value
        if not isinstance(value, bool):
            raise at.error("must be true or false")
    elif not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
        raise at.error("must be a text that is not empty")
    else:
        value = str(value).strip()
    return at.read(_RULES[rule], value) if rule is not None else value


def read_setting(key: str, value: Any, at: Origin) -> Any:
    """Read the value of a setting by its key, such as `safety.floor`."""
    return read(KINDS[key], value, at)


def _read_list(kind: Any, value: Any, at: Origin) -> tuple[Any, ...]:
    are_tables = _is_table(kind)
    wanted = "a list of tables" if are_tables else 'a list, such as ["a", "b"]'
    value = at.parsed(value, wanted, commas=not are_tables)
    if not isinstance(value, list | tuple):
        raise at.error(f"must be {wanted}")
    return tuple(read(kind, one, at._replace(text=False)) for one in value)


def _read_map(names: Any, kind: Any, value: Any, at: Origin) -> dict[str, Any]:
    value = at.parsed(value, "values by name")
    if not isinstance(value, dict):
        raise at.error("must be a table of values by name")
    found: dict[str, Any] = {}
    for name, one in value.items():
        key = read(names, name, at)
        if key in found:
            raise at.error(f"{key} is written twice")
        found[key] = read(kind, one, at.below(name))
    return found


def _is_table(kind: Any) -> bool:
    return hasattr(kind, "_field_defaults")


def _read_table(kind: Any, value: Any, at: Origin) -> Any:
    value = at.parsed(value, "a table")
    known: Mapping[str, Any] = kind.__annotations__
    needed = [name for name in known if name not in kind._field_defaults]
    if not isinstance(value, dict) or not {*needed} <= value.keys():
        raise at.error(f"must be a table with {' and '.join(needed)}".removesuffix(" with "))
    value = at.read(_BEFORE.get(kind.__name__, dict), value)
    for name in sorted(set(value) - {*known}):
        hint = did_you_mean(name, known) or f"known keys: {', '.join(known)}"
        raise at.error(f"unknown key {name!r}; {hint}")
    table = kind(**{name: read(known[name], one, at.below(name))
                    for name, one in value.items()})  # fmt: skip
    return at.read(_WHOLE.get(kind.__name__, lambda whole: whole), table)


def _read_number(kind: Any, bounds: Bounds, value: Any, at: Origin) -> float:
    is_whole, read_as = kind is int, value
    if isinstance(value, str) and at.text:
        with contextlib.suppress(ValueError):
            read_as = int(value) if is_whole else float(value)
    is_number = isinstance(read_as, int if is_whole else int | float)
    if (
        is_number
        and not isinstance(read_as, bool)
        and bounds.least <= read_as <= bounds.most
        and not (bounds.above and read_as == bounds.least)
    ):
        return int(read_as) if is_whole else float(read_as)
    number = f"a {'whole ' * is_whole}number{bounds.unit and f' of {bounds.unit}'}"
    least = f", more than {bounds.least:,} up" if bounds.above else f" from {bounds.least:,}"
    raise at.error(f"must be {number}{least} to {bounds.most:,}, not {value!r}")


def _name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not a name: use lower-case letters, digits, _ and -")
    return value


def _fact(value: str) -> str:
    fact = fact_name(value)
    if fact is None or fact in RESERVED:
        raise ValueError(f"{value!r} can't be the name of a fact")
    return fact


def _codes(codes: tuple[str, ...]) -> tuple[str, ...]:
    for one in codes:
        code = one.partition(":")[0]
        if code not in {*Code}:
            near = did_you_mean(code, map(str, Code)) or "`toolmd rule` lists the codes"
            raise ValueError(f"no finding has the code {code!r}; {near}")
        if code == Code.WEAKENED_POLICY:
            raise ValueError("a weaker policy can't be ignored: accept it, or restore it")
    return codes


def _folder(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"{value!r} names no user's folder") from None


def _store(value: str) -> str:
    if value in ("sqlite", "memory") or value.startswith(("postgresql://", "postgres://")):
        return value
    raise ValueError("must be sqlite, memory or a postgresql:// URL")


def _zone(value: str) -> str:
    try:
        return ZoneInfo(value).key
    except (ValueError, KeyError, OSError):
        raise ValueError(f"must be a time zone such as Europe/Berlin, not {value!r}") from None


def _web(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must be an http:// or https:// URL")
    return value


def _safe(value: str) -> str:
    if not is_safe(value):
        raise ValueError("must be an https:// URL")
    return value


def _sha256(value: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", value):
        raise ValueError("must be 64 lowercase hex digits: the token's hash, not itself")
    return value


def _several(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values:
        raise ValueError("must list one at least")
    return values


def _audience(value: Any) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(one, str) for one in texts):
        raise ValueError('must be a text, or list texts: ["a", "b"]')
    return tuple(texts)


def _tokens(tokens: tuple[TokenSettings, ...]) -> tuple[TokenSettings, ...]:
    if len({token.sha256 for token in tokens}) < len(tokens):
        raise ValueError("one token stands for two users")
    return tokens


def _issuers(issuers: tuple[IssuerSettings, ...]) -> tuple[IssuerSettings, ...]:
    if len({one.issuer for one in issuers}) < len(issuers):
        raise ValueError("an issuer is listed twice")
    if len(issuers) > 1 and len({one.name for one in issuers} - {""}) < len(issuers):
        raise ValueError('each of several issuers needs its own name: name = "shop"')
    return issuers


def _token(token: TokenSettings) -> TokenSettings:
    if token.act_as != ActAsSettings() and "act_as" not in token.may:
        raise ValueError('act_as needs the right of this name: may = ["act_as"]')
    return token


def _issuer(issuer: IssuerSettings) -> IssuerSettings:
    if issuer.jwks and issuer.key:
        raise ValueError("keep one of jwks (a URL) and key (a file)")
    return issuer


_RULES: Mapping[Any, Callable[[Any], Any]] = {
    "name": _name, "fact": _fact, "codes": _codes, "folder": _folder, "store": _store,
    "zone": _zone, "web": _web, "safe": _safe, "sha256": _sha256, "several": _several,
    "tokens": _tokens, "issuers": _issuers,
}  # fmt: skip
"""What a value of its type must be, too; each returns it, or raises ValueError."""
_RAW: Mapping[Any, Callable[[Any], Any]] = {
    "one or several": _audience, "url": read_url, "headers": read_headers,
    "auth": read_credentials, "env": read_env, "command": tuple,
}  # fmt: skip
"""What a value is read by whose form in the settings is another than its type."""
_BEFORE: Mapping[str, Callable[[Any], Any]] = {"ServerSettings": read_command}
"""What brings a table into the form of its class."""
_WHOLE: Mapping[str, Callable[[Any], Any]] = {
    "TokenSettings": _token, "IssuerSettings": _issuer, "ServiceSettings": whole_service,
    "ServerSettings": whole_server,
}  # fmt: skip
"""What the values of a table must be together."""

_OWN = ("root", "file", "origin")
_FIELDS = {name: kind for name, kind in Settings.__annotations__.items() if name not in _OWN}
TABLES: Mapping[str, Any] = {name: kind for name, kind in _FIELDS.items() if _is_table(kind)}
"""The tables among the settings, such as `safety`."""
SHORT: Mapping[str, str] = {"audit": "audit.enabled"}
"""A key that stands for one in its table: `audit = false`."""
KINDS: Mapping[str, Any] = {
    **{name: kind for name, kind in _FIELDS.items() if name not in TABLES},
    **{
        f"{name}.{inner}": kind
        for name, table in TABLES.items()
        for inner, kind in table.__annotations__.items()
    },
}
"""Every setting by its key, such as `safety.floor`, with its type."""
