"""Ask the plugins of a project alone, no definition being read: for commands and importers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolmd._bind.build import open_plugins
from toolmd._bind.plugins.manager import Plugins, reason
from toolmd._bind.plugins.offered import offered
from toolmd.config import load_settings
from toolmd.errors import NotFoundError, ToolmdError


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
        for answer in plugins.ask("toolmd_commands", app=app)
        if answer.error is not None
    ]
    return plugins, tuple(troubles)


def import_by_plugin(folder: Path | None, kind: str, source: str) -> Mapping[str, str]:
    """Give the definitions, file name to markdown, that a plugin of the project reads.

    Raises NotFoundError for a kind that no plugin knows, ToolmdError where its reader fails,
    and ConfigError where the settings can't be read.
    """
    plugins = open_plugins(load_settings(folder))
    read, known, troubles = offered(plugins, "toolmd_importers", kind)
    if read is None:
        others = f"; plugins add {', '.join(sorted(known))}" if known else ""
        raise NotFoundError("; ".join([f"no kind of source {kind!r}{others}", *troubles]))
    try:
        return dict(read.make(source))
    except Exception as error:
        raise ToolmdError(f"{read.plugin} can't import {source}: {reason(error)}") from error
