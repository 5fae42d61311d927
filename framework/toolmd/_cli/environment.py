"""Examine the environment: each part that Toolmd needs, and the remedy if it is missing."""

import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from toolmd._cli.files import state_problem
from toolmd._cli.screen import counted
from toolmd._types.settings import Settings
from toolmd.config import load_settings
from toolmd.config.servers import needed_variables
from toolmd.config.services import variables_of
from toolmd.config.state_files import EmptiedError, is_there
from toolmd.errors import ConfigError, ToolmdError

EXTRAS = {
    "chat": ("openai", "`toolmd chat`"),
    "fleet": ("psycopg", "a store on Postgres"),
    "lsp": ("pygls", "`toolmd lsp`"),
    "mcp": ("mcp", "`toolmd serve`"),
    "python": ("docstring-parser", "`toolmd import python`"),
    "server": ("starlette", "`toolmd dev` and `toolmd serve --transport http`"),
    "trace": ("opentelemetry-api", "traces and metrics"),
}
"""Each extra: one of its packages, and the feature that needs it."""
_RECORDS = {".sqlite3", ".live", ".jsonl"}
"""The suffixes of state files that are never empty."""


class Sign(NamedTuple):
    """The state of one part of the environment."""

    about: str
    state: Literal["ok", "note", "bad"]
    found: str
    remedy: str = ""


def examine(folder: Path | None) -> list[Sign]:
    """Examine Python, SQLite, the packages, and the project with its state, engine and plugins."""
    signs = [Sign("python", "ok", f"{sys.version.split()[0]} at {sys.executable}"), _sqlite()]
    signs += [*_packages(), *map(_extra, EXTRAS)]
    try:
        settings = load_settings(folder)
    except ConfigError as error:
        remedy = "fix that setting" if "no project" not in str(error) else "run `toolmd init`"
        return [*signs, Sign("project", "bad", str(error), remedy)]
    signs.append(Sign("project", "ok", str(settings.file or settings.root)))
    signs += [*_folders(settings), *_services(settings), *_servers(settings)]
    problem = state_problem(settings.state)
    well = Sign("state", "ok", f"{settings.state} can be written")
    signs += [
        Sign("state", "bad", *problem) if problem else well,
        *_emptied(settings.state),
        _engine(settings),
    ]
    try:
        return [*signs, *_workspace(settings)]
    except EmptiedError:  # already in the list
        return signs


def _sqlite() -> Sign:
    import sqlite3

    from toolmd.config.sqlite import check_sqlite

    try:
        check_sqlite()
    except ConfigError as error:
        return Sign("sqlite", "bad", *str(error).split(": ", 1))
    return Sign("sqlite", "ok", sqlite3.sqlite_version)


def _packages() -> Iterator[Sign]:
    """Yield the state of Toolmd and of its requirements, from its own metadata."""
    from importlib.metadata import PackageNotFoundError, requires, version

    with suppress(PackageNotFoundError):
        for one in ["toolmd", *sorted(requires("toolmd") or [])]:
            requirement = one.partition(";")[0].strip()
            name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
            if "extra ==" not in one:
                try:
                    yield Sign(name, "ok", version(name))
                except PackageNotFoundError:
                    yield Sign(name, "bad", "not installed", f"pip install '{requirement}'")


def _extra(name: str) -> Sign:
    from importlib.metadata import PackageNotFoundError, version

    package, whose = EXTRAS[name]
    try:
        return Sign(f"extra {name}", "ok", f"for {whose}: {package} {version(package)}")
    except PackageNotFoundError:
        remedy = f"pip install 'toolmd[{name}]'"
        return Sign(f"extra {name}", "note", f"not installed; only for {whose}", remedy)


def _folders(settings: Settings) -> Iterator[Sign]:
    for name in dict.fromkeys((*settings.tools, *settings.skills)):
        if (settings.root / name).is_dir():
            yield Sign(name, "ok", "a folder of definitions")
        elif (settings.root / name).exists():
            yield Sign(name, "bad", "a file, not a folder", "move it away, or name another folder")
        else:
            yield Sign(name, "note", "no such folder", "`toolmd new` creates it")


