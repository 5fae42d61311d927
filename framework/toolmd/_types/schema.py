"""The allowed values of a parameter, a field or a result."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any

from toolmd._types.field import EXACT, JsonType, Row, rows_of

JSON_TYPES: tuple[JsonType, ...] = (
    "string",
    "number",
    "integer",
    "boolean",
    "object",
    "array",
    "null",
)

TEXT: tuple[JsonType, ...] = ("string",)
NUMBER: tuple[JsonType, ...] = ("number", "integer")
ARRAY: tuple[JsonType, ...] = ("array",)
OBJECT: tuple[JsonType, ...] = ("object",)


@dataclass(frozen=True)
class Schema:
    """The shape of one value: format.md, "Parameter fields"."""

    # fmt: off
    types: Annotated[tuple[JsonType, ...], Row(
        "type", "The type of the value, in the words of JSON Schema, Python or TypeScript.",
        name="Type",
        compared="types")] = ()
    """The allowed types; empty allows any."""
    description: Annotated[str, Row(
        "prose", "A text that explains the value to the model.",
        aliases=("Desc", "Details", "Meaning"))] = ""
    has_default: bool = False
    """Whether a default is set: `null` may be a default."""
    default: Annotated[Any, Row(
        "literal", "The value that Toolmd uses if the call supplies none.",
        aliases=("Default Value", "Defaults To"))] = None
    from_caller: Annotated[str | None, Row(
        "word", "The fact of the caller that a call without a value uses: `` Default: "
        "`caller.FACT` ``.", name="Default", word="x-from-caller",
        sentence="Without it: the caller's {}.")] = None
    """In a file, it is a Default that is an expression."""
    enum: Annotated[tuple[Any, ...] | None, Row(
        "enum", "The allowed values.", compared="choices", aliases=(
            "Enum Values", "Allowed Values", "Allowed", "Choices", "Options", "Possible Values",
            "Valid Values", "Values"))] = None
    items: Annotated["Schema | None", Row(
        "items", "The schema of an array's items. Write nested fields, or a type.", fits=ARRAY,
        aliases=("Item", "Item Type", "Items Type", "Elements"))] = None
    values: Annotated["Schema | None", Row(
        "items",
        "The schema of each value in an object with any fields. Write nested fields, or a type.",
        name="Each Value", fits=OBJECT,
        aliases=("Value Type", "Map Values", "Value Schema"))] = None
    """The shape of every value of an open object (`dict[str, int]`)."""
    properties: Annotated["tuple[Parameter, ...] | None", Row(
        "properties", "The fields of an object. Write a nested bullet for each field.", fits=OBJECT,
        aliases=("Fields", "Props", "Attributes", "Keys"))] = None
    """The fields of a closed object; None for an open one."""
    one_of: Annotated["tuple[Parameter, ...] | None", Row(
        "shapes",
        "The possible shapes of an object. Write a nested bullet for each shape. The object must "
        "fit exactly one shape. With plain values, One Of means the same as Enum.")] = None
    """The closed objects, by name, of which an object must be exactly one."""
    discriminator: Annotated[str | None, Row(
        "word", "The required field that tells the shapes of One Of apart.", word="discriminator",
        phrase="told apart by {}",
        aliases=("Discriminator Field", "Discriminator Property"))] = None
    minimum: Annotated[int | float | None, Row(
        "number", "The smallest allowed value.", word="minimum", fits=NUMBER, compared="least",
        aliases=("Min", "Min Value", "Minimum Value"))] = None
    maximum: Annotated[int | float | None, Row(
        "number", "The largest allowed value.", word="maximum", fits=NUMBER, compared="most",
        aliases=("Max", "Max Value", "Maximum Value"))] = None
    min_length: Annotated[int | None, Row(
        "whole", "The smallest length in characters (code points).", word="minLength", fits=TEXT,
        compared="least", counts="character", aliases=("Minimum Length",))] = None
    max_length: Annotated[int | None, Row(
        "whole", "The largest length in characters (code points).", word="maxLength", fits=TEXT,
        compared="most", counts="character", aliases=("Maximum Length",))] = None
    pattern: Annotated[str | None, Row(
        "pattern", "A regular expression (RE2) that the whole text must match.", word="pattern",
        fits=TEXT, compared="unlike", phrase="pattern {}", sentence="Must match {}.",
        aliases=("Regex", "Regexp", "Regular Expression"))] = None
    format: Annotated[str | None, Row(
        "format", "The format of the text. Toolmd checks `date`, `time`, `date-time`, `email`, "
        "`uri` and `uuid`. Any other format is only a note.",
        word="format", fits=TEXT, compared="unlike", phrase="format {}",
        sentence="Format: {}.")] = None
    min_items: Annotated[int | None, Row(
        "whole", "The smallest number of items.", word="minItems", fits=ARRAY, compared="least",
        counts="item", aliases=("Minimum Items",))] = None
    max_items: Annotated[int | None, Row(
        "whole", "The largest number of items.", word="maxItems", fits=ARRAY, compared="most",
        counts="item", aliases=("Maximum Items",))] = None
    unique: Annotated[bool, Row(
        "boolean", "Whether all items must be different.", "no", word="uniqueItems", fits=ARRAY,
        compared="demand", phrase="no item twice", sentence="Each item only once.",
        aliases=("Unique Items",))] = False
    unit: Annotated[str | None, Row(
        "phrase", "The unit of a number, such as `ml`.", word="x-unit", phrase="in {}",
        sentence="Unit: {}.", aliases=("Units",))] = None
    has_example: bool = False
    """Whether an example is set: `null` may be an example."""
    example: Annotated[Any, Row(
        "literal", "A sample value for readers.", word="examples", aliases=("Examples", "E.g."),
        )] = None
    sensitive: Annotated[bool, Row(
        "boolean", "Whether logs, traces and records hide the value.", "no", word="x-sensitive",
        compared="demand", phrase="hidden in records",
        aliases=("Is Sensitive", "Sensitive Value", "Contains Sensitive Data"),
        restricts=True)] = False
    verbatim: Annotated[bool, Row(
        "boolean", "Whether the user's own messages must contain the value.", "no",
        word="x-verbatim",
        compared="demand", phrase="in the user's own words",
        sentence="Must be the user's own words.", restricts=True)] = False
    accepts_handle: Annotated[bool, Row(
        "boolean",
        'Whether a call may name an earlier result instead: '
        '`{"$result": "r-…", "path": "papers[*].id"}`.',
        "no", word="x-accepts-handle", phrase="or a handle",
        sentence='Or part of an earlier result: {"$result": handle, "path": "papers[*].id"}.',
        aliases=("Accept Handle", "Accepts Handles", "Takes Handle"))] = False
    sent_in: Annotated[str | None, Row(
        "text",
        "The part of a web service's request that has the argument, such as `path`, `query "
        "page[size]`, `header X-Trace` or `whole body`. docs/reference/format.md lists all parts.",
        word="x-sent-in")] = None
    to_model: Annotated[tuple[str, ...] | None, Row(
        "list",
        "The fields of a result that a model sees. A handle gives access to the whole result.",
        word="x-to-model", aliases=("To The Model", "Shown To Model", "Model Sees"))] = None
    # fmt: on

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """Return JSON Schema 2020-12; fields without a keyword of it use `x-` keys."""
        return _json_schema(self)

    @property
    def inner(self) -> "tuple[Schema, ...]":
        """The shapes of the direct fields, items and values, and those of One Of."""
        fields = tuple(field.shape for field in (*(self.properties or ()), *(self.one_of or ())))
        return (*fields, *(s for s in (self.items, self.values) if s is not None))

    def with_inner(self, change: "Callable[[Schema], Schema]") -> "Schema":
        """Return this shape with each shape directly below it changed."""

        def fields(listed: "tuple[Parameter, ...] | None") -> "tuple[Parameter, ...] | None":
            return listed and tuple(replace(one, shape=change(one.shape)) for one in listed)

        return replace(
            self,
            items=self.items and change(self.items),
            values=self.values and change(self.values),
            properties=fields(self.properties),
            one_of=fields(self.one_of),
        )

    @property
    def objects(self) -> "tuple[Schema, ...]":
        """The shapes that an object may have: those of One Of, or else this one."""
        return (self,) if self.one_of is None else tuple(each.shape for each in self.one_of)

    @cached_property
    def tags(self) -> tuple[Any, ...]:
        """The values of the Discriminator, one for each shape."""
        shapes = (each.properties or () for each in self.objects)
        return tuple(
            (p.shape.enum or (None,))[0] for s in shapes for p in s if p.name == self.discriminator
        )

    def of_field(self, name: str) -> "tuple[Schema, ...]":
        """Return the shapes that a field may have: several if shapes of One Of share its name."""
        found = (known.get(name, one.values) for one, known in self._fields)
        return tuple(shape for shape in found if shape is not None)

    @cached_property
    def _fields(self) -> "tuple[tuple[Schema, dict[str, Schema]], ...]":
        return tuple((one, {p.name: p.shape for p in one.properties or ()}) for one in self.objects)

    @property
    def holds_sensitive(self) -> bool:
        """Whether such a value may contain Sensitive values, at any depth."""
        return self.sensitive or any(shape.holds_sensitive for shape in self.inner)

    @property
    def holds_verbatim(self) -> bool:
        """Whether such a value may contain Verbatim values, at any depth."""
        return self.verbatim or any(shape.holds_verbatim for shape in self.inner)


KEYWORDS: Mapping[str, Row] = {row.attribute: row for row in rows_of(Schema) if row.word}
"""The keywords of JSON Schema by their attribute, in the order of the documents."""
UPPER: Mapping[str, str] = {
    low: high
    for low, least in KEYWORDS.items()
    for high, most in KEYWORDS.items()
    if (least.compared, most.compared) == ("least", "most") and least.fits == most.fits
}
"""Each lower bound to the upper bound of the same size."""


def words_of(kind: JsonType) -> tuple[str, ...]:
    """Return the JSON Schema words that restrict values of a type."""
    return tuple(row.word for row in KEYWORDS.values() if kind in row.fits)


# fmt: off
@dataclass(frozen=True)
class Parameter:
    """A named value of a tool, a skill or an object."""

    name: str
    """As the author wrote it."""
    shape: Schema
    """The allowed values."""
    required: Annotated[bool, Row(
        "boolean", "Whether a call must supply the value.", "no",
        aliases=("Mandatory", "Req"))] = False
# fmt: on


def object_schema(parameters: tuple[Parameter, ...], *, open_: bool = False) -> dict[str, Any]:
    """Return the JSON Schema of an object with these fields, closed unless `open_`."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: p.shape.json_schema for p in parameters},
    }
    if required := [p.name for p in parameters if p.required]:
        schema["required"] = required
    if not open_:
        schema["additionalProperties"] = False
    return schema


