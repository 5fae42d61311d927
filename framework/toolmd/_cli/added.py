"""The commands that plugins add, asked for only where Toolmd has none of that name."""

import sys
from pathlib import Path
from typing import Any

import typer
from typer.main import get_group

from toolmd._cli.terminal.screen import err, paint, printable
from toolmd.errors import ConfigError


def added_commands(folder: Path | None) -> tuple[dict[str, Any], object]:
    """Give the commands by name, and what must be held while one of them runs.

    A plugin that fails is told, and left out; without a project there are none.
    """
    try:
        commands, held, problems = ask_plugins(folder)
    except ConfigError:
        return {}, None
    for problem in problems:
        err(f"{paint('warning', 'yellow', sys.stderr)}: {printable(problem)}")
    return commands, held


def ask_plugins(folder: Path | None) -> tuple[dict[str, Any], Any, tuple[str, ...]]:
    """Give the commands that plugins add, the plugins, and what is wrong with them.

    Raises ConfigError where the settings can't be read.
    """
    from toolmd._workspace import plugin_commands

    app = typer.Typer(rich_markup_mode=None)
    held, problems = plugin_commands(folder, app)
    return dict(get_group(app).commands), held, problems