def _services(settings: Settings) -> Iterator[Sign]:
    for name, service in settings.services.items():
        about = f"service {name}"
        yield _unset(about, variables_of(service)) or Sign(about, "ok", service.url)


def _servers(settings: Settings) -> Iterator[Sign]:
    for name, server in settings.servers.items():
        about = f"server {name}"
        if (unset := _unset(about, needed_variables(server))) is not None:
            yield unset
        elif server.command and shutil.which(server.command[0]) is None:
            found = f"{server.command[0]} is not installed here"
            yield Sign(about, "bad", found, "install it, or correct command")
        else:
            place = server.url or shlex.join(server.command)
            yield Sign(about, "ok", f"{place}; `toolmd servers` asks it")


def _unset(about: str, variables: Iterable[str]) -> Sign | None:
    """Return the sign for variables that the environment lacks; None where it has all."""
    if missing := [one for one in variables if not os.environ.get(one)]:
        found = f"{', '.join(missing)} not set in the environment"
        return Sign(about, "note", found, "set it where Toolmd runs")
    return None


def _emptied(state: Path) -> Iterator[Sign]:
    for path in sorted(state.rglob("*")):
        try:
            if path.suffix in _RECORDS and path.is_file():
                is_there(path)
        except EmptiedError as error:
            yield Sign("records", "bad", *str(error).split(": ", 1))
        except OSError as error:
            yield Sign("records", "bad", f"{path}: {error.strerror}", "see `state`")


def _engine(settings: Settings) -> Sign:
    if settings.store == "memory":
        return Sign("store", "note", "memory: runs end with the process")
    from toolmd._store.store import Store

    sqlite, store = settings.store == "sqlite", Store(settings.store, settings.state)
    try:
        # `records` names an emptied file.
        with suppress(EmptiedError):
            if store.may_hold_records:
                # As the first record: it creates missing tables, and finds those of other releases.
                with store.database.read():
                    pass
        if not sqlite:
            return Sign("store", "ok", f"{store.database.name} answers")
        _try_store(settings.state)
    except ConfigError as error:
        return Sign("store", "bad", str(error), "fix that setting")
    except (ToolmdError, OSError) as error:
        remedy = "start that server, or name another with TOOLMD_STORE=postgresql://…"
        return Sign("store", "bad", str(error), "see `state` and `sqlite`" if sqlite else remedy)
    finally:
        store.close()
    return Sign("store", "ok", "sqlite: a store was made beside it, and read")


def _try_store(state: Path) -> None:
    """Make a store: an installed version alone does not prove that it works."""
    from toolmd._store.store import Store

    # On the disk of the project's own records: not every file system supports SQLite's locks.
    nearest = state if state.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="trial-", dir=nearest) as folder:
        store = Store("sqlite", Path(folder))
        try:
            with store.database.read():
                pass
        finally:
            store.close()


def _workspace(settings: Settings) -> Iterator[Sign]:
    from toolmd._workspace import Workspace

    with Workspace.open(settings.root) as workspace:
        for plugin in workspace.plugins:
            bad = plugin.state == "broken"
            remedy = "upgrade it, or leave it out with `plugins = […]`" if bad else ""
            found = f"{plugin.state} {plugin.version or ''} {plugin.about}".strip()
            yield Sign(f"plugin {plugin.name}", "bad" if bad else "ok", found, remedy)
        tools, skills = len(workspace.tools), len(workspace.skills)
        errors = sum(d.severity == "error" for d in workspace.diagnostics)
        if pending := workspace.changes.list_sync():
            found = f"{counted(len(pending), 'pending edit')} that would weaken a policy"
            yield Sign("changes", "note", found, "`toolmd accept` lists them")
    found = ", ".join([counted(tools, "tool"), counted(skills, "skill"), counted(errors, "error")])
    yield Sign("definitions", "bad" if errors else "ok", found, "toolmd check" if errors else "")
