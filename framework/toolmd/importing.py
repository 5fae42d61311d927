"""Helpers for importers: a report to fill, and parsers of schemas, types, values and names.

A plugin offers an importer by the hook `toolmd_importers`. The importer makes an `ImportReport`,
adds each tool as a `ToolSpec` and a note for each guess, and returns `report.close()`. Toolmd
escapes the prose and writes the canonical text. A draft has no error, but for a restriction that no
field expresses.
"""

from toolmd._import import ImportReport, read_function
from toolmd._import.names import parameter_name, title_of, tool_name
from toolmd._parse.parameters.types import TypeProblem
from toolmd._parse.parameters.types import read_type as _read_type
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
    "title_of",
    "tool_name",
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
