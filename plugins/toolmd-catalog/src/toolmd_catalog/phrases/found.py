"""Gather one parameter, bit by bit, and make the Parameter of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pydantic import JsonValue

from toolmd import Parameter, Schema
from toolmd.importing import problems, read_value
from toolmd_catalog.phrases.hints import DESCRIPTION, HINTS, likely_type
from toolmd_catalog.phrases.literals import JsonType, boolean, json_type, json_types, numeric

AddNote = Callable[[str, str, int], None]
"""Adds a note: the parameter's path, the text, the line."""

_MOST_LISTED = 64
_ISO = "ISO 8601 may be a date or a date and time: no Format given"


class Range(NamedTuple):
    """A least or a greatest, of something that the text may name."""

    low: float | None
    high: float | None
    of: str = ""
    """`length`, `items`, `value`; empty where the text leaves it open."""


class Namesake(NamedTuple):
    """What the page shows of a parameter of the same name, of another tool."""

    types: tuple[JsonType, ...]
    tool: str


class Relation(NamedTuple):
    """`must be < systolic`: a comparison with another parameter."""

    sign: str
    other: str
    words: str


@dataclass(slots=True)
class ParameterFound:
    """One parameter, as far as it is read."""

    name: str
    line: int = 0
    label: str = ""
    """The words that stood for the name."""
    marked: bool = False
    """Whether the name stood as a name: in code, in bold, in a signature."""
    said: dict[str, Any] = field(default_factory=dict)
    """Fields of the Schema."""
    need: bool | None = None
    guessed_need: bool = False
    """Whether the need was taken from what is said of the others."""
    bounds: list[Range] = field(default_factory=list)
    default: str | None = None
    words: list[str] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    samples: list[Any] = field(default_factory=list)
    """The values that examples give it."""
    namesake: Namesake | None = None
    whole: JsonType = "integer"
    """The type that is guessed for whole numbers."""
    read: bool = False
    """Whether anything but the name was understood."""

    def take(self, other: "ParameterFound") -> None:
        """Fill what is still open here with what another place says of the same parameter."""
        if _vague(self.said) or _narrower(other.said, self.said):
            for key in ("types", "items", "properties", "enum", "values"):
                if key in other.said:
                    self.said[key] = other.said[key]
        elif "properties" in self.said and "properties" in other.said:
            self.said["properties"] = _described(self.said["properties"], other.said["properties"])
        for key, value in other.said.items():
            self.said.setdefault(key, value)
        self.bounds = self.bounds or other.bounds
        self.need = other.need if self.need is None else self.need
        self.default = other.default if self.default is None else self.default
        self.words += [w for w in other.words if w not in self.words]
        self.relations += [r for r in other.relations if r not in self.relations]
        self.show(other)
        self.read = self.read or other.read

    def show(self, other: "ParameterFound") -> None:
        """Keep the values that examples give it, unless some are known."""
        self.samples = self.samples or other.samples

    @property
    def is_untyped(self) -> bool:
        """Whether nothing that is said of it shows its type."""
        types, why = self.typed
        return not types or why in HINTS

    @property
    def typed(self) -> tuple[tuple[JsonType, ...], str]:
        """Its types, empty for any; and what they are guessed from, empty where they are said."""
        if "types" in self.said:
            return self.said["types"], ""
        if any("comma-separated" in words.lower() for words in self.words):
            return ("string",), "its comma-separated values"
        types, why = self._implied(self.said)
        if self.namesake is not None and why in HINTS - {DESCRIPTION}:
            return self.namesake.types, f"the parameter of {self.namesake.tool}"
        return tuple(self.whole if why and t == "integer" else t for t in types), why

    def parameter(self, note: AddNote) -> Parameter:
        """Return the parameter; note every guess."""
        for guess in self.guesses:
            note(self.name, guess, self.line)
        said = dict(self.said)
        said["types"], why = self.typed
        if why:
            kinds = " or ".join(said["types"])
            note(self.name, f"no type in the text: {kinds}, from {why}", self.line)
        for bound in self.bounds:
            self._bounded(said, bound, note)
        if said.pop("iso", False) and "format" not in said and "pattern" not in said:
            note(self.name, _ISO, self.line)
        text = ", ".join(words for words in self.words if words)
        if text:
            said["description"] = text[0].upper() + text[1:] if text[1:2].islower() else text
        shape = _fitting(said, lambda text: note(self.name, text, self.line))
        for inner in shape.properties or ():
            if "ISO 8601" in inner.shape.description and inner.shape.format is None:
                note(f"{self.name}.{inner.name}", _ISO, self.line)
        shape = self._with_default(shape, note)
        return Parameter(name=self.name, shape=shape, required=bool(self.need))

    def _implied(self, said: dict[str, Any]) -> tuple[tuple[JsonType, ...], str]:
        if "enum" in said:
            kinds = dict.fromkeys(json_type(value) for value in said["enum"])
            return tuple(kinds), ""
        if "format" in said or "pattern" in said or "iso" in said:
            return ("string",), ""
        if "items" in said or any(bound.of == "items" for bound in self.bounds):
            return ("array",), ""
        if any(bound.of == "length" for bound in self.bounds):
            return ("string",), ""
        shown = json_types(self.samples)
        if self.bounds:
            ends = [end for b in self.bounds for end in (b.low, b.high) if end is not None]
            whole = all(isinstance(end, int) for end in ends) and "number" not in shown
            return ("integer" if whole else "number",), "its range"
        if self.default is not None and boolean(self.default) is not None:
            return ("boolean",), "its default"
        if self.default is not None and (value := numeric(self.default)) is not None:
            return ("integer" if isinstance(value, int) else "number",), "its default"
        if shown:
            return shown, "the example"
        kind, why = likely_type(self.name, " ".join(self.words))
        return (kind,), why

    def _bounded(self, said: dict[str, Any], bound: Range, note: AddNote) -> None:
        """Put a bound where the type has a place for it."""
        types = said["types"]
        of = bound.of
        if not of:
            of = self._bound_of(said, bound)
            if of != "value":
                note(self.name, f"the range is read as that of its {of}", self.line)
        if of == "each" and "items" in said:
            held = {"minimum": bound.low, "maximum": bound.high}
            update = {key: end for key, end in held.items() if end is not None}
            said["items"] = replace(said["items"], **update)
            return
        low, high = _PLACES.get(of, _PLACES["value"])
        fits = _FITS[of] & set(types) if of in _FITS else True
        if not fits:
            ends = f"{bound.low if bound.low is not None else ''}–{bound.high or ''}"  # noqa: RUF001
            note(self.name, f"a range of its {of} ({ends}) does not fit the type", self.line)
            return
        for key, end in ((low, bound.low), (high, bound.high)):
            if end is not None:
                said[key] = end if of == "value" else int(end)

    def _bound_of(self, said: dict[str, Any], bound: Range) -> str:
        types = set(said["types"])
        if types & {"integer", "number"}:
            return "value"
        if "array" in types:
            items = said.get("items")
            numeric = items is not None and set(items.types) & {"integer", "number"}
            both = bound.low is not None and bound.high is not None
            return "each" if numeric and both else "items"
        return "length" if "string" in types else "value"

    def _with_default(self, shape: Schema, note: AddNote) -> Schema:
        if self.default is None:
            return shape
        text = self.default.strip()
        value: JsonValue
        value, fits = _everything(text, shape), True
        if value is not None:
            note(self.name, f"default {text!r} is read as every value there is", self.line)
        else:
            value, fits = read_value(text, shape)
        if not fits or problems(value, shape):
            note(self.name, f"the default {text!r} is no value of its type: left out", self.line)
            return shape
        return replace(shape, default=value, has_default=True)


