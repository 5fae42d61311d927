"""Read functions of models' APIs: a name, a description, and a JSON Schema of the arguments."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolmd._import.flatten import TellUnheld
from toolmd._import.json_schema import SchemaReader
from toolmd._import.names import RESULTS, first_and_rest, plain_line, prose, title_of, tool_name
from toolmd._import.policy import Policy, field_of
from toolmd._import.report import ImportReport
from toolmd._types.diagnostic import Source
from toolmd._types.imported import NOT_ENFORCED
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import ToolSpec
from toolmd._validation.strict_json import JsonError
from toolmd._validation.strict_json import read_json as read_strictly
from toolmd.errors import ToolmdError

MAX_BYTES = 8 << 20
_MAX_DEPTH = 256


class UnreadableSourceError(ToolmdError):
    """The source can't be read; the message has the place of the error."""


def read_json(text: str) -> Any:
    """Return the value; raises UnreadableSourceError with line and column.

    A key that occurs twice in an object is an error: one of both may restrict.
    """
    if len(text) > MAX_BYTES:
        raise UnreadableSourceError(f"over {MAX_BYTES >> 20} MiB: pass only the tools")
    try:
        return read_strictly(text.removeprefix("\ufeff"), depth=_MAX_DEPTH, halves=True)
    except JsonError as error:
        raise UnreadableSourceError(
            f"line {error.line}, column {error.column}: not valid JSON: {error.reason}"
        ) from None


SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parametersJsonSchema"),
    *("parameters_json_schema", "args_schema", "input_json_schema"),
)
MAX_TOLD = 20
"""The most restrictions that a draft names as not enforced."""
LIST = "arguments"
"""The key of a list of arguments, as registries of MCP servers publish it."""
_OF_LIST = frozenset(("name", "desc", "optional", "required"))
_READ = frozenset(("name", "title", "description", "type", "strict"))
_OF_SCHEMAS = frozenset(
    "type properties required description title items default format enum examples".split()
)
"""The words of a schema's root that never restrict a call."""
CONFIDENCE = "_confidence"
"""The argument that an export adds for a tool with a threshold; it is not the tool's own."""
_CLOSED = "arguments that a schema does not name are rejected, though the schema allows them"


def is_function(entry: Any) -> bool:
    """Return whether an object describes a function: a name, and arguments or a description."""
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("name"), str)
        and any(key in entry for key in (*SCHEMAS, "description"))
    )


def add_function(  # noqa: PLR0913 - what the sources of functions state, by keyword
    entry: Mapping[str, Any],
    report: ImportReport,
    *,
    strict: bool = False,
    line: int = 0,
    also: Collection[str] = (),
    policy: Iterable[Policy] = (),
    change: Callable[[Parameter], Parameter] | None = None,
    **known: Any,
) -> None:
    """Add the tool of one function to the report; `known` are fields that the source states.

    `change` completes a parameter by what the source says elsewhere, and `policy` restricts calls.
    A key that neither this function nor its caller reads (`also`) gets a note, or
    becomes a field if it restricts.
    """
    name = tool_name(entry["name"])
    if not name:
        report.reject(
            entry["name"], "the name contains no letter that a tool's name may have", line
        )
        return
    if name != entry["name"].replace("-", "_"):
        report.note(name, "", f"called {entry['name']!r} in the source; adapt its callers", line)
    rows = entry.get(LIST)
    if isinstance(rows, list) and not _schema_key(entry):
        if (listed := _of_list(rows)) is None:
            report.reject(name, f"its `{LIST}` can't be read: a map with a name for each", line)
            return
        needs = "an argument is required there unless it says `optional` or `required`"
        report.note(name, "", f"read from `{LIST}`: {needs}", line)
        entry = {**{k: v for k, v in entry.items() if k != LIST}, SCHEMAS[0]: listed}
    key = _schema_key(entry)
    within = _restricting_within(entry.get(key))
    if within:
        inner = {one: value for one, value in entry[key].items() if one not in within}
        entry = {**entry, key: inner}
    said = read_function(entry, name, report, strict=strict, line=line)
    read = {*_READ, *also, key}
    result = next((key for key in RESULTS if isinstance(entry.get(key), Mapping)), None)
    if result is not None and "returns" not in known:
        known["returns"] = read_result(entry[result], name, report, wrapped=False)
        read.add(result)
    unread = {key: value for key, value in entry.items() if key not in read}
    policy = [*policy, *within.items(), *report.note_unread(name, unread, line)]
    if said is None:
        return
    if change is not None:
        said["parameters"] = tuple(map(change, said["parameters"]))
    report.add_tool(ToolSpec(**{**said, **known}), line, policy)


def _of_list(listed: list[Any]) -> dict[str, Any] | None:
    """Return the JSON Schema of arguments that a source lists; None if it can't be read."""
    fields: dict[str, Any] = {}
    required = []
    for one in listed:
        name = one.get("name") if isinstance(one, Mapping) else None
        if not isinstance(name, str) or not name or name in fields:
            return None
        own = {key: value for key, value in one.items() if key not in _OF_LIST}
        if isinstance(one.get("desc"), str):
            own.setdefault("description", one["desc"])
        fields[name] = own
        if one.get("required", not one.get("optional")) is True:
            required.append(name)
    return {"type": "object", "properties": fields, "required": required}


def _restricting_within(schema: Any) -> dict[str, Any]:
    """Return what restricts the call among the keys of the schema of its arguments."""
    own = schema.items() if isinstance(schema, Mapping) else ()
    return {
        key: value
        for key, value in own
        if key not in _OF_SCHEMAS and value is not None and field_of(str(key)) is not None
    }


