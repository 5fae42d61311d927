"""Read the tables `[services.NAME]` and `[servers.NAME]`; a message holds no credential."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from toolmd._types.settings import Credential, ServerSettings, ServiceSettings
from toolmd.config.origin import Origin

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
"""A name that a header or a cookie may have."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
_KEYS = ("url", "headers", "auth", "timeout", "document")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "bearer": ("token",),
    "basic": ("user", "password"),
    "header": ("name", "value"),
    "query": ("name", "value"),
    "cookie": ("name", "value"),
}
"""For each type of credentials, the keys beside `type`."""
OF_CONNECTION = frozenset(
    "connection content-encoding content-length host keep-alive te trailer transfer-encoding "
    "upgrade proxy-authorization proxy-connection accept-encoding".split()
)
"""The headers that belong to the connection; nobody sets them."""
_MAX_TIMEOUT_S = 3600


def read_services(value: Any, place: Origin) -> Mapping[str, ServiceSettings]:
    """Read all services; raises ConfigError, which names the table and the key."""
    read: dict[str, ServiceSettings] = {}
    for name, table, at in tables_of(value, place, _KEYS):
        if "url" not in table:
            raise at.error("must be a table with url")
        read[name] = _service(table, at)
    return read


def tables_of(
    value: Any, place: Origin, keys: Sequence[str]
) -> Iterator[tuple[str, Mapping[str, Any], Origin]]:
    """Yield the name, the table and the origin of each `[services.NAME]` or `[servers.NAME]`.

    Raises ConfigError for anything that is no table, or has another key than `keys`.
    """
    value = place.parsed(value, f"a JSON object of {place.key} by name")
    if not isinstance(value, dict):
        raise place.error(f"must be tables [{place.key}.NAME]")
    for name, table in value.items():
        if not _NAME.fullmatch(name):
            raise place.error(f"{name!r} is not a name: use lower-case letters, digits, _ and -")
        at = place._replace(key=f"{place.key}.{name}")
        if not isinstance(table, dict):
            raise at.error(f"must be a table with {keys[0]}")
        if unknown := sorted(set(table) - {*keys}):
            raise at.error(f"unknown key {unknown[0]!r}; known keys: {', '.join(keys)}")
        yield name, table, at


def _service(table: Mapping[str, Any], at: Origin) -> ServiceSettings:
    timeout = read_seconds(table, "timeout", ServiceSettings, at)
    auth = table.get("auth", [])
    entries = auth if isinstance(auth, list) else [auth]
    read = tuple(_credential(entry, at) for entry in entries)
    headers = read_headers(table.get("headers", {}), at)
    named = [one.name.casefold() for one in read if one.kind == "header"]
    named += ["authorization" for one in read if one.kind in {"bearer", "basic"}]
    twice = [name for name in named if named.count(name) > 1 or name in map(str.lower, headers)]
    if twice:
        raise at.error(f"the header {twice[0]} is set twice")
    document = table.get("document", "")
    if not isinstance(document, str):
        raise at.error("document must be the path or the URL of an OpenAPI document")
    return ServiceSettings(read_url(table["url"], at), headers, read, timeout, document)


def read_seconds(table: Mapping[str, Any], key: str, kind: type[Any], at: Origin) -> float:
    """Read a time limit in seconds, or return the default of its class; raises ConfigError."""
    seconds = table.get(key, kind.__dataclass_fields__[key].default)
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 < seconds <= _MAX_TIMEOUT_S:
        raise at.error(f"{key} must be seconds, more than 0 up to {_MAX_TIMEOUT_S}")
    return float(seconds)


def read_url(value: Any, at: Origin) -> str:
    """Read the base URL of a service or a server; raises ConfigError."""
    wanted = "url must be an http:// or https:// URL without user, query and fragment"
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        port = parts.port
    except ValueError:
        raise at.error(wanted) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise at.error(wanted)
    if "@" in parts.netloc or set(value) & set("?#\\") or re.search(r"[\s\x00-\x1f]", value):
        # It may hold a password: the message does not repeat it.
        raise at.error(wanted)
    return str(value).rstrip("/")


def read_headers(value: Any, at: Origin) -> Mapping[str, str]:
    """Read headers, whose values may name environment variables; raises ConfigError."""
    if not isinstance(value, dict):
        raise at.error('headers must be texts by name: {"X-Team" = "$TEAM"}')
    for name, text in value.items():
        if not _TOKEN.fullmatch(name) or name.lower() in OF_CONNECTION | {"cookie"}:
            raise at.error(f"headers: {name!r} is not a header that a table may set")
        if not isinstance(text, str) or not text.isascii() or not text.isprintable():
            raise at.error(f"headers: {name} must be a text on one line, of ASCII letters")
        check_variables(text, at, f"headers: {name}")
    if len({name.lower() for name in value}) < len(value):
        raise at.error("headers: a header is named twice")
    return dict(value)


def _credential(value: Any, at: Origin) -> Credential:
    if not isinstance(value, dict) or value.get("type") not in _PARTS:
        raise at.error(f"auth must be a table with type: {', '.join(_PARTS)}")
    kind = value["type"]
    keys = _PARTS[kind]
    if set(value) != {"type", *keys}:
        raise at.error(f"auth of type {kind} needs exactly {', '.join(('type', *keys))}")
    name = value.get("name", "")
    if "name" in keys and (not isinstance(name, str) or not _TOKEN.fullmatch(name)):
        raise at.error("auth: name must be the name of the header, the query key or the cookie")
    if kind == "header" and name.lower() in OF_CONNECTION | {"cookie"}:
        raise at.error(f"auth: {name} is not a header that a table may set")
    variables = tuple(_variable(value[key], key, at) for key in keys if key != "name")
    return Credential(kind, variables, name)


