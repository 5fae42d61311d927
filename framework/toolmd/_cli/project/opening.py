"""The project that a verb works in."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NoReturn

from toolmd._cli.project.paths import SUFFIXES
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import busy, stdout_for_data
from toolmd._types.diagnostic import Severity
from toolmd.errors import ToolmdError, did_you_mean, is_a_tool, near_words

if TYPE_CHECKING:
    # `--help` waits for no workspace.
    from toolmd._workspace import Workspace


@contextmanager
def open_workspace(folder: Path | None, *, traces: bool = False) -> "Iterator[Workspace]":
    """Open the project in a folder, or the nearest one upward.

    What is logged meanwhile is told in a line each, or with its traces; what the project's Python
    prints goes to stderr.
    """
    from toolmd._cli.terminal.log import log_in_lines

    with stdout_for_data(), nullcontext() if traces else log_in_lines():
        with busy("Reading the definitions"):
            from toolmd._workspace import Workspace

            workspace = Workspace.open(folder)
        with workspace:
            try:
                yield workspace
            except Exception as error:
                if type(error).__module__.partition(".")[0] in _OF_STORES:
                    raise ToolmdError(_store_problem(workspace, error)) from error
                raise


_OF_STORES = {"sqlite3", "sqlalchemy", "psycopg"}
"""The packages whose errors tell of a store that can't be used."""


def _store_problem(workspace: Any, error: Exception) -> str:
    from toolmd._cli.project.health import look_at_state

    sign = look_at_state(workspace.settings.state)
    if sign.state == "bad":
        return f"{sign.found}; {sign.remedy}"
    said = str(error).partition("\n")[0]
    return f"the store in {workspace.settings.state} can't be used: {said}; try it again"


def nothing_here(workspace: Any, words: str) -> str:
    """Say why there is nothing, and how the first comes to be."""
    if any(d.severity is not Severity.HINT for d in workspace.registry.diagnostics):
        return f"{words}: `toolmd check` says why."
    return f"{words} yet: `toolmd new tool NAME` writes the first."


def not_loaded(name: str, workspace: Any) -> str:
    """Say why nothing of this name was loaded, where its file or its plugin has errors."""
    folded = name.replace("-", "_")
    for diagnostic in workspace.registry.diagnostics:
        path: str = diagnostic.span.path
        stem = PurePath(path).name.partition(".")[0].replace("-", "_")
        if stem == folded and diagnostic.severity is Severity.ERROR:
            if path.endswith(tuple(SUFFIXES)):
                return f"its file has errors: toolmd check {path}"
            return f"{diagnostic.message}; toolmd check tells more"
    return ""


def wanted_python(name: str, file: Path, root: Path) -> str:
    """Say which file would be the Python of a tool, and which one looks as if it was meant.

    `file` is the tool's definition, below the project's `root`; its Python has the same stem.
    """
    stem = file.name.partition(".")[0].replace("-", "_")
    wanted = file.with_name(f"{stem}.py")
    there = [python.stem for python in (root / file).parent.glob("*.py")]
    near = near_words(stem, there, alike=0.8)
    holds = "" if stem == name else f", with a function {name}"
    what = f"rename {file.with_name(near[0])}.py to {wanted.name}" if near else f"write {wanted}"
    return what + holds


def named(incomplete: str) -> list[str]:
    """Give the names of the project's tools and skills that begin so, for the shell."""
    try:
        with open_workspace(None) as workspace:
            names = (*workspace.tools, *workspace.skills)
    except (ToolmdError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def unknown(
    name: str, names: Iterable[str], workspace: Any, kind: str = "tool or skill"
) -> NoReturn:
    """End because nothing has this name, and say which names are near, or why it did not load."""
    folded = name.replace("-", "_")
    if kind == "skill" and folded in workspace.tools:
        stop(ExitCode.NOT_FOUND, is_a_tool(folded))
    near = did_you_mean(folded, names, 3)
    help_ = not_loaded(name, workspace) or near or "`toolmd list` shows all"
    stop(ExitCode.NOT_FOUND, f"no {kind} {name!r}", help_)
