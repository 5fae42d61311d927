"""Offer the kind `catalog` to `toolmd import`."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from toolmd import NotFoundError, ToolmdError, hookimpl
from toolmd.importing import Imported

if TYPE_CHECKING:
    from toolmd_catalog.guesses import Ask


@hookimpl
def toolmd_importers() -> Mapping[str, Callable[[str], Imported]]:
    """Return the reader of prose catalogues."""
    return {"catalog": read_file}


def read_file(source: str, ask: "Ask | None" = None) -> Imported:
    """Read the catalogue in a file; `ask` asks a model for what can't be read.

    Raises NotFoundError where there is no such file, ToolmdError where it is not UTF-8 or too long.
    """
    # Only here: every project that has this plugin loads this module.
    from toolmd_catalog.reader import read

    file = Path(source)
    if not file.is_file():
        raise NotFoundError(f"{source}: no such file")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{source}: byte {error.start} is not UTF-8: save the file as UTF-8"
        raise ToolmdError(message) from error
    return read(text, source, ask)