def _variable(value: Any, key: str, at: Origin) -> str:
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        # The value may be the secret itself: the message does not repeat it.
        raise at.error(f"auth: {key} must name an environment variable, such as $API_TOKEN")
    return match[1] or match[2]


def check_variables(text: str, at: Origin, key: str) -> None:
    """Check that each `$` of a text begins the name of a variable; raises ConfigError."""
    if "$" in _VARIABLE.sub("", text):
        raise at.error(f"{key}: a $ begins the name of a variable: $NAME or ${{NAME}}")


def variables_of(service: ServiceSettings) -> tuple[str, ...]:
    """Return the environment variables that a service's requests need, in order."""
    found = [name for one in service.auth for name in one.variables]
    return tuple(dict.fromkeys([*found, *variables_in(service.headers.values())]))


def variables_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the environment variables that texts name, in order."""
    found = (match[1] or match[2] for text in texts for match in _VARIABLE.finditer(text))
    return tuple(dict.fromkeys(found))


def filled(text: str, environ: Mapping[str, str]) -> str:
    """Return a text with its variables; raises KeyError for one that is not set."""
    return _VARIABLE.sub(lambda match: environ[match[1] or match[2]], text)


CALLER = "TOOLMD_USER"
"""The variable of a table that has the user of a session in place of the environment's."""
_SERVER_KEYS = ("command", "args", "env", "url", "headers", "shared", "start_timeout")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MOST_WORDS = 256
_LEAST_SECRET = 4
"""Shorter values are not searched for: they occur in ordinary text."""
_PUBLIC = frozenset({"PATH", "HOME", "SYSTEMROOT", "APPDATA", "USERPROFILE", "TEMP", "LANG"})
"""Variables that are no secrets; their values occur in ordinary answers."""


def read_servers(value: Any, place: Origin) -> Mapping[str, ServerSettings]:
    """Read all servers; raises ConfigError, which names the table and the key."""
    return {name: _server(table, at) for name, table, at in tables_of(value, place, _SERVER_KEYS)}


def needed_variables(server: ServerSettings) -> tuple[str, ...]:
    """Return the environment variables that a server's table names, in order."""
    found = variables_in([*server.env.values(), *server.headers.values()])
    return tuple(name for name in found if name != CALLER)


def names_caller(server: ServerSettings) -> bool:
    """Return whether a server's table passes on who calls."""
    return CALLER in variables_in([*server.env.values(), *server.headers.values()])


def secret_values(server: ServerSettings, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of a table's variables, and the texts that have them, longest first.

    Short values and those of variables such as PATH are left out.
    """
    found = set()
    for key, text in (*server.env.items(), *server.headers.items()):
        names = [name for name in variables_in([text]) if name != CALLER]
        if names and key.upper() not in _PUBLIC and all(name in environ for name in names):
            found |= {filled(text, environ)}
            found |= {environ[name] for name in names if name.upper() not in _PUBLIC}
    long_ones = [value for value in found if len(value) >= _LEAST_SECRET]
    return tuple(sorted(long_ones, key=len, reverse=True))


def _server(table: Mapping[str, Any], at: Origin) -> ServerSettings:
    if ("command" in table) == ("url" in table):
        raise at.error("needs either command (a server to start) or url (one that runs)")
    shared = table.get("shared", False)
    if not isinstance(shared, bool):
        raise at.error("shared must be true or false")
    seconds = read_seconds(table, "start_timeout", ServerSettings, at)
    foreign = ("args", "env") if "url" in table else ("headers",)
    for key in foreign:
        if key in table:
            belongs = "command" if "url" in table else "url"
            raise at.error(f"{key} belongs to a server with {belongs}")
    if "url" in table:
        headers = read_headers(table.get("headers", {}), at)
        url = read_url(table["url"], at)
        server = ServerSettings((), url, {}, headers, shared, seconds)
    else:
        env = _env(table.get("env", {}), at)
        server = ServerSettings(_command(table, at), "", env, {}, shared, seconds)
    if shared and names_caller(server):
        raise at.error(f"a shared session has no user for ${CALLER}: leave out shared")
    return server


def _env(value: Any, at: Origin) -> Mapping[str, str]:
    """Read variables by name; a list of names passes them on as they are."""
    value = at.listed(value)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        value = {name: f"${name}" for name in value}
    if not isinstance(value, dict):
        raise at.error('env must be names, or texts by name: {TOKEN = "$GITHUB_TOKEN"}')
    for name, text in value.items():
        if not _ENV_NAME.fullmatch(name):
            raise at.error("env: a key is not the name of a variable")
        if not isinstance(text, str) or "\0" in text:
            raise at.error(f"env: {name} must be a text")
        check_variables(text, at, f"env: {name}")
    return dict(value)


def _command(table: Mapping[str, Any], at: Origin) -> tuple[str, ...]:
    command, more = table["command"], table.get("args", [])
    if isinstance(command, str):
        try:
            command = [command] if "args" in table else shlex.split(command)
        except ValueError:
            raise at.error("command has a quotation mark without its pair") from None
    if not isinstance(command, list) or not isinstance(more, list):
        raise at.error('command and args must be texts: command = ["npx", "-y", "server"]')
    words = [*command, *more]
    if not command or len(words) > _MOST_WORDS:
        raise at.error(f"command must have 1 to {_MOST_WORDS} words")
    if not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise at.error('command and args must be texts: command = ["npx", "-y", "server"]')
    return tuple(words)


DEFAULT_ENV = tuple(
    name
    for name in ("PATH", "HOME", "SYSTEMROOT", "APPDATA", "USERPROFILE", "TEMP")
    if os.name == "nt" or name in {"PATH", "HOME"}
)
"""The variables that an imported server gets: programs such as npx need them to start."""
