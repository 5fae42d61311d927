"""Read JSON Schema as parameters and shapes; the report notes every part that can't be kept."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from toolmd._import.flatten import SHAPED, Flat, Flattener, TellUnheld, types_of, without_handle
from toolmd._import.names import brief, parameter_name
from toolmd._parse.fields.table import UNSUPPORTED
from toolmd._parse.words import fold
from toolmd._types.call_spec import Rule
from toolmd._types.schema import KEYWORDS, Parameter, Schema
from toolmd._validation import are_apart, pattern_fault, problems
from toolmd._validation.keywords import identity

_STRICT = {"exclusiveMinimum": (">", "above"), "exclusiveMaximum": ("<", "below")}
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop namespace null "
    "package return true var void while".split()
)
"""The words that CEL does not read as names."""


class Place(NamedTuple):
    """How an expression reaches a value of the arguments."""

    at: str
    """The value; empty for the arguments themselves."""
    condition: str = "{}"
    """A condition over the arguments with one over the value at `{}`."""

    def field(self, name: str, *, required: bool) -> "Place | None":
        """Return the place of a field; None where no expression can name it."""
        own = name if self.at else name.replace("-", "_")
        if not _NAME.fullmatch(own) or own in _RESERVED:
            return None
        at = f"{self.at}.{own}" if self.at else own
        inner = "{}" if required else f"!has({at}) || {{}}"
        return Place(at, self.condition.replace("{}", inner))

    def item(self) -> "Place":
        """Return the place of each item of a list."""
        first = self.at.partition(".")[0]
        stem = first.rstrip("0123456789")
        one = f"{stem}{int(first[len(stem) :] or 0) + 1}"
        return Place(one, self.condition.replace("{}", f"{self.at}.all({one}, {{}})"))


_ANCHORED = re.compile(r"\^(?P<whole>.*)(?<!\\)(?:\\\\)*\$", re.DOTALL)
_GROUPED = re.compile(r"\(\?:(?P<inner>.*)\)", re.DOTALL)
_ANY = r"[\s\S]*"
"""Any text, in words that every dialect of patterns has."""


def whole_pattern(pattern: str) -> str:
    """Return the pattern that whole texts match where a search finds the given one."""
    match = _ANCHORED.fullmatch(pattern)
    # Within its anchors it has no alternatives outside of groups.
    if match is None or not _is_balanced(whole := match["whole"], "|"):
        return f"{_ANY}(?:{pattern}){_ANY}"
    group = _GROUPED.fullmatch(whole)
    return group["inner"] if group is not None and _is_balanced(group["inner"]) else whole


def _is_balanced(pattern: str, parting: str = "") -> bool:
    """Return whether each group ends, and none of the parting signs is outside of groups."""
    depth = 0
    for sign in re.sub(r"\\.|\[[^\]]*\]", "", pattern, flags=re.DOTALL):
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (depth == 0 and sign == parting):
            return False
    return depth == 0


def _tag(shapes: list[Schema], declared: Any) -> tuple[str | None, list[Any]]:
    """Return the required field with one value of its own in each shape, and the values."""
    fields = [{p.name: p for p in shape.properties or ()} for shape in shapes]
    for name in sorted(fields[0], key=lambda name: name != declared):
        told = [one.get(name) for one in fields]
        values = [
            p.shape.enum[0]
            for p in told
            if p is not None and p.required and not p.shape.has_default
            if p.shape.enum is not None and len(p.shape.enum) == 1
        ]
        if len({identity(value) for value in values}) == len(shapes):
            return name, values
    return None, []


def _names(titles: list[str]) -> list[str]:
    """Return a valid name for each shape, no two the same."""
    names: list[str] = []
    for number, title in enumerate(titles, 1):
        name = parameter_name(title)[:56] or f"shape_{number}"
        names.append(f"{name}_{number}" if name in names else name)
    return names


_VALUES: Mapping[str, type | tuple[type, ...]] = {
    "number": (int, float), "whole": int, "boolean": bool, "word": str, "format": str, "text": str,
    "phrase": str, "list": list,
}  # fmt: skip
"""The JSON values of each kind of field; a pattern and an example are read apart."""
_KEPT: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "description": ("description", str),
    **{
        row.word: (name, _VALUES[row.kind])
        for name, row in KEYWORDS.items()
        if row.kind in _VALUES and name != "discriminator"
    },
}
_READ = frozenset(
    "type enum default examples example title properties required items additionalProperties "
    "pattern exclusiveMinimum exclusiveMaximum multipleOf $schema $defs definitions "
    "$anchor deprecated readOnly writeOnly discriminator oneOf anyOf x-required".split()
)
_OUTER = ("properties", "required", "additionalProperties", "patternProperties")
_MAX_VALUES = 2_000
"""The most values of a schema, at all depths: the file of a definition holds no more."""
_MAX_LOST = 200
"""The characters of a restriction that a draft names, and that nothing enforces."""
_ABSENT: Any = object()
_FITS: Mapping[str, tuple[str, ...]] = {
    **{name: row.fits for name, row in KEYWORDS.items() if row.fits},
    "items": ("array",), **dict.fromkeys(("properties", "values", "one_of"), ("object",)),
}  # fmt: skip


_OF_NESTED = {"values": "additionalProperties", "one_of": "oneOf"}


class SchemaReader:
    """Reads the schemas of one document."""

    def __init__(self, root: Any, tell: TellUnheld) -> None:
        self.tell = tell
        self._flattener = Flattener(root, tell)
        self._shapes = 0
        self.rules: list[Rule] = []
        """Conditions over the arguments, for keywords that no field of a parameter can express."""
        self.lost = self._flattener.lost
        """What the source restricts, and neither a field nor a rule does."""
        self.open = False
        """Whether the root allows other arguments explicitly."""
        self.silent = False
        """Whether the root does not mention other arguments, which JSON Schema reads as allowed."""

    def parameters(self, schema: Any) -> tuple[Parameter, ...]:
        """Read the schema of the arguments; raises ValueError unless they are an object."""
        whole = self._flattener.flat(schema, "")
        flat = self._flattener.one_object(whole, "")
        types = types_of(flat)
        if "object" not in types and types:
            message = f"the arguments are {' or '.join(types)}, not an object"
            raise ValueError(message)
        self.open = flat.get("additionalProperties") is True
        self.silent = "additionalProperties" not in flat
        about = {key: flat[key] for key in ("title", "description") if flat.get(key)}
        self._unheld(flat, "", about)
        found = self._fields(flat, "", Place(""))
        optional = {one.name for one in found if not one.required}
        for keyword in SHAPED:
            needs = [[n for n in one.get("required") or () if n in optional]
                     for one in whole.get(keyword, ())]  # fmt: skip
            if len(needs) > 1 and all(needs):
                self._choose(needs, exactly=keyword == "oneOf")
        return found

    def result(self, schema: Any) -> Schema:
        """Read the schema of a result, which has no rules."""
        return self._shape(self._flattener.flat(schema, ""), "", None)

    def _shape(self, flat: Flat, path: str, place: Place | None) -> Schema:
        self._shapes += 1
        if self._shapes > _MAX_VALUES:
            self.tell("", f"more than {_MAX_VALUES} values: any value from there on")
            return Schema()
        flat = without_handle(self._flattener.add_type(flat, path))
        types = tuple(dict.fromkeys(types_of(flat)))
        said: dict[str, Any] = {"types": types}
        for keyword, (attribute, kind) in _KEPT.items():
            if (value := flat.get(keyword)) is not None:
                if isinstance(value, kind) and isinstance(value, bool) is (kind is bool):
                    said[attribute] = tuple(value) if isinstance(value, list) else value
                else:
                    self.tell(path, f"`{keyword}` is {value!r}, which can't be read")
        if not said.get("description") and isinstance(flat.get("title"), str):
            said["description"] = flat["title"]
        said |= self._read_inner(flat, path, place if types in {("object",), ("array",)} else None)
        said |= self._bounds(flat, path, types, place)
        if isinstance(flat.get("pattern"), str):
            whole = whole_pattern(flat["pattern"])
            if fault := pattern_fault(whole):
                self.tell(path, f"the pattern is not kept: {fault}")
                self._lose(path, "pattern", flat["pattern"])
            else:
                said["pattern"] = whole
        self._unheld(flat, path)
        for attribute, fits in _FITS.items():
            if types and attribute in said and not {*types}.intersection(fits):
                row = KEYWORDS.get(attribute)
                word = row.word if row else _OF_NESTED.get(attribute, attribute)
                value = flat.get("anyOf" if word not in flat else word, said[attribute])
                self.tell(path, f"`{word}` does not fit {' or '.join(types)}: {brief(value)}")
                del said[attribute]
        return self._add_values(flat, path, Schema(**said))

    def _read_inner(self, flat: Flat, path: str, place: Place | None) -> dict[str, Any]:
        """Return what a schema says of its items, its fields, its values and its shapes."""
        said: dict[str, Any] = {}
        if (items := flat.get("items")) is not None and items not in (True, {}):
            below = place.item() if place and types_of(flat) == ["array"] else None
            said["items"] = self._shape(items, f"{path}[]", below)
        if shapes := self._one_of(flat, path):
            return said | shapes
        more = flat.get("additionalProperties")
        if flat.get("properties") or more is False:
            said["properties"] = self._fields(flat, f"{path}.", place)
            if more is not None and more is not False:
                self.tell(path, f"other fields are allowed there, and not here: {brief(more)}")
        elif isinstance(more, dict) and more:
            said["values"] = self._shape(more, f"{path}.*", None)
        return said

    def _one_of(self, flat: Flat, path: str) -> dict[str, Any]:
        """Return what a schema says whose objects have several shapes; nothing without them.

        Fields next to the shapes become fields of each shape.
        """
        keyword = next((word for word in SHAPED if word in flat), None)
        if keyword is None:
            return {}
        outer = {word: flat[word] for word in _OUTER if word in flat} | {"type": "object"}
        said: dict[str, Any] = {}
        titles, found = [], []
        for branch in flat[keyword]:
            merged = self._flattener.merge(outer, branch, path)
            titles.append(str(merged.pop("title", "")))
            shape = self._shape(merged, path, None)
            if shape.properties is None:
                self.tell(path, "a shape can't be read as an object with fields: any object")
                return {}
            if shape.has_default or shape.has_example:
                self.tell(path, "the default or example of a shape is not kept")
            said |= {flag: True for flag in ("sensitive", "verbatim") if getattr(shape, flag)}
            found.append(Schema(("object",), shape.description, properties=shape.properties))
        declared = flat.get("discriminator")
        field = declared.get("propertyName") if isinstance(declared, Mapping) else None
        tag, values = _tag(found, field)
        if tag is not None:
            said["discriminator"] = tag
            titles = [v if isinstance(v, str) and parameter_name(v) == v else t
                      for v, t in zip(values, titles, strict=True)]  # fmt: skip
        said["one_of"] = tuple(map(Parameter, _names(titles), found))
        if keyword == "anyOf" and not are_apart(Schema(**said)):
            self.tell(path, "a value that fits several shapes is rejected, though allowed there")
        return said

    def _fields(self, flat: Flat, prefix: str, place: Place | None) -> tuple[Parameter, ...]:
        properties: Mapping[str, Flat] = flat.get("properties") or {}
        required = list(flat.get("required") or ())
        required += [name for name, one in properties.items() if one.get("x-required")]
        made: dict[str, Parameter] = {}
        for name in dict.fromkeys([*properties, *required]):
            path, own, needed = f"{prefix}{name}", parameter_name(name), name in required
            if not own or own in made:
                self.tell(path, "a definition can't contain such a name: left out")
                continue
            if own != name:
                self.tell(path, f"renamed {own!r}: not a valid name; adapt the caller")
            if name not in properties:
                self.tell(path, "required, but without a schema: read as any value")
            below = place.field(own, required=needed) if place else None
            made[own] = Parameter(own, self._shape(properties.get(name, {}), path, below), needed)
        return tuple(made.values())

    def _bounds(
        self, flat: Flat, path: str, types: tuple[str, ...], place: Place | None
    ) -> dict[str, Any]:
        """Write exclusive bounds and steps: as the bounds of an integer, or as a rule."""
        said: dict[str, Any] = {}
        is_whole = {*types} - {"null"} == {"integer"}
        for word in (*_STRICT, "multipleOf"):
            if (value := flat.get(word)) is None:
                continue
            condition = message = ""
            if word == "multipleOf":
                if types == ("integer",) and isinstance(value, int) and place:
                    condition, message = f"{place.at} % {value} == 0", "a multiple of"
            elif is_whole and isinstance(value, int):
                least = word == "exclusiveMinimum"
                bound, inner = ("minimum", value + 1) if least else ("maximum", value - 1)
                said[bound] = (max if least else min)(flat.get(bound, inner), inner)
                continue
            elif types == ("number",) and place:
                sign, message = _STRICT[word]
                condition = f"{place.at} {sign} {value}"
            if not condition or not place:
                self.tell(path, f"`{word} {brief(value)}` is not kept")
                self._lose(path, word, value)
                continue
            whole = place.condition.replace("{}", condition)
            rule = Rule(whole, f"{path} must be {message} {value}.")
            self.rules += [] if rule in self.rules else [rule]
        return said

    def _choose(self, needs: list[list[str]], *, exactly: bool) -> None:
        """Write a root of several shapes (`required` in each branch) as a rule."""
        sides = [" && ".join(f"has({name.replace('-', '_')})" for name in need) for need in needs]
        sides = [f"({side})" if "&&" in side else side for side in sides]
        words = " or ".join(" and ".join(need) for need in needs)
        if not exactly:
            rule = Rule(" || ".join(sides), f"Give {words}.")
        elif len(sides) == 2:  # noqa: PLR2004 - then a comparison says it
            rule = Rule(" != ".join(sides), f"Give {words}, not both.")
        else:
            rule = Rule(f"[{', '.join(sides)}].exists_one(s, s)", f"Give exactly one of {words}.")
        self.rules.append(rule)

    def _unheld(
        self, flat: Flat, path: str, about: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Note each keyword that is not kept, and what is `about` the whole."""
        unread = {key: one for key, one in flat.items() if key not in _READ and key not in _KEPT}
        if flat.get("description") and flat.get("title"):
            unread["title"] = flat["title"]
        examples = flat.get("examples")
        if isinstance(examples, list) and (more := examples["example" not in flat :]):
            unread["examples"] = more
        for keyword, value in {**unread, **about}.items():
            self.tell(path, f"`{keyword}` is not kept: {brief(value)}")
            if fold(keyword) in UNSUPPORTED:
                self._lose(path, keyword, value)
        if flat.get("deprecated") is True:
            self.tell(path, "the source calls it deprecated")

    def _lose(self, path: str, keyword: str, value: Any) -> None:
        text = f"{path} {keyword} {brief(value)[:_MAX_LOST]}".strip()
        self.lost.append(text.replace("`", "'").replace("<!--", ""))

    def _add_values(self, flat: Flat, path: str, shape: Schema) -> Schema:
        """Add enum, default and example, each checked against the rest."""
        if isinstance(flat.get("enum"), list):
            shape = self._add_enum(flat["enum"], path, shape)
        examples = flat.get("examples")
        first = examples[0] if isinstance(examples, list) and examples else _ABSENT
        values = {"default": flat.get("default", _ABSENT), "example": flat.get("example", first)}
        for attribute, value in values.items():
            takes_null = not shape.types or "null" in shape.types
            if value is _ABSENT or (value is None and attribute == "default" and not takes_null):
                continue
            if problems(value, shape):
                self.tell(path, f"the {attribute} {brief(value)} is outside the schema: left out")
            else:
                shape = replace(shape, **{attribute: value, f"has_{attribute}": True})
        return shape

    def _add_enum(self, values: list[Any], path: str, shape: Schema) -> Schema:
        """Add an enum; the one of an array that names its items is theirs."""
        items = shape.items or Schema(types=("string",))
        if shape.types == ("array",) and not any(problems(value, items) for value in values):
            self.tell(path, "the enum lists items instead of arrays: it is kept for the items")
            return replace(shape, items=replace(items, enum=tuple(values)))
        kept = [value for value in values if not problems(value, shape)]
        if left := [value for value in values if value not in kept]:
            self.tell(path, f"the enum's {brief(left)} is outside its own schema: left out")
        return replace(shape, enum=tuple(kept)) if kept else shape
