"""Read the tables `[servers.NAME]`; a message never holds a credential."""

import os
import re
import shlex
from collections.abc import Mapping
from typing import Any

from toolmd._types.settings import ServerSettings
from toolmd.config.origin import Origin
from toolmd.config.services import (
    check_variables,
    filled,
    read_headers,
    read_seconds,
    read_url,
    tables_of,
    variables_in,
)

CALLER = "TOOLMD_USER"
"""The variable of a table that has the user of a session in place of the environment's."""
_KEYS = ("command", "args", "env", "url", "headers", "shared", "start_timeout")
_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_MOST_WORDS = 256
_LEAST_SECRET = 4
"""Shorter values are not searched for: they occur in ordinary text."""
_PUBLIC = frozenset({"PATH", "HOME", "SYSTEMROOT", "APPDATA", "USERPROFILE", "TEMP", "LANG"})
"""Variables that are no secrets; their values occur in ordinary answers."""


def read_servers(value: Any, place: Origin) -> Mapping[str, ServerSettings]:
    """Read all servers; raises ConfigError, which names the table and the key."""
    return {name: _server(table, at) for name, table, at in tables_of(value, place, _KEYS)}


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
