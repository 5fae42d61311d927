"""`plugins`, `rule` and `doctor`: list plugins, explain a code, examine the environment."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from toolmd._cli.commands import ask_plugins
from toolmd._cli.files import state_problem
from toolmd._cli.frame import Answer, ExitCode, open_workspace, stop
from toolmd._cli.names import same_names
from toolmd._cli.screen import Paint, paint, plural, table
from toolmd._types.code import Code
from toolmd._types.settings import Settings
from toolmd.config import find_project, load_settings
from toolmd.config.services import needed_variables, variables_of
from toolmd.config.state_files import EmptiedError, is_there
from toolmd.errors import ConfigError, ToolmdError, near_words


def plugins(*, project: Path | None, json: bool) -> Answer:
    """List the installed plugins, and whether they loaded.

    Within a project, the list also has the plugins of its folders, and marks those that its
    settings leave out.
    """
    commands, plugins, _ = ask_plugins(project)
    found = [*plugins.listed.values()]
    value = [plugin._asdict() for plugin in found]
    if not found:
        none = (
            "No plugins. A plugin is an installed package with an entry point in the group"
            " `toolmd`, or a `plugin.py` in a folder of definitions."
        )
        return Answer(value, lines=[none])
    head = ("NAME", "PACKAGE", "VERSION", "STATE", "ABOUT")
    lines = [f"They add these commands: {', '.join(sorted(commands))}."] if commands else []
    if not json and (inside := find_project(project or Path.cwd())) is not None:
        with open_workspace(project or inside) as workspace:
            lines += [f"note: {message}" for message in same_names(workspace)]
    rows = [tuple(str(cell or "-") for cell in plugin) for plugin in found]
    return Answer(value, table(head, rows), lines)


def rule(
    code: Annotated[str | None, typer.Argument(metavar="CODE", help="A diagnostic's code.")] = None,
) -> Answer:
    """Explain a diagnostic; without a CODE, list them all. Exit code 5: unknown code."""
    says = {str(member): member.says for member in Code}
    if code is None:
        value = [{"code": known, "says": text} for known, text in says.items()]
        return Answer(value, table(("CODE", "SAYS"), list(says.items())))
    wanted = code.strip("[]").lower().replace("_", "-")
    if wanted not in says:
        near = near_words(wanted, says, 3, alike=0.5)
        near += [known for known in says if wanted in known and known not in near]
        named = " or ".join(repr(known) for known in near[:5])
        help_ = f"did you mean {named}?" if near else "`toolmd rule` lists all codes"
        stop(ExitCode.NOT_FOUND, f"no diagnostic has the code {code!r}", help_)
    text = f"{paint(wanted, 'bold')}\n{says[wanted]}"
    return Answer({"code": wanted, "says": says[wanted]}, text)


_MARKS: dict[str, tuple[str, Paint]] = {
    "ok": ("ok", "green"),
    "note": ("--", "dim"),
    "bad": ("!!", "red"),
}


def doctor(
    *,
    all_: Annotated[bool, typer.Option("--all", help="Show also what is well.")] = False,
    project: Path | None,
) -> Answer:
    """Examine the environment, and show a remedy for each problem. Exit code 1: there are any."""
    signs = examine(project)
    lines = []
    longest = max(len(sign.about) for sign in signs)
    for sign in signs:
        if all_ or (sign.state != "ok" and not sign.about.startswith("extra ")):
            lines.append(f"{paint(*_MARKS[sign.state])}  {sign.about.ljust(longest)}  {sign.found}")
            if sign.remedy:
                lines.append(f"    {' ' * longest}  help: {sign.remedy}")
    bad, many = sum(sign.state == "bad" for sign in signs), len(signs)
    well = f"{many - bad} of {many} parts are well" if bad else f"All well: {many} parts"
    ended = f"{well}{'' if all_ else '; --all shows each'}."
    code = ExitCode.FINDINGS if bad else ExitCode.DONE
    return Answer([sign._asdict() for sign in signs], "\n".join(lines) or None, [ended], code)


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
        *_find_emptied(settings.state),
        _store(settings),
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


def _find_emptied(state: Path) -> Iterator[Sign]:
    for path in sorted(state.rglob("*")):
        try:
            if path.suffix in _RECORDS and path.is_file():
                is_there(path)
        except EmptiedError as error:
            yield Sign("records", "bad", *str(error).split(": ", 1))
        except OSError as error:
            yield Sign("records", "bad", f"{path}: {error.strerror}", "see `state`")


def _store(settings: Settings) -> Sign:
    """Open the store as the first record does: that creates missing tables, and tries its locks."""
    if settings.store == "memory":
        return Sign("store", "note", "memory: runs end with the process")
    from toolmd._store.store import Store

    sqlite, store = settings.store == "sqlite", Store(settings.store, settings.state)
    try:
        # `records` names an emptied file.
        with suppress(EmptiedError), store.database.read():
            pass
    except ConfigError as error:
        return Sign("store", "bad", str(error), "fix that setting")
    except (ToolmdError, OSError) as error:
        remedy = "start that server, or name another with TOOLMD_STORE=postgresql://…"
        return Sign("store", "bad", str(error), "see `state` and `sqlite`" if sqlite else remedy)
    finally:
        store.close()
    return Sign("store", "ok", f"{store.database.name} can be used")


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
            found = f"{plural(len(pending), 'pending edit')} that would weaken a policy"
            yield Sign("changes", "note", found, "`toolmd accept` lists them")
    found = ", ".join([plural(tools, "tool"), plural(skills, "skill"), plural(errors, "error")])
    yield Sign("definitions", "bad" if errors else "ok", found, "toolmd check" if errors else "")
