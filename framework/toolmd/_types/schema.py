"""The allowed values of a parameter, a field or a result."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

JsonType = Literal["string", "number", "integer", "boolean", "object", "array", "null"]
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


@dataclass(frozen=True, slots=True)
class Keyword:
    """The row of a keyword: all that the packages know of it, but for a check of its own."""

    word: str
    """Its word in JSON Schema; `x-` begins one that JSON Schema lacks."""
    kind: str
    """The way markdown writes its value: a key of `values.READERS`."""
    says: str
    """The sentence for the reference page."""
    fits: tuple[JsonType, ...] = ()
    """The types whose values it restricts; empty if it restricts no value."""
    compared: Literal["least", "most", "demand", "unlike", ""] = ""
    """When a changed value is weaker (`_load.weakening`); `least` and `most` are bounds."""
    counts: str = ""
    """What a bound counts, in the singular; empty for the value itself."""
    phrase: str = ""
    """A few words for prompts and forms, with the value at `{}`; bounds need none."""
    sentence: str = ""
    """A sentence for formats without the keyword, with the value at `{}`; bounds need none."""
    aliases: tuple[str, ...] = ()
    """Other forms of its name in markdown."""
    restricts: bool = False
    """Whether a misspelt name is an error, instead of being repaired."""
    name: str = ""
    """The name of its field in markdown: that of the attribute, in title case."""

    def size(self, bound: float) -> str:
        """Return a bound with what it counts: `3 items`."""
        things = f" {self.counts}{'' if bound == 1 else 's'}" if self.counts else ""
        return f"{plain_numbers(bound)}{things}"


def _row(*columns: Any, **more: Any) -> Any:
    """Return the field of a Schema with the columns of its Keyword; a flag is False by default."""
    keyword = Keyword(*columns, **more)
    return field(default=False if keyword.kind == "boolean" else None, metadata={"row": keyword})


@dataclass(frozen=True)
class Schema:
    """The shape of one value: format.md, "Parameter fields"."""

    types: tuple[JsonType, ...] = ()
    """The allowed types; empty allows any."""
    description: str = ""
    enum: tuple[Any, ...] | None = None
    has_default: bool = False
    """Whether a default is set: `null` may be a default."""
    default: Any = None
    items: "Schema | None" = None
    properties: "tuple[Parameter, ...] | None" = None
    """The fields of a closed object; None for an open one."""
    values: "Schema | None" = None
    """The shape of every value of an open object (`dict[str, int]`)."""
    one_of: "tuple[Parameter, ...] | None" = None
    """The closed objects, by name, of which an object must be exactly one."""
    # fmt: off
    discriminator: str | None = _row(
        "discriminator", "word", "The required field that tells the shapes of One Of apart.",
        phrase="told apart by {}", aliases=("Discriminator Field", "Discriminator Property"))
    minimum: int | float | None = _row(
        "minimum", "number", "The smallest value.", NUMBER, "least",
        aliases=("Min", "Min Value", "Minimum Value"))
    maximum: int | float | None = _row(
        "maximum", "number", "The largest value.", NUMBER, "most",
        aliases=("Max", "Max Value", "Maximum Value"))
    min_length: int | None = _row(
        "minLength", "whole", "The smallest length in characters (code points).", TEXT, "least",
        counts="character", aliases=("Minimum Length",))
    max_length: int | None = _row(
        "maxLength", "whole", "The largest length in characters (code points).", TEXT, "most",
        counts="character", aliases=("Maximum Length",))
    pattern: str | None = _row(
        "pattern", "pattern", "A regular expression (RE2) that the whole text must match.", TEXT,
        "unlike", phrase="pattern {}", sentence="Must match {}.",
        aliases=("Regex", "Regexp", "Regular Expression"))
    format: str | None = _row(
        "format", "word",
        "`date`, `time`, `date-time`, `email`, `uri`, `uuid`: checked; others are notes.", TEXT,
        "unlike", phrase="format {}", sentence="Format: {}.")
    min_items: int | None = _row(
        "minItems", "whole", "The smallest number of items.", ARRAY, "least", counts="item",
        aliases=("Minimum Items",))
    max_items: int | None = _row(
        "maxItems", "whole", "The largest number of items.", ARRAY, "most", counts="item",
        aliases=("Maximum Items",))
    unique: bool = _row(
        "uniqueItems", "boolean", "No two items are equal.", ARRAY, "demand",
        phrase="no item twice", sentence="Each item only once.", aliases=("Unique Items",))
    unit: str | None = _row(
        "x-unit", "text", "The unit of a number, such as `ml`.", phrase="in {}",
        sentence="Unit: {}.", aliases=("Units",))
    has_example: bool = False
    """Whether an example is set: `null` may be an example."""
    example: Any = _row(  # noqa: RUF009 - it returns a field of the dataclass
        "examples", "literal", "A value to show.", aliases=("Examples", "E.g."))
    sensitive: bool = _row(
        "x-sensitive", "boolean", "Hidden in logs, traces and records.", compared="demand",
        phrase="hidden in records",
        aliases=("Is Sensitive", "Sensitive Value", "Contains Sensitive Data"), restricts=True)
    verbatim: bool = _row(
        "x-verbatim", "boolean", "The user must have said the value.", compared="demand",
        phrase="in the user's own words", sentence="Must be the user's own words.", restricts=True)
    accepts_handle: bool = _row(
        "x-accepts-handle", "boolean",
        'A call may name an earlier result instead: `{"$result": "r-…", "path": "papers[*].id"}`.',
        phrase="or a handle",
        sentence='Or part of an earlier result: {"$result": handle, "path": "papers[*].id"}.',
        aliases=("Accept Handle", "Accepts Handles", "Takes Handle"))
    sent_in: str | None = _row(
        "x-sent-in", "text",
        "Where a web service gets the argument: `path`, `query`, `header`, `cookie`, `body`, "
        "`form`, each with another name after it if the service has one, or `whole body`. In a "
        "query or form, `as commas`, `as brackets` or `as json` may follow.")
    to_model: tuple[str, ...] | None = _row(
        "x-to-model", "list",
        "Of a result: the fields that a model sees. The rest is kept under a handle.",
        aliases=("To The Model", "Shown To Model", "Model Sees"))
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


KEYWORDS: Mapping[str, Keyword] = {
    each.name: replace(each.metadata["row"], name=each.name.replace("_", " ").title())
    for each in fields(Schema)
    if each.metadata
}
"""The keywords by their attribute, in the order of the documents."""
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


@dataclass(frozen=True)
class Parameter:
    """A named value of a tool, a skill or an object."""

    name: str
    """As the author wrote it."""
    shape: Schema
    """The allowed values."""
    required: bool = False


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


_EXACT = 2**53
"""Up to this value a float represents every whole number exactly."""


def plain_numbers(value: Any) -> Any:
    """Convert whole floats to integers, at any depth, so that `1.0` and `1` are equal in JSON."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT else value
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
    if shape.items is not None or shape.types == ARRAY:
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