def read_function(
    entry: Mapping[str, Any],
    name: str,
    report: ImportReport,
    *,
    strict: bool = False,
    line: int = 0,
) -> dict[str, Any] | None:
    """Read a function with a JSON Schema into fields of a ToolSpec.

    Args:
        entry: The function as models' APIs describe it: a name, a description, and a schema under
            `parameters`, `input_schema` or `inputSchema`.
        name: The tool's name, for the notes.
        report: Takes a note for each part of the schema that a definition has no word for.
        strict: Whether `["string", "null"]` stands for an optional parameter.
        line: Its line in the source, from 1; 0 where there is none.

    Returns:
        Arguments of ToolSpec by name; None where the arguments are not an object, with the reason
        in the report.
    """

    def tell(path: str, text: str) -> None:
        report.note(name, path, text, line)

    schema = _arguments(entry, tell)
    schema = nullable_back(schema) if strict else schema
    reader = SchemaReader(schema, tell)
    try:
        parameters = reader.parameters(schema)
    except ValueError as error:
        report.reject(name, str(error), line)
        return None
    if reader.silent:
        report.note("", "", _CLOSED)
    return {
        **_head(entry, name, tell),
        "version": "1.0.0",
        "category": "general",
        "unknown_parameters": "ignore" if reader.open else "reject",
        "parameters": parameters,
        "returns": Schema(description="What the source does not say"),
        "rules": tuple(reader.rules),
        # `check` warns of it for as long as it stands there.
        "extra": {NOT_ENFORCED: "; ".join(reader.lost[:MAX_TOLD])} if reader.lost else {},
        "source": Source("", 1),
    }


def _arguments(entry: Mapping[str, Any], tell: TellUnheld) -> Any:
    """Return the schema of the arguments, without the one that Toolmd's exports add."""
    key = _schema_key(entry)
    if key not in {*SCHEMAS, ""}:
        tell("", f"the arguments were read from `{key}`")
    schema = entry.get(key) or {}
    return without_confidence(schema, tell) if isinstance(schema, Mapping) else schema


def _schema_key(entry: Mapping[str, Any]) -> str:
    """Return the key that has the schema of the arguments; empty if none has."""
    for key in SCHEMAS:
        if key in entry:
            return key
    known = {*RESULTS, *_READ, "annotations", "_meta"}
    likely = (key for key in entry if key not in known and _is_schema(entry[key]))
    return next(likely, "")


def _is_schema(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("properties"), Mapping)


def read_result(schema: Any, name: str, report: ImportReport, *, wrapped: bool) -> Schema:
    """Read the schema of a result; with `wrapped`, the result is its field of that name."""

    def tell(path: str, text: str) -> None:
        report.note(name, f"returns {path}".strip(), text)

    reader = SchemaReader(schema, tell)
    inner = schema
    if wrapped and isinstance(schema, Mapping) and isinstance(schema.get("properties"), Mapping):
        inner = schema["properties"].get("result", schema)
    shape = reader.result(inner)
    return shape if shape.description else replace(shape, description="The result")


def _head(entry: Mapping[str, Any], name: str, tell: TellUnheld) -> dict[str, Any]:
    """Return name, title, description and when to use."""
    first, rest = first_and_rest(str(entry.get("description") or ""))
    if not first:
        first = f"{title_of(name)}."
        tell("", "no description in the source: the name was used")
    title = plain_line(str(entry.get("title") or "")) or title_of(name)
    return {"name": name, "title": title, "description": first, "when_to_use": prose(rest)}


def without_confidence(schema: Mapping[str, Any], tell: Any) -> Mapping[str, Any]:
    """Remove the confidence argument that Toolmd's own exports add."""
    fields = schema.get("properties")
    if not isinstance(fields, Mapping) or CONFIDENCE not in fields:
        return schema
    required = schema.get("required")
    tell("", f"`{CONFIDENCE}` is Toolmd's own argument: removed; add Min Confidence under Safety")
    return {
        **schema,
        "properties": {name: field for name, field in fields.items() if name != CONFIDENCE},
        "required": [name for name in required if name != CONFIDENCE]
        if isinstance(required, list)
        else [],
    }


def nullable_back(schema: Any) -> Any:
    """Return a strict schema whose nullable properties are optional, as strict mode means them."""
    if isinstance(schema, list):
        return [nullable_back(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: value
        if key in {"enum", "const", "default", "examples", "properties"}
        else nullable_back(value)
        for key, value in schema.items()
    }
    if isinstance(schema.get("properties"), dict):
        fields: dict[str, Any] = {}
        needed = schema.get("required")
        needed, required = needed if isinstance(needed, list) else [], []
        for name, field in schema["properties"].items():
            bare = without_null(field)
            fields[name] = nullable_back(field if bare is None else bare)
            if bare is None and name in needed:
                required.append(name)
        made["properties"], made["required"] = fields, required
    return made


def without_null(schema: Any) -> Any:
    """Return the schema without its `null`; None if it has no null, or only null."""
    if not isinstance(schema, dict):
        return None
    branches = schema.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        left = [branch for branch in branches if branch != {"type": "null"}]
        rest = {k: v for k, v in schema.items() if k != "anyOf"}
        if not left:
            return None
        return {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}
    types = schema.get("type")
    if isinstance(types, list) and "null" in types and len(types) > 1:
        left = [name for name in types if name != "null"]
        bare = {**schema, "type": left[0] if len(left) == 1 else left}
        if isinstance(bare.get("enum"), list):
            bare["enum"] = [value for value in bare["enum"] if value is not None]
        return bare
    return None
