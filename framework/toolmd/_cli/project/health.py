"""Examine the environment: each part that Toolmd needs, and the remedy if it is missing."""

import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from toolmd._cli.files import state_problem
from toolmd._cli.project.other_programs import Sign, look_at_others
from toolmd._cli.screen import busy, counted
from toolmd._types.settings import Settings
from toolmd.config import load_settings
from toolmd.config.state_files import EmptiedError, is_there
from toolmd.errors import ConfigError, UnreachableError

_EXTRAS = {
    "chat": ("openai", "`toolmd chat`"),
    "fleet": ("psycopg", "a store on Postgres"),
    "lsp": ("pygls", "`toolmd lsp`"),
    "mcp": ("mcp", "`toolmd serve`"),
    "python": ("docstring-parser", "`toolmd import python`"),
    "server": ("starlette", "`toolmd dev` and `toolmd serve --transport http`"),
    "trace": ("opentelemetry-api", "traces and metrics"),
}
"""Each extra: one of its packages, and the feature that needs it."""


_RECORDS = {".sqlite3", ".journal", ".jsonl"}
"""The suffixes of state files that are never empty."""
_OF_EARLIER_VERSIONS = (
    "audit.newest", "audit.sqlite3", "confirmations.sqlite3", "held.sqlite3", "runs.sqlite3",
    "turns.sqlite3",
)  # fmt: skip


def examine(folder: Path | None) -> list[Sign]:
    """Examine Python, SQLite, the packages, and the project with its state, engine and plugins."""
    signs = [_python(), _sqlite(), _package("toolmd"), *map(_package, _required())]
    signs += map(_extra, _EXTRAS)
    try:
        settings = load_settings(folder)
    except ConfigError as error:
        remedy = "fix that setting" if "no project" not in str(error) else "run `toolmd init`"
        return [*signs, Sign("project", "bad", str(error), remedy)]
    signs.append(Sign("project", "ok", str(settings.file or settings.root)))
    signs += [
        *_folders(settings),
        *look_at_others(settings),
        look_at_state(settings.state),
        _cache(settings.state),
    ]
    signs += [*_unused(settings.state), *_emptied(settings.state), _engine(settings)]
    try:
        return [*signs, *_workspace(settings)]
    except EmptiedError:  # already in the list
        return signs


def _python() -> Sign:
    return Sign("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")


def _sqlite() -> Sign:
    import sqlite3

    from toolmd.config.sqlite import check_sqlite

    try:
        check_sqlite()
    except ConfigError as error:
        return Sign("sqlite", "bad", *str(error).split(": ", 1))
    return Sign("sqlite", "ok", sqlite3.sqlite_version)


def _required() -> list[str]:
    """Return the requirements of Toolmd, from its own metadata."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        found = requires("toolmd") or []
    except PackageNotFoundError:
        return []
    wanted = [one.partition(";")[0].strip() for one in found if "extra ==" not in one]
    return sorted(wanted)


def _package(requirement: str) -> Sign:
    from importlib.metadata import PackageNotFoundError, version

    name = re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
    try:
        return Sign(name, "ok", version(name))
    except PackageNotFoundError:
        return Sign(name, "bad", "not installed", f"pip install '{requirement}'")


def _extra(name: str) -> Sign:
    from importlib.metadata import PackageNotFoundError, version

    package, whose = _EXTRAS[name]
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


def look_at_state(state: Path) -> Sign:
    """Check whether the state folder can be written."""
    if problem := state_problem(state):
        return Sign("state", "bad", *problem)
    return Sign("state", "ok", f"{state} can be written")


def _cache(state: Path) -> Sign:
    from toolmd._load.definitions.cache import INDEX, PAYLOAD
    from toolmd._load.python.compared import PYTHON

    try:
        files = [state / name for name in (INDEX, PAYLOAD, PYTHON) if (state / name).is_file()]
        size = sum(file.stat().st_size for file in files) / 1024
    except OSError as error:
        return Sign("cache", "bad", f"{error.filename}: {error.strerror}", "see `state`")
    if not files:
        return Sign("cache", "note", "empty; the next command fills it")
    return Sign("cache", "ok", f"{size:.0f} KiB in {state}")


def _unused(state: Path) -> Iterator[Sign]:
    """Report the databases of earlier versions, which had one for each kind of record."""
    names = ", ".join(name for name in _OF_EARLIER_VERSIONS if (state / name).exists())
    if names:
        yield Sign(
            "records",
            "note",
            f"{names} in {state}: of an earlier version, and not used any more",
            "remove them once you no longer need what they contain",
        )


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
        found = "" if sqlite else f"{store.database.name} answers"
    except ConfigError as error:
        return Sign("store", "bad", str(error), "fix that setting")
    except UnreachableError as error:
        remedy = "start that server, or name another with TOOLMD_STORE=postgresql://…"
        return Sign("store", "bad", str(error), "see `state`" if sqlite else remedy)
    finally:
        store.close()
    return _sqlite_engine(settings.state) if sqlite else Sign("store", "ok", found)


def _sqlite_engine(state: Path) -> Sign:
    """Run a skill on the engine: an installed version alone does not prove that it works."""
    from toolmd._cli.project.trial import try_sqlite

    try:
        with busy("Trying the engine"):
            try_sqlite(state)
    except Exception as error:  # noqa: BLE001 - the doctor reports every error
        remedy = "see `state` and `sqlite`; until then TOOLMD_STORE=memory or =postgresql://…"
        said = str(error).partition("\n")[0]
        return Sign("store", "bad", f"sqlite can't run a skill: {said}", remedy)
    return Sign("store", "ok", "sqlite: a test skill ran in a store of its own")


def _workspace(settings: Settings) -> Iterator[Sign]:
    from toolmd._workspace import Workspace

    with Workspace.open(settings.root) as workspace:
        for plugin in workspace.plugins:
            bad = plugin.state == "broken"
            remedy = "upgrade it, or leave it out with `plugins = […]`" if bad else ""
            found = f"{plugin.state} {plugin.version or ''} {plugin.about}".strip()
            yield Sign(f"plugin {plugin.name}", "bad" if bad else "ok", found, remedy)
        yield from _shared(workspace)
        tools, skills = len(workspace.tools), len(workspace.skills)
        errors = sum(d.severity == "error" for d in workspace.diagnostics)
        if pending := workspace.changes.list_sync():
            found = f"{counted(len(pending), 'pending edit')} that would weaken a policy"
            yield Sign("changes", "note", found, "`toolmd accept` lists them")
    found = ", ".join([counted(tools, "tool"), counted(skills, "skill"), counted(errors, "error")])
    yield Sign("definitions", "bad" if errors else "ok", found, "toolmd check" if errors else "")


def _shared(workspace: Any) -> Iterator[Sign]:
    """Yield the modules that hold the functions of several tools, or that a file names."""
    places: dict[str, list[str]] = {}
    named = set()
    for name, tool in workspace.tools.items():
        place = tool.target.rpartition(":")[0]
        if tool.spec.implemented_by:
            named.add(place)
        places.setdefault(place, []).append(name)
    for place, names in sorted(places.items()):
        if place in named or (place.endswith(".py") and len(names) > 1):
            yield Sign(place, "ok", f"runs {', '.join(names)}")