_PLACES = {
    "value": ("minimum", "maximum"),
    "length": ("min_length", "max_length"),
    "items": ("min_items", "max_items"),
}
_FITS: dict[str, set[str]] = {
    "value": {"integer", "number"},
    "length": {"string"},
    "items": {"array"},
}


def _vague(said: dict[str, Any]) -> bool:
    """Return whether nothing is known of the type, or only that it is an object or a list."""
    if said.get("types", ()) in {(), ("object",), ("array",)}:
        fields = said.get("properties")
        typed = fields is not None and any(f.shape.types for f in fields)
        return not (typed or "items" in said or "values" in said)
    return False


def _described(own: tuple[Parameter, ...], other: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
    """Return an object's fields; those without a description take that of another place."""
    known = {inner.name: inner for inner in other}
    made = []
    for inner in own:
        more = known.get(inner.name)
        if more is not None and not inner.shape.types:
            made.append(replace(inner, shape=more.shape))
        elif more is not None and not inner.shape.description:
            shape = replace(inner.shape, description=more.shape.description)
            made.append(replace(inner, shape=shape))
        else:
            made.append(inner)
    return tuple(made)


def _narrower(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.get("types") == ("integer",) and other.get("types") == ("number",)


def _everything(text: str, shape: Schema) -> list[Any] | None:
    """Return every value of an array's items, where `all` means that and they are few."""
    if text.split(" ", 1)[0].lower() not in {"all", "every"} or shape.types != ("array",):
        return None
    items = shape.items
    if items is None:
        return None
    if items.enum is not None:
        return list(items.enum)
    low, high = items.minimum, items.maximum
    if items.types != ("integer",) or low is None or high is None or high - low > _MOST_LISTED:
        return None
    return list(range(int(low), int(high) + 1))


def _fitting(said: dict[str, Any], note: Callable[[str], None]) -> Schema:
    """Make the shape, without what does not speak of its type."""
    types = set(said["types"])
    for keys, fits in (
        (("pattern", "format", "verbatim"), {"string"}),
        (("items", "unique"), {"array"}),
        (("properties", "values"), {"object"}),
    ):
        for key in keys:
            if key in said and types and not types & fits:
                if key != "verbatim":
                    note(f"{key} does not fit its type, and is left out")
                said.pop(key)
    low, high = said.get("minimum"), said.get("maximum")
    if low is not None and high is not None and low > high:
        note(f"a range from {low} to {high} holds nothing: left out")
        said.pop("minimum"), said.pop("maximum")
    enum = said.pop("enum", None)
    shape = Schema(**said)
    if enum is None:
        return shape
    if shape.types == ("array",):
        items = shape.items or Schema(types=("string",))
        return replace(shape, items=replace(items, enum=tuple(enum)))
    kept = tuple(value for value in enum if not problems(value, shape))
    if len(kept) < len(enum):
        note(f"{len(enum) - len(kept)} values of the enum do not fit its type: left out")
    return replace(shape, enum=kept or None)
