"""A function as models' APIs describe it (name, description, JSON Schema) to a tool."""

from collections.abc import Mapping
from typing import Any

from toolmd._import.finish import add_tool
from toolmd._import.imported import Notebook
from toolmd._import.json_schema import SchemaReader
from toolmd._import.names import title_of, tool_name
from toolmd._import.sentences import keywords_back, nullable_back
from toolmd._import.text import first_and_rest, plain_line, prose
from toolmd._model.schema import Schema
from toolmd._model.source import Source
from toolmd._model.tool import ToolSpec

SCHEMAS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema")
CONFIDENCE = "_confidence"
"""The argument that an export adds for a tool with a threshold; it is none of the tool's own."""
_CLOSED = "arguments that a schema does not name are refused, though it leaves them open"
NO_CATEGORY = "no category in the source: `general`"
NO_VERSION = "no version in the source: `1.0.0`"


def is_function(entry: Any) -> bool:
    """Tell whether an object describes a function: a name, and arguments or a description."""
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("name"), str)
        and any(key in entry for key in (*SCHEMAS, "description"))
    )


def add_function(
    entry: Mapping[str, Any], book: Notebook, *, strict: bool = False, line: int = 0, **known: Any
) -> None:
    """Put the tool of one function into the book; `known` are fields that the source states."""
    name = tool_name(entry["name"])
    if not name:
        book.refuse(entry["name"], "the name holds no letter that a tool's name may have", line)
        return
    if name != entry["name"].replace("-", "_"):
        book.tell(name, "", f"called {entry['name']!r} in the source; adapt who calls it", line)
    said = read_function(entry, name, book, strict=strict, line=line)
    if said is not None:
        add_tool(ToolSpec(**{**said, **known}), book, line)


def read_function(
    entry: Mapping[str, Any], name: str, book: Notebook, *, strict: bool = False, line: int = 0
) -> dict[str, Any] | None:
    """Give the fields of a function's spec; None where its arguments are no object."""

    def tell(path: str, text: str) -> None:
        book.tell(name, path, text, line)

    schema: Any = next((entry[key] for key in SCHEMAS if key in entry), None) or {}
    if isinstance(schema, Mapping):
        schema = without_confidence(schema, tell)
    schema = keywords_back(nullable_back(schema) if strict else schema, strict=strict)
    reader = SchemaReader(schema, tell)
    try:
        parameters = reader.parameters(schema)
    except ValueError as error:
        book.refuse(name, str(error), line)
        return None
    if reader.silent:
        book.tell("", "", _CLOSED)
    first, rest = first_and_rest(str(entry.get("description") or ""))
    if not first:
        first = f"{title_of(name)}."
        tell("", "no description in the source: the name in words")
    title = plain_line(str(entry.get("title") or "")) or title_of(name)
    return {
        "name": name,
        "title": title,
        "description": first,
        "when_to_use": prose(rest),
        "version": "1.0.0",
        "category": "general",
        "unknown_parameters": "ignore" if reader.open else "reject",
        "parameters": parameters,
        "returns": Schema(description="What the source does not say"),
        "rules": tuple(reader.rules),
        "source": Source("", 1),
    }


def without_confidence(schema: Mapping[str, Any], tell: Any) -> Mapping[str, Any]:
    """Take off the confidence that Toolmd's own exports ask for."""
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or CONFIDENCE not in fields:
        return schema
    required = schema.get("required")
    tell("", f"`{CONFIDENCE}` is Toolmd's own: taken off; add Min Confidence under Safety")
    return {
        **schema,
        "properties": {name: field for name, field in fields.items() if name != CONFIDENCE},
        "required": [name for name in required if name != CONFIDENCE]
        if isinstance(required, list)
        else [],
    }
