"""Find the commands that plugins add, only when Toolmd has no command of that name."""

import sys
from pathlib import Path
from typing import Any

import typer
from typer.main import get_group

from toolmd._cli.terminal.screen import err, paint, printable
from toolmd.errors import ConfigError


def added_commands(folder: Path | None) -> tuple[dict[str, Any], object]:
    """Return the commands by name, and the plugins, which must stay alive while one runs.

    A plugin that fails is reported and left out, and so are all where the settings can't be read.
    """
    try:
        commands, held, problems = ask_plugins(folder)
    except ConfigError as error:
        commands, held, problems = {}, None, (f"no plugin was asked for commands: {error}",)
    for problem in problems:
        err(f"{paint('warning', 'yellow', sys.stderr)}: {printable(problem)}")
    return commands, held


def ask_plugins(folder: Path | None) -> tuple[dict[str, Any], Any, tuple[str, ...]]:
    """Return the commands that plugins add, the plugins, and their problems.

    Raises:
        ConfigError: The settings can't be read.
    """
    from toolmd._workspace import plugin_commands

    app = typer.Typer(rich_markup_mode=None)
    held, problems = plugin_commands(folder, app)
    return dict(get_group(app).commands), held, problems