def plain_numbers(value: Any) -> Any:
    """Convert whole floats to integers, at any depth, so that `1.0` and `1` are equal in JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= EXACT else value
    if not isinstance(value, list | tuple | dict):
        return value
    try:  # A round trip through JSON: it nests deeper than Python's recursion limit.
        return json.loads(json.dumps(value), parse_float=lambda text: plain_numbers(float(text)))
    except RecursionError:
        return value


def _json_schema(shape: Schema) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if shape.types:
        schema["type"] = shape.types[0] if len(shape.types) == 1 else list(shape.types)
    if shape.description:
        schema["description"] = shape.description
    if shape.enum is not None:
        schema["enum"] = plain_numbers(list(shape.enum))
    if shape.has_default:
        schema["default"] = plain_numbers(shape.default)
    if shape.items is not None or "array" in shape.types:
        schema["items"] = shape.items.json_schema if shape.items is not None else {}
    if shape.properties is not None:
        schema |= {k: v for k, v in object_schema(shape.properties).items() if k != "type"}
    if shape.values is not None:
        schema["additionalProperties"] = shape.values.json_schema
    if shape.one_of is not None:
        schema["oneOf"] = [{"title": p.name, **p.shape.json_schema} for p in shape.one_of]
        if others := [kind for kind in shape.types if kind != "object"]:
            schema["oneOf"].append({"type": others[0] if len(others) == 1 else others})
    return schema | {
        row.word: _written(name, getattr(shape, name))
        for name, row in KEYWORDS.items()
        if _is_set(name, shape)
    }


def _is_set(name: str, shape: Schema) -> bool:
    if name == "example":
        return shape.has_example
    value = getattr(shape, name)
    return value is not None and value is not False


def anchored(pattern: str) -> str:
    """Return a pattern that a search finds only where it matches the whole text."""
    whole = pattern.startswith("^") and re.search(r"(?<!\\)(\\\\)*\$\Z", pattern)
    return pattern if whole and "|" not in pattern else f"^(?:{pattern})$"


def _written(name: str, value: Any) -> Any:
    """Return a keyword's value as JSON Schema writes it."""
    match name:
        case "example":
            return [plain_numbers(value)]
        case "discriminator":
            return {"propertyName": value}
        case "pattern":
            return anchored(value)
        case _:
            return plain_numbers(value)
