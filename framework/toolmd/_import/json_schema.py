"""Read JSON Schema as parameters and shapes; the report notes every part that can't be kept."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolmd._import.bounds import Bound, bounds_of, rule_of, whole_bounds
from toolmd._import.differences import shown
from toolmd._import.flat_types import types_of, without_handle
from toolmd._import.flatten import MAX_DEPTH, Flattener, TellUnheld
from toolmd._import.names import parameter_name
from toolmd._import.one_of import read_shapes
from toolmd._import.patterns import whole_pattern
from toolmd._types.call_spec import Rule
from toolmd._types.schema import JSON_TYPES, KEYWORDS, Parameter, Schema
from toolmd._validation import pattern_fault, problems

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
    "pattern exclusiveMinimum exclusiveMaximum multipleOf $schema $id $defs definitions $comment "
    "$anchor deprecated readOnly writeOnly discriminator oneOf anyOf".split()
)


class SchemaReader:
    """Reads the schemas of one document."""

    def __init__(self, root: Any, tell: TellUnheld) -> None:
        self.tell = tell
        self.flattener = Flattener(root, tell)
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
        self._unheld(flat, "")
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
        if depth > MAX_DEPTH:
            self.tell(path, f"nested deeper than {MAX_DEPTH} levels: any value from here on")
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

    def _unheld(self, flat: Mapping[str, Any], path: str) -> None:
        for keyword, value in flat.items():
            if keyword in _READ or keyword in _KEPT or keyword.startswith("x-"):
                continue
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
