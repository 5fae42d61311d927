"""Ask the plugins of a project alone, no definition being read: for commands and importers."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from toolmd._load.annotations import signature_of
from toolmd._load.build import open_plugins
from toolmd._load.plugins import Plugins, is_installed, offered, reason
from toolmd._types.imported import Imported
from toolmd._types.settings import Settings
from toolmd.config import find_project, load_settings
from toolmd.errors import ConfigError, NotFoundError, ToolmdError


def plugin_commands(folder: Path | None, app: Any) -> tuple[Plugins, tuple[str, ...]]:
    """Have each plugin of the project in `folder` add its commands to the Typer `app`.

    Outside of any project, these are all installed plugins.

    Gives the plugins, to be held as long as a command may run, and a sentence for each failure:
    such a plugin is left out. Raises ConfigError where the settings can't be read.
    """
    plugins = open_plugins(_settings(folder))
    problems = [found.message for found in plugins.diagnostics]
    problems += [f"{name} can't be loaded: {reason(error)}" for name, error in plugins.broken()]
    problems += [
        f"{answer.plugin} can't add its commands: {reason(answer.error)}"
        for answer in plugins.ask("toolmd_commands", app=app)
        if answer.error is not None
    ]
    return plugins, tuple(problems)


def import_by_plugin(
    folder: Path | None,
    kind: str,
    source: str,
    ask_of: Callable[[Settings], Callable[..., Any]] | None = None,
) -> Imported | Mapping[str, str]:
    """Import a source by the plugin of the project, or an installed one, that reads its kind.

    `ask_of` returns what asks a model, for a reader with the parameter `ask`.

    Returns what the reader made of it: drafts with notes, or markdown by file name. Raises
    NotFoundError for a kind that no plugin reads, with the remedy; ToolmdError where the reader
    fails, and ConfigError where the settings can't be read.
    """
    # Only here: opening a workspace need not wait for the importers.
    from toolmd._import import PACKAGED

    settings = _settings(folder)
    plugins = open_plugins(settings)
    read, known, problems = offered(plugins, "toolmd_importers", kind)
    if read is None:
        why = unread(
            kind,
            known=known,
            installed=kind in PACKAGED and is_installed(PACKAGED[kind]),
            allowed=settings.plugins,
        )
        broken = [found.message for found in plugins.diagnostics]
        raise NotFoundError("; ".join([why, *broken, *problems]))
    if ask_of is not None and "ask" not in signature_of(read.make).parameters:
        raise ToolmdError(f"the reader of {kind} asks no model: leave out --model")
    given = {} if ask_of is None else {"ask": ask_of(settings)}
    try:
        made: Imported | Mapping[str, str] = read.make(source, **given)
        return made if isinstance(made, Imported) else dict(made)
    except ToolmdError:
        raise
    except Exception as error:
        raise ToolmdError(f"{read.plugin} can't import {source}: {reason(error)}") from error


def _settings(folder: Path | None) -> Settings:
    """Load the project's settings; outside of any project, those of one without definitions."""
    if folder is None and find_project(Path.cwd().resolve()) is None:
        try:
            return load_settings()
        except ConfigError:
            return load_settings(Path.cwd(), overrides={"tools": [], "skills": []})
    return load_settings(folder)


def unread(
    kind: str, *, known: Collection[str], installed: bool, allowed: Collection[str] | None
) -> str:
    """Return why no plugin reads a kind of source, and what to do.

    `known` are the kinds that plugins read, `installed` says whether the kind's own package is
    there, and `allowed` are the plugins that may load (None: all).
    """
    from toolmd._import import KINDS, PACKAGED

    package = PACKAGED.get(kind)
    if package is None:
        others = f"; plugins add {', '.join(sorted(known))}" if known else ""
        return f"no kind of source {kind!r}: Toolmd reads {', '.join(KINDS)}{others}"
    if not installed:
        return f"{kind!r} is read by a package of its own: pip install {package}"
    if allowed is None:
        return f"{package}, which reads {kind!r}, is installed and does not load"
    return (
        f"{package}, which reads {kind!r}, is installed, but `plugins` of the settings (or "
        f"TOOLMD_LOAD_PLUGINS) leaves it out: add {package!r} to it"
    )
