"""Helpers for importers: a report to fill, and parsers of schemas, types, values and names.

A plugin offers an importer by the hook `toolmd_importers`. The importer makes an `ImportReport`,
adds each tool as a `ToolSpec` and a note for each guess, and returns `report.close()`. Toolmd
escapes the prose and writes the canonical text. A draft has no error, but for a restriction that no
field expresses.
"""

from typing import Any

from toolmd._import import ImportReport, read_function
from toolmd._import.names import parameter_name, title_of, tool_name, words_of
from toolmd._import.restricting import restricts
from toolmd._parse.parameters.types import TypeProblem
from toolmd._parse.parameters.types import read_type as _read_type
from toolmd._parse.words import scalars
from toolmd._types.imported import Draft, Imported, Note
from toolmd._types.schema import Schema
from toolmd._validation import problems

__all__ = [
    "Draft",
    "ImportReport",
    "Imported",
    "Note",
    "parameter_name",
    "problems",
    "read_function",
    "read_type",
    "read_value",
    "restricts",
    "title_of",
    "tool_name",
    "words_of",
]


def read_type(text: str) -> Schema | None:
    """Read a type in words or in code: `string[]`, `int | None`, `"a" | "b"`, `list of dates`.

    Args:
        text: The type alone, in JSON Schema's, Python's or TypeScript's notation.

    Returns:
        The shape of the values; None where the text is not a type.
    """
    try:
        return _read_type(text)
    except TypeProblem:
        return None


def read_value(text: str, shape: Schema) -> tuple[Any, bool]:
    """Read a value by the type that it should have: `yes`, `1.5`, `[1, 2]`, `a, b`.

    Args:
        text: The value as a person writes it.
        shape: Its types decide how the text is read; other fields are not checked.

    Returns:
        The value, and whether it has one of the types; if not, the value is the text.
    """
    return scalars.literal(text, shape)
