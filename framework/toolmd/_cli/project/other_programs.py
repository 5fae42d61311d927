"""Examine the other programs of a project: its services and its servers."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from toolmd._types.settings import Settings
from toolmd.config.servers import needed_variables
from toolmd.config.services import variables_of


class Sign(NamedTuple):
    """The state of one part of the environment."""

    about: str
    state: Literal["ok", "note", "bad"]
    found: str
    remedy: str = ""


def look_at_others(settings: Settings) -> Iterator[Sign]:
    """Yield the state of each service and server."""
    yield from _services(settings)
    yield from _servers(settings)


def _services(settings: Settings) -> Iterator[Sign]:
    for name, service in settings.services.items():
        about = f"service {name}"
        yield _unset(about, variables_of(service)) or Sign(about, "ok", service.url)


def _servers(settings: Settings) -> Iterator[Sign]:
    for name, server in settings.servers.items():
        if (unset := _unset(f"server {name}", needed_variables(server))) is not None:
            yield unset
        elif server.command and shutil.which(server.command[0]) is None:
            found = f"{server.command[0]} is not installed here"
            yield Sign(f"server {name}", "bad", found, "install it, or correct command")
        else:
            told = server.url or shlex.join(server.command)
            yield Sign(f"server {name}", "ok", f"{told}; `toolmd servers` asks it")


def _unset(about: str, variables: Iterable[str]) -> Sign | None:
    """Return the sign for variables that the environment lacks; None where it has all."""
    if missing := [one for one in variables if not os.environ.get(one)]:
        found = f"{', '.join(missing)} not set in the environment"
        return Sign(about, "note", found, "set it where Toolmd runs")
    return None
