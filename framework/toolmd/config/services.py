"""Read the parts of `[services.NAME]` and `[servers.NAME]`; a message holds no credential."""

import os
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from toolmd._types.settings import Credential, ServerSettings, ServiceSettings

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
"""A name that a header or a cookie may have."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)
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
_HERE = ("127.0.0.1", "localhost", "::1")


def is_safe(url: Any) -> bool:
    """Check that nobody between can change what a URL gives: https, or this machine."""
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        secure = parts.scheme == "https" and parts.hostname is not None
    except ValueError:
        return False
    return secure or (parts.scheme == "http" and parts.hostname in _HERE)


def whole_service(service: ServiceSettings) -> ServiceSettings:
    """Return a service of which no header is set twice, or raise ValueError."""
    named = [one.name.casefold() for one in service.auth if one.kind == "header"]
    named += ["authorization" for one in service.auth if one.kind in {"bearer", "basic"}]
    named += map(str.lower, service.headers)
    if twice := [name for name in named if named.count(name) > 1]:
        raise ValueError(f"the header {twice[0]} is set twice")
    return service


def read_url(value: Any) -> str:
    """Read the base URL of a service or a server; raises ValueError."""
    wanted = "must be an http:// or https:// URL without user, query and fragment"
    try:
        parts = urlsplit(value if isinstance(value, str) else "")
        port = parts.port
    except ValueError:
        raise ValueError(wanted) from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ValueError(wanted)
    if "@" in parts.netloc or set(value) & set("?#\\") or re.search(r"[\s\x00-\x1f]", value):
        # It may hold a password: the message does not repeat it.
        raise ValueError(wanted)
    return str(value).rstrip("/")


def read_headers(value: Any) -> Mapping[str, str]:
    """Read headers, whose values may name environment variables; raises ValueError."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise ValueError('must be texts by name: {"X-Team" = "$TEAM"}')
    for name, text in value.items():
        if not _TOKEN.fullmatch(name) or name.lower() in OF_CONNECTION | {"cookie"}:
            raise ValueError(f"{name!r} is not a header that a table may set")
        if not text.isascii() or not text.isprintable():
            raise ValueError(f"{name} must be a text on one line, of ASCII letters")
        _check_variables(text, name)
    if len({name.lower() for name in value}) < len(value):
        raise ValueError("a header is named twice")
    return dict(value)


def read_credentials(value: Any) -> tuple[Credential, ...]:
    """Read one table of credentials, or a list of them; raises ValueError."""
    return tuple(_credential(one) for one in (value if isinstance(value, list) else [value]))


def _credential(value: Any) -> Credential:
    if not isinstance(value, dict) or value.get("type") not in _PARTS:
        raise ValueError(f"must be a table with type: {', '.join(_PARTS)}")
    kind = value["type"]
    keys = _PARTS[kind]
    if set(value) != {"type", *keys}:
        raise ValueError(f"the type {kind} needs exactly {', '.join(('type', *keys))}")
    name = value.get("name", "")
    if "name" in keys and (not isinstance(name, str) or not _TOKEN.fullmatch(name)):
        raise ValueError("name must be the name of the header, the query key or the cookie")
    if kind == "header" and name.lower() in OF_CONNECTION | {"cookie"}:
        raise ValueError(f"{name} is not a header that a table may set")
    variables = tuple(_variable(value[key], key) for key in keys if key != "name")
    return Credential(kind, variables, name)


def _variable(value: Any, key: str) -> str:
    match = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        # The value may be the secret itself: the message does not repeat it.
        raise ValueError(f"{key} must name an environment variable, such as $API_TOKEN")
    return match[1] or match[2]


def _check_variables(text: str, key: str) -> None:
    """Check that each `$` of a text begins the name of a variable; raises ValueError."""
    if "$" in _VARIABLE.sub("", text):
        raise ValueError(f"{key}: a $ begins the name of a variable: $NAME or ${{NAME}}")


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
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MOST_WORDS = 256
_LEAST_SECRET = 4
"""Shorter values are not searched for: they occur in ordinary text."""
_PUBLIC = frozenset({"PATH", "HOME", "SYSTEMROOT", "APPDATA", "USERPROFILE", "TEMP", "LANG"})
"""Variables that are no secrets; their values occur in ordinary answers."""


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


def whole_server(server: ServerSettings) -> ServerSettings:
    """Return a server with the keys of a program or of a URL, or raise ValueError."""
    if bool(server.command) == bool(server.url):
        raise ValueError("needs either command (a server to start) or url (one that runs)")
    if server.env and server.url:
        raise ValueError("env belongs to a server with command")
    if server.headers and server.command:
        raise ValueError("headers belongs to a server with url")
    if server.shared and names_caller(server):
        raise ValueError(f"a shared session has no user for ${CALLER}: leave out shared")
    return server


def read_env(value: Any) -> Mapping[str, str]:
    """Read variables by name; a list of names passes them on as they are."""
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        value = {name: f"${name}" for name in value}
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise ValueError('must be names, or texts by name: {TOKEN = "$GITHUB_TOKEN"}')
    for name, text in value.items():
        if not _ENV_NAME.fullmatch(name):
            raise ValueError("a key is not the name of a variable")
        if "\0" in text:
            raise ValueError(f"{name} must have no NUL")
        _check_variables(text, name)
    return dict(value)


def read_command(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the table of a server with its `args` behind the words of `command`.

    Raises ValueError.
    """
    if "command" not in table and "args" not in table:
        return dict(table)
    command, more = table.get("command", []), table.get("args", [])
    if isinstance(command, str):
        try:
            command = [command] if "args" in table else shlex.split(command)
        except ValueError:
            raise ValueError("command has a quotation mark without its pair") from None
    wanted = 'command and args must be texts: command = ["npx", "-y", "server"]'
    if not all(isinstance(one, list) for one in (command, more)):
        raise ValueError(wanted)
    words = [*command, *more]
    if not command or len(words) > _MOST_WORDS:
        raise ValueError(f"command must have 1 to {_MOST_WORDS} words")
    if not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0]:
        raise ValueError(wanted)
    return {**{key: one for key, one in table.items() if key != "args"}, "command": words}


DEFAULT_ENV = tuple(
    name
    for name in ("PATH", "HOME", "SYSTEMROOT", "APPDATA", "USERPROFILE", "TEMP")
    if os.name == "nt" or name in {"PATH", "HOME"}
)
"""The variables that an imported server gets: programs such as npx need them to start."""
