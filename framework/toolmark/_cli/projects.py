"""The project that a verb works in."""

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any, NoReturn

from toolmark._cli.exits import ExitCode
from toolmark._cli.options import stop
from toolmark._cli.screen import busy
from toolmark._model.diagnostic import Severity


def open_workspace(folder: Path | None) -> Any:
    """Open the project in a folder, or the nearest one upward."""
    with busy("Reading the definitions"):
        from toolmark._workspace import Workspace

        return Workspace.open(folder)


def not_loaded(name: str, workspace: Any) -> str:
    """Give the path of the file of this name that has errors, or nothing."""
    folded = name.replace("-", "_")
    for diagnostic in workspace.registry.diagnostics:
        path: str = diagnostic.span.path
        stem = PurePath(path).name.partition(".")[0].replace("-", "_")
        if stem == folded and diagnostic.severity is Severity.ERROR:
            return path
    return ""


def named(incomplete: str) -> list[str]:
    """Give the names of the project's tools and skills that begin so, for the shell."""
    from toolmark.errors import ToolmarkError

    try:
        with open_workspace(None) as workspace:
            names = (*workspace.tools, *workspace.skills)
    except (ToolmarkError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def unknown(
    name: str, names: Iterable[str], workspace: Any, kind: str = "tool or skill"
) -> NoReturn:
    """End because nothing has this name, and say which names are near, or why it did not load."""
    from difflib import get_close_matches

    near = get_close_matches(name.replace("-", "_"), list(names), 3)
    help_ = f"did you mean {' or '.join(map(repr, near))}?" if near else "`toolmark list` shows all"
    if file := not_loaded(name, workspace):
        help_ = f"its file has errors: toolmark check {file}"
    stop(ExitCode.NOT_FOUND, f"no {kind} {name!r}", help_)
