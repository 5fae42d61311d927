"""Let plugins add to the command line, without reading any definition."""

from pathlib import Path
from typing import Any

from toolmark._bind.build import open_plugins
from toolmark._bind.manager import Plugins, reason
from toolmark.config import load_settings


def plugin_commands(folder: Path | None, app: Any) -> tuple[Plugins, tuple[str, ...]]:
    """Have each plugin of the project in `folder` add its commands to the Typer `app`.

    Gives the plugins, to be held as long as a command may run, and a sentence for each failure:
    such a plugin is left out. Raises ConfigError where the settings can't be read.
    """
    plugins = open_plugins(load_settings(folder))
    troubles = [found.message for found in plugins.diagnostics]
    troubles += [f"{name} can't be loaded: {reason(error)}" for name, error in plugins.broken()]
    troubles += [
        f"{answer.plugin} can't add its commands: {reason(answer.error)}"
        for answer in plugins.ask("toolmark_commands", app=app)
        if answer.error is not None
    ]
    return plugins, tuple(troubles)
