"""Read JSON Schema as parameters and shapes; the report notes every part that can't be kept."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from toolmd._import.flatten import (
    MAX_DEPTH,
    SHAPED,
    Flattener,
    TellUnheld,
    types_of,
    without_handle,
)
from toolmd._import.names import parameter_name
from toolmd._import.report import shown
from toolmd._types.call_spec import Rule
from toolmd._types.schema import JSON_TYPES, KEYWORDS, Parameter, Schema
from toolmd._validation import are_apart, pattern_fault, problems
from toolmd._validation.identity import identity

_STRICT = {"exclusiveMinimum": (">", "above"), "exclusiveMaximum": ("<", "below")}
_STEP = "multipleOf"
_WORDS = (*_STRICT, _STEP)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = frozenset(
    "as break const continue else false for function if import in let loop namespace null "
    "package return true var void while".split()
)
"""The words that CEL does not read as names."""


class Bound(NamedTuple):
    """A bound of the value at a path such as `order.lines[].price`."""

    path: str
    keyword: str
    value: Any


def bounds_of(flat: dict[str, Any], path: str) -> list[Bound]:
    """Return the bounds of a schema that may need a rule."""
    return [Bound(path, word, flat[word]) for word in _WORDS if flat.get(word) is not None]


def whole_bounds(flat: dict[str, Any]) -> dict[str, int]:
    """Return the exclusive bounds of an integer as the bounds of a parameter."""
    said: dict[str, int] = {}
    for (keyword, bound, step), nearer in zip(
        (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)),
        (max, min),
        strict=True,
    ):
        value = flat.get(keyword)
        if isinstance(value, int) and not isinstance(value, bool):
            said[bound] = nearer(flat.get(bound, value + step), value + step)
    return said


def rule_of(bound: Bound, parameters: Sequence[Parameter]) -> Rule | None:
    """Return the rule that enforces a bound; None if no expression can."""
    condition = _at(bound.path.split("."), parameters, "", bound)
    if condition is None:
        return None
    if bound.keyword == _STEP:
        return Rule(condition, f"{bound.path} must be a multiple of {bound.value}.")
    return Rule(condition, f"{bound.path} must be {_STRICT[bound.keyword][1]} {bound.value}.")


def _at(steps: list[str], fields: Sequence[Parameter], above: str, bound: Bound) -> str | None:
    """Return the condition for the value that the steps reach from the fields of an object."""
    name = steps[0].partition("[")[0]
    field = next((one for one in fields if one.name == name), None)
    own = name if above else name.replace("-", "_")
    if field is None or not _NAME.fullmatch(own) or own in _RESERVED:
        return None
    place = f"{above}.{own}" if above else own
    held = _within(field.shape, steps[0].count("[]"), place, steps[1:], bound)
    return held if held is None or field.required else f"!has({place}) || {held}"


def _within(
    shape: Schema, lists: int, place: str, steps: list[str], bound: Bound, depth: int = 0
) -> str | None:
    if lists:
        one = f"{place.partition('.')[0].rstrip('0123456789')}{depth + 1}"
        if shape.types != ("array",) or shape.items is None:
            return None
        held = _within(shape.items, lists - 1, one, steps, bound, depth + 1)
        return held and f"{place}.all({one}, {held})"
    if steps:
        is_object = shape.types == ("object",)
        return _at(steps, shape.properties or (), place, bound) if is_object else None
    return _compared(shape, place, bound)


def _compared(shape: Schema, place: str, bound: Bound) -> str | None:
    value = bound.value
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    if bound.keyword == _STEP:
        whole = shape.types == ("integer",) and isinstance(value, int)
        return f"{place} % {value} == 0" if whole else None
    return f"{place} {_STRICT[bound.keyword][0]} {value}" if shape.types == ("number",) else None


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


_OUTER = ("properties", "required", "additionalProperties", "patternProperties")

ReadShape = Callable[[dict[str, Any]], Schema]


def read_shapes(
    flat: Mapping[str, Any], path: str, flattener: Flattener, read: ReadShape
) -> dict[str, Any]:
    """Return the attributes of a Schema whose objects have several shapes; none without them.

    Fields next to the shapes become fields of each shape.
    """
    keyword = next((word for word in SHAPED if word in flat), None)
    if keyword is None:
        return {}
    outer = {word: flat[word] for word in _OUTER if word in flat} | {"type": "object"}
    said: dict[str, Any] = {}
    titles, found = [], []
    for branch in flat[keyword]:
        merged = flattener.merged(outer, branch, path)
        titles.append(str(merged.pop("title", "")))
        shape = read(merged)
        if shape.properties is None:
            flattener.tell(path, "a shape can't be read as an object with fields: any object")
            return {}
        if shape.has_default or shape.has_example:
            flattener.tell(path, "the default or example of a shape is not kept")
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
        flattener.tell(path, "a value that fits several shapes is rejected, though allowed there")
    return said


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
    "number": (int, float),
    "whole": int,
    "boolean": bool,
    "word": str,
    "text": str,
    "list": list,
}
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
    "$anchor deprecated readOnly writeOnly discriminator oneOf anyOf".split()
)


_MAX_VALUES = 2_000
"""The most values of a schema, at all depths: the file of a definition holds no more."""


class SchemaReader:
    """Reads the schemas of one document."""

    def __init__(self, root: Any, tell: TellUnheld) -> None:
        self.tell = tell
        self.flattener = Flattener(root, tell)
        self._shapes = 0
        self.rules: list[Rule] = []
        """Conditions over the arguments, for keywords that no field of a parameter can express."""
        self._collected: list[Bound] = []
        self.open = False
        """Whether the root allows other arguments explicitly."""
        self.silent = False
        """Whether the root does not mention other arguments, which JSON Schema reads as allowed."""

    def parameters(self, schema: Any) -> tuple[Parameter, ...]:
        """Read the schema of the arguments; raises ValueError unless they are an object."""
        flat = self.flattener.one_object(self.flattener.flat(schema, ""), "")
        types = types_of(flat)
        if "object" not in types and types:
            message = f"the arguments are {' or '.join(types)}, not an object"
            raise ValueError(message)
        self.open = flat.get("additionalProperties") is True
        self.silent = "additionalProperties" not in flat
        about = {key: flat[key] for key in ("title", "description") if flat.get(key)}
        self._unheld(flat, "", about)
        found = self._fields(flat, "", 0)
        self._choices(schema, {p.name for p in found if not p.required})
        self._bounds_as_rules(found)
        return found

    def result(self, schema: Any) -> Schema:
        """Read the schema of a result, which has no rules."""
        shape = self._shape(schema, "", 0)
        self._bounds_as_rules(())
        return shape

    def _shape(self, schema: Any, path: str, depth: int) -> Schema:
        self._shapes += 1
        if depth > MAX_DEPTH or self._shapes > _MAX_VALUES:
            deep = f"nested deeper than {MAX_DEPTH} levels: any value from here on"
            many = f"more than {_MAX_VALUES} values: any value from there on"
            self.tell(*((path, deep) if depth > MAX_DEPTH else ("", many)))
            return Schema()
        flat = without_handle(self.flattener.typed(self.flattener.flat(schema, path), path))
        said: dict[str, Any] = {"types": self._types(flat, path)}
        for keyword, (attribute, kind) in _KEPT.items():
            if (value := flat.get(keyword)) is not None:
                if isinstance(value, kind) and isinstance(value, bool) is (kind is bool):
                    said[attribute] = tuple(value) if isinstance(value, list) else value
                else:
                    self.tell(path, f"`{keyword}` is {value!r}, which can't be read")
        if not said.get("description") and isinstance(flat.get("title"), str):
            said["description"] = flat["title"]
        said |= self._nested(flat, path, depth)
        said |= self._bounds(flat, path, said["types"])
        if isinstance(flat.get("pattern"), str):
            said |= self._pattern(flat["pattern"], path)
        self._unheld(flat, path)
        return self._valued(flat, path, self._fitting(said, path))

    def _types(self, flat: dict[str, Any], path: str) -> tuple[str, ...]:
        types = types_of(flat)
        unknown = [name for name in types if name not in JSON_TYPES]
        if unknown:
            self.tell(path, f"not a JSON type: {', '.join(unknown)}; read as any value")
            return ()
        return tuple(dict.fromkeys(types))

    def _nested(self, flat: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if (items := flat.get("items")) is not None and items not in (True, {}):
            said["items"] = self._shape(items, f"{path}[]", depth + 1)
        shapes = read_shapes(flat, path, self.flattener, lambda one: self._shape(one, path, depth))
        if shapes:
            return said | shapes
        more = flat.get("additionalProperties")
        if flat.get("properties") or more is False:
            said["properties"] = self._fields(flat, f"{path}.", depth + 1)
            if more is not None and more is not False:
                self.tell(path, f"other fields are allowed there, and not here: {shown(more)}")
        elif isinstance(more, Mapping) and more:
            said["values"] = self._shape(more, f"{path}.*", depth + 1)
        return said

    def _fields(self, flat: dict[str, Any], prefix: str, depth: int) -> tuple[Parameter, ...]:
        properties = _mapping(flat.get("properties"))
        flat = {**flat, "required": [*(flat.get("required") or ()), *_required_by(properties)]}
        required = [name for name in flat.get("required") or () if isinstance(name, str)]
        made: dict[str, Parameter] = {}
        for name in dict.fromkeys([*properties, *required]):
            path = f"{prefix}{name}"
            own = parameter_name(name)
            if not own or own in made:
                self.tell(path, "a definition can't contain such a name: left out")
                continue
            if own != name:
                self.tell(
                    path,
                    f"renamed {own!r}: not a valid name; adapt the caller",
                )
            if name not in properties:
                self.tell(path, "required, but without a schema: read as any value")
            shape = self._shape(properties.get(name, {}), path, depth)
            made[own] = Parameter(name=own, shape=shape, required=name in required)
        return tuple(made.values())

    def _bounds(self, flat: dict[str, Any], path: str, types: Iterable[str]) -> dict[str, Any]:
        """Convert exclusive bounds of integers; collect those that only a rule can express."""
        found, said = bounds_of(flat, path), {}
        if set(types) - {"null"} == {"integer"}:
            said = whole_bounds(flat)
            found = [one for one in found if one.keyword == "multipleOf"]
        self._collected += found
        return said

    def _bounds_as_rules(self, parameters: tuple[Parameter, ...]) -> None:
        """Write each collected bound as a rule, or report that it is not kept."""
        for bound in self._collected:
            rule = rule_of(bound, parameters)
            if rule is None:
                self.tell(bound.path, f"`{bound.keyword} {shown(bound.value)}` is not kept")
            elif rule not in self.rules:
                self.rules.append(rule)
        self._collected.clear()

    def _rule(self, expression: str, message: str) -> None:
        self.rules.append(Rule(expression=expression, message=message))

    def _choices(self, schema: Any, optional: set[str]) -> None:
        """Read a root of several shapes (`required` in each branch) as a rule."""
        for keyword in ("anyOf", "oneOf"):
            branches = _mapping(schema).get(keyword)
            if not isinstance(branches, list):
                continue
            needs = [
                [n for n in self.flattener.flat(b, "").get("required") or () if n in optional]
                for b in branches
            ]
            if len(needs) > 1 and all(needs):
                self._one_of(needs, exactly=keyword == "oneOf")

    def _one_of(self, needs: list[list[str]], *, exactly: bool) -> None:
        sides = [" && ".join(f"has({name.replace('-', '_')})" for name in need) for need in needs]
        sides = [f"({side})" if "&&" in side else side for side in sides]
        words = " or ".join(" and ".join(need) for need in needs)
        if not exactly:
            self._rule(" || ".join(sides), f"Give {words}.")
        elif len(sides) == 2:  # noqa: PLR2004 - then a comparison says it
            self._rule(" != ".join(sides), f"Give {words}, not both.")
        else:
            self._rule(f"[{', '.join(sides)}].exists_one(s, s)", f"Give exactly one of {words}.")

    def _pattern(self, pattern: str, path: str) -> dict[str, Any]:
        """Convert a search pattern to a pattern of the whole text."""
        whole = whole_pattern(pattern)
        if fault := pattern_fault(whole):
            self.tell(path, f"the pattern is not kept: {fault}")
            return {}
        return {"pattern": whole}

    def _unheld(
        self, flat: Mapping[str, Any], path: str, about: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Note each keyword that is not kept, and what is `about` the whole."""
        unread = {key: one for key, one in flat.items() if key not in _READ and key not in _KEPT}
        if flat.get("description") and flat.get("title"):
            unread["title"] = flat["title"]
        examples = flat.get("examples")
        if isinstance(examples, list) and (more := examples["example" not in flat :]):
            unread["examples"] = more
        for keyword, value in {**unread, **about}.items():
            self.tell(path, f"`{keyword}` is not kept: {shown(value)}")
        if flat.get("deprecated") is True:
            self.tell(path, "the source calls it deprecated")

    def _fitting(self, said: dict[str, Any], path: str) -> dict[str, Any]:
        """Remove attributes that do not fit the type."""
        types = set(said["types"])
        for attribute, fits in _FITS.items():
            if types and attribute in said and not types.intersection(fits):
                word = KEYWORDS[attribute].word if attribute in KEYWORDS else attribute
                value = shown(said.pop(attribute)) if attribute in KEYWORDS else "left out"
                self.tell(path, f"`{word}` does not fit {' or '.join(said['types'])}: {value}")
        return said

    def _listed(self, values: list[Any], path: str, shape: Schema) -> Schema:
        """Add an enum; the one of an array that names its items is theirs."""
        items = shape.items or Schema(types=("string",))
        if shape.types == ("array",) and not any(problems(value, items) for value in values):
            self.tell(path, "the enum lists items instead of arrays: it is kept for the items")
            return replace(shape, items=replace(items, enum=tuple(values)))
        kept = [value for value in values if not problems(value, shape)]
        if left := [value for value in values if value not in kept]:
            self.tell(path, f"the enum's {shown(left)} is outside its own schema: left out")
        return replace(shape, enum=tuple(kept)) if kept else shape

    def _valued(self, flat: dict[str, Any], path: str, said: dict[str, Any]) -> Schema:
        """Add enum, default and example, each checked against the rest."""
        shape = Schema(**said)
        if isinstance(flat.get("enum"), list):
            shape = self._listed(flat["enum"], path, shape)
        examples = flat.get("examples")
        values = {"default": flat.get("default", _ABSENT)}
        first = examples[0] if isinstance(examples, list) and examples else _ABSENT
        values["example"] = flat.get("example", first)
        for attribute, value in values.items():
            if value is _ABSENT or (value is None and attribute == "default" and _no_null(shape)):
                continue
            if problems(value, shape):
                self.tell(path, f"the {attribute} {shown(value)} is outside the schema: left out")
            else:
                shape = replace(shape, **{attribute: value, f"has_{attribute}": True})
        return shape


_ABSENT: Any = object()
_FITS: Mapping[str, tuple[str, ...]] = {
    **{name: row.fits for name, row in KEYWORDS.items() if row.fits},
    "items": ("array",),
    "properties": ("object",),
    "values": ("object",),
    "one_of": ("object",),
}


def _required_by(properties: Mapping[str, Any]) -> list[str]:
    """Return the fields that say so themselves, as in JSON Schema's third draft."""
    return [name for name, field in properties.items() if _mapping(field).get("required") is True]


def _no_null(shape: Schema) -> bool:
    """Return whether a default of null means that there is no default."""
    return bool(shape.types) and "null" not in shape.types


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
