"""Ask the plugins of a project alone, no definition being read: for commands and importers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolmd._load.build import open_plugins
from toolmd._load.plugins import Plugins, find_offer, reason
from toolmd._types.settings import Settings
from toolmd.config import find_project, load_settings
from toolmd.errors import ConfigError, NotFoundError, ToolmdError

if TYPE_CHECKING:
    from toolmd._types.imported import Imported


def plugin_commands(folder: Path | None, app: Any) -> tuple[Plugins, tuple[str, ...]]:
    """Have each plugin of the project in `folder` add its commands to the Typer `app`.

    Outside of any project, these are all installed plugins.

    Gives the plugins, to be held as long as a command may run, and a sentence for each failure:
    such a plugin is left out. Raises ConfigError where the settings can't be read.
    """
    plugins = open_plugins(settings_here(folder))
    problems = [found.message for found in plugins.diagnostics]
    problems += [f"{name} can't be loaded: {reason(error)}" for name, error in plugins.broken()]
    problems += [
        f"{answer.plugin} can't add its commands: {reason(answer.error)}"
        for answer in plugins.ask("toolmd_commands", app=app)
        if answer.error is not None
    ]
    return plugins, tuple(problems)


def import_by_plugin(folder: Path | None, kind: str, source: str) -> "Imported | Mapping[str, str]":
    """Import a source by the plugin of the project, or an installed one, that reads its kind.

    Returns what the reader made of it: drafts with notes, or markdown by file name. Raises
    NotFoundError for a kind that no plugin reads, with the kinds that are read; ToolmdError where
    the reader fails, and ConfigError where the settings can't be read.
    """
    # Only here: opening a workspace need not wait for the importers.
    from toolmd._import import KINDS
    from toolmd._types.imported import Imported

    plugins = open_plugins(settings_here(folder))
    read, known, problems = find_offer(plugins, "toolmd_importers", kind)
    if read is None:
        others = f"; plugins add {', '.join(sorted(known))}" if known else ""
        why = f"no kind of source {kind!r}: Toolmd reads {', '.join((*KINDS, 'text'))}{others}"
        broken = [found.message for found in plugins.diagnostics]
        raise NotFoundError("; ".join([why, *broken, *problems]))
    try:
        made: Imported | Mapping[str, str] = read.make(source)
        return made if isinstance(made, Imported) else dict(made)
    except ToolmdError:
        raise
    except Exception as error:
        raise ToolmdError(f"{read.plugin} can't import {source}: {reason(error)}") from error


def settings_here(folder: Path | None) -> Settings:
    """Load the project's settings; outside of any project, those of one without definitions."""
    if folder is None and find_project(Path.cwd().resolve()) is None:
        try:
            return load_settings()
        except ConfigError:
            return load_settings(Path.cwd(), overrides={"tools": [], "skills": []})
    return load_settings(folder)
