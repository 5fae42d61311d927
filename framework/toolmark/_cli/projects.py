"""The project that a verb works in."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

from toolmark._cli.exits import ExitCode
from toolmark._cli.options import stop
from toolmark._cli.screen import busy


def open_workspace(folder: Path | None) -> Any:
    """Open the project in a folder, or the nearest one upward."""
    with busy("Reading the definitions"):
        from toolmark._workspace import Workspace

        return Workspace.open(folder)


def unknown(name: str, names: Iterable[str], kind: str = "tool or skill") -> NoReturn:
    """End because nothing has this name, and say which names are near."""
    from difflib import get_close_matches

    folded = name.replace("-", "_")
    near = get_close_matches(folded, list(names), 3)
    help_ = f"did you mean {' or '.join(map(repr, near))}?" if near else "`toolmark list` shows all"
    stop(ExitCode.NOT_FOUND, f"no {kind} {name!r}", help_)
