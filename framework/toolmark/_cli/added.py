"""The commands that plugins add, asked for only where Toolmark has none of that name."""

import sys
from pathlib import Path
from typing import Any

import typer
from typer.main import get_group

from toolmark._cli.terminal.screen import err, paint, printable
from toolmark.errors import ConfigError


def added_commands(folder: Path | None, *, tell: bool = True) -> tuple[dict[str, Any], object]:
    """Give the commands by name, and what must be held while one of them runs.

    A plugin that fails is told, unless somebody else does, and left out; without a project there
    are none.
    """
    from toolmark._workspace import plugin_commands

    app = typer.Typer(rich_markup_mode=None)
    try:
        held, troubles = plugin_commands(folder, app)
    except ConfigError:
        return {}, None
    for trouble in troubles if tell else ():
        err(f"{paint('warning', 'yellow', sys.stderr)}: {printable(trouble)}")
    return dict(get_group(app).commands), held
