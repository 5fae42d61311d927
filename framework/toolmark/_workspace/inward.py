"""Let plugins read what Toolmark itself can't: their importers, by the kind of the source."""

from collections.abc import Mapping
from pathlib import Path

from toolmark._bind.build import open_plugins
from toolmark._bind.manager import reason
from toolmark.config import load_settings
from toolmark.errors import NotFoundError, ToolmarkError


def import_by_plugin(folder: Path | None, kind: str, source: str) -> Mapping[str, str]:
    """Give the definitions, file name to markdown, that a plugin of the project reads.

    Raises NotFoundError for a kind that no plugin knows, ToolmarkError where its reader fails,
    and ConfigError where the settings can't be read.
    """
    plugins = open_plugins(load_settings(folder))
    known: set[str] = set()
    for answer in plugins.ask("toolmark_importers"):
        importers = answer.value if answer.error is None else None
        if not isinstance(importers, Mapping):
            continue
        known |= importers.keys()
        if kind in importers:
            try:
                return dict(importers[kind](source))
            except Exception as error:
                raise ToolmarkError(
                    f"{answer.plugin} can't import {source}: {reason(error)}"
                ) from error
    others = f"; plugins add {', '.join(sorted(known))}" if known else ""
    raise NotFoundError(f"no kind of source {kind!r}{others}")
