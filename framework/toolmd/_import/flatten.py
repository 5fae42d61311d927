"""Resolve JSON Schema's references, unions and merges to one plain schema, at every depth."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from toolmd._import.names import brief
from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._types.field import JsonType
from toolmd._types.schema import JSON_TYPES, KEYWORDS, UPPER, words_of
from toolmd._validation.words import type_of

SHAPED = ("oneOf", "anyOf")
"""The keywords of a flat schema whose objects have several shapes."""
_OF_OBJECT = ("properties", "required", "additionalProperties", "patternProperties",
              "discriminator", *SHAPED)  # fmt: skip
_OF_TYPE: Mapping[JsonType, tuple[str, ...]] = {
    "string": words_of("string"),
    "number": (*words_of("number"), "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": (*words_of("array"), "items", "prefixItems", "contains"),
    "object": (*words_of("object"), *_OF_OBJECT),
}
_OWNER = {keyword: name for name, keywords in _OF_TYPE.items() for keyword in keywords}
MAX_DEPTH, MAX_SHAPES, _MAX_VALUES = 16, 128, 20_000
_COMBINING = ("allOf", "anyOf", "oneOf")
_WORDS = frozenset({"description", "title", "default", "examples", "example", "deprecated"})
_LEAST = ("exclusiveMinimum", *(KEYWORDS[low].word for low in UPPER))
_MOST = ("exclusiveMaximum", *(KEYWORDS[high].word for high in UPPER.values()))

Flat = dict[str, Any]
TellUnheld = Callable[[str, str], None]
"""Reports a guess or a loss: the dotted path, and a description."""


def list_of(value: Any) -> list[Any]:
    """Return a list as it is, one value as a list, and None as an empty one."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a flat schema names, or that its keywords and values imply."""
    if "type" in schema:
        return [name for name in list_of(schema["type"]) if isinstance(name, str)]
    if "enum" in schema:
        return list(dict.fromkeys(type_of(value) for value in list_of(schema["enum"])))
    implied = {_OWNER[keyword] for keyword in schema if keyword in _OWNER}
    return [name for name in _OF_TYPE if name in implied]


def _are_all(values: list[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: bool(value) and _are_all(list_of(value), str),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "required": lambda value: isinstance(value, list) and _are_all(value, str),
    "properties": lambda value: isinstance(value, Mapping),
    "items": lambda value: isinstance(value, (Mapping, bool)),
    **dict.fromkeys((*_LEAST, *_MOST, "multipleOf"), _are_numbers),
    **dict.fromkeys(_COMBINING, lambda value: isinstance(value, list) and bool(value)),
}
"""The type that the value of a keyword must have, so that the rest can rely on it."""


class Flattener:
    """Resolves the schemas of one document; nothing outside of it is fetched."""

    def __init__(self, root: Any, tell: TellUnheld) -> None:
        self.root = root
        self.tell = tell
        self._values = 0
        self.lost: list[str] = []
        """What it could not keep of what restricts."""

    def flat(self, schema: Any, path: str, seen: tuple[str, ...] = (), depth: int = 0) -> Flat:
        """Return the schema without `$ref`, `allOf`, `const` and `nullable`, at every depth.

        `anyOf` and `oneOf` stay only where they list two or more shapes of an object.

        Args:
            schema: Any value; what is no schema is reported, and allows any value.
            path: Its dotted path, for the report.
            seen: The references that led to it: so a cycle ends.
            depth: Its level.
        """
        self._values += 1
        if schema is True or self._values > _MAX_VALUES or depth > MAX_DEPTH + 1:
            if self._values > _MAX_VALUES:
                # Schemas that name each other in several places grow with each level.
                self.tell("", f"more than {_MAX_VALUES} values: any value from there on")
            elif depth > MAX_DEPTH + 1:
                self.tell(path, f"nested deeper than {MAX_DEPTH} levels: any value from here on")
            return {}
        if not isinstance(schema, Mapping):
            self.tell(path, "the schema allows no value here; read as any value")
            return {}
        schema = _with_items(self._sound(schema, path))
        plain = {k: v for k, v in schema.items() if k not in {"$ref", "const", *_COMBINING}}
        self._flatten_below(plain, path, seen, depth + 1)
        if "const" in schema:
            if "enum" in plain:
                self.tell(path, f"`enum` is not kept beside `const`: {brief(plain['enum'])}")
            plain["enum"] = [schema["const"]]
        if "$ref" in schema:
            plain = self.merge(self._resolve(schema["$ref"], path, seen, depth), plain, path)
        for branch in list_of(schema.get("allOf")):
            plain = self.merge(plain, self.flat(branch, path, seen, depth), path)
        for keyword in ("anyOf", "oneOf"):
            if branches := list_of(schema.get(keyword)):
                flat = [self.add_type(self.flat(one, path, seen, depth), path) for one in branches]
                united = self._unite(keyword, flat, list(map(_title_of, branches)), plain, path)
                plain = self.merge(united, plain, path)
        if plain.pop("nullable", False):
            plain = self._either([plain, {"type": "null"}], path)
        return plain

    def _flatten_below(self, plain: Flat, path: str, seen: tuple[str, ...], depth: int) -> None:
        """Flatten the schemas of the fields, the items and the values of a schema."""
        if "properties" in plain:
            plain["properties"] = {
                name: self.flat(field, f"{path}.{name}" if path else name, seen, depth)
                for name, field in plain["properties"].items()
            }
        if plain.get("items", True) is not True:
            plain["items"] = self.flat(plain["items"], f"{path}[]", seen, depth)
        if isinstance(plain.get("additionalProperties"), Mapping):
            values = self.flat(plain["additionalProperties"], f"{path}.*", seen, depth)
            plain["additionalProperties"] = values

    def add_type(self, flat: Flat, path: str) -> Flat:
        """Return a flat schema with the type that its keywords imply, and a note on it."""
        types = types_of(flat)
        if {"type", "enum"} & set(flat) or not types or types == ["object"]:
            return flat
        self.tell(path, f"no type in the source: {' or '.join(types)}, from its other words")
        return {**flat, "type": types}

    def one_object(self, flat: Flat, path: str) -> Flat:
        """Return a flat schema with the shapes of an object joined to one."""
        for keyword in SHAPED:
            if keyword in flat:
                rest = {k: v for k, v in flat.items() if k not in {keyword, "discriminator"}}
                flat = self.merge(self._either(flat[keyword], path), rest, path)
        return flat

    def _unite(
        self, keyword: str, branches: list[Flat], names: list[Flat], plain: Flat, path: str
    ) -> Flat:
        """Return one schema for a union; its object shapes stay apart if there are several."""
        nested = any(inner in branch for branch in branches for inner in SHAPED)
        flat = [name | one for name, branch in zip(names, branches, strict=True)
                for one in _expand(branch)]  # fmt: skip
        shapes = [{**one, "type": "object"} for one in flat if _is_shape(one, plain)]
        distinct = keyword == "anyOf" or nested
        shapes = [one for at, one in enumerate(shapes) if not (distinct and one in shapes[:at])]
        others = [one for one in flat if not _is_shape(one, plain)]
        if len(shapes) > MAX_SHAPES:
            self.tell(path, f"more than {MAX_SHAPES} shapes: read as any object")
            return {"type": "object"}
        if len(shapes) < 2:  # noqa: PLR2004 - a choice
            if keyword == "oneOf" and any(_share(*two) for two in combinations(branches, 2)):
                self.tell(path, "a value that fits several shapes is accepted, though not there")
            return self._either(branches, path)
        if any("object" in types_of(one) or not types_of(one) for one in others):
            self.tell(path, "one of several shapes allows any object: read as any object")
            return self._either([{"type": "object"}, *map(_without_shape, others)], path)
        nullable = [{"type": "null"}] if any("null" in types_of(one) for one in flat) else []
        made = self._either([{"type": "object"}, *others, *nullable], path)
        return {**made, "anyOf" if nested else keyword: shapes}

    def _sound(self, schema: Mapping[str, Any], path: str) -> Flat:
        """Remove the keywords whose values are not valid JSON Schema."""
        sound: Flat = {}
        for keyword, value in schema.items():
            kind = _KINDS.get(keyword)
            if keyword in {"required", "optional"} and isinstance(value, bool):
                if keyword == "required" and value:
                    sound["x-required"] = True  # a field of an older schema says it of itself
            elif kind is not None and not kind(value):
                self.tell(path, f"`{keyword}` can't be read: it is not kept")
            else:
                sound[keyword] = value
        if "type" not in sound or set(list_of(sound["type"])) <= set(JSON_TYPES):
            return sound
        # In the words of Python, TypeScript, Java or Gemini: `dict`, `OBJECT`.
        words = " | ".join(list_of(sound.pop("type")))
        try:
            said = read_type(words).json_schema
        except TypeProblem:
            self.tell(path, f"not a type: {words}; read as any value")
            return sound
        kinds = " or ".join(list_of(said.get("type"))) or "any value"
        self.tell("", f"`{words}` is read as {kinds}")
        return self.merge(said, sound, path)

    def _resolve(self, ref: Any, path: str, seen: tuple[str, ...], depth: int) -> Flat:
        if not isinstance(ref, str) or not ref.startswith("#"):
            self.tell(path, f"{ref!r} is outside the document and is not fetched: any value")
            return {}
        if ref in seen or len(seen) > MAX_DEPTH:
            self.tell(path, f"{ref!r} refers to itself; any value from here on")
            return {}
        target: Any = self.root
        for part in ref[1:].strip("/").split("/") if ref != "#" else ():
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping) and name in target:
                target = target[name]
            elif isinstance(target, list) and name.isdigit() and int(name) < len(target):
                target = target[int(name)]
            else:
                self.tell(path, f"{ref!r} does not exist: read as any value")
                return {}
        return self.flat(target, path, (*seen, ref), depth)

    def merge(self, one: Flat, two: Flat, path: str) -> Flat:
        """Return a schema for values that fit both schemas."""
        made = dict(one)
        for keyword, value in two.items():
            if keyword not in made:
                made[keyword] = value
            elif made[keyword] != value:
                made[keyword] = self._both(keyword, made[keyword], value, path)
        return made

    def _both(self, keyword: str, one: Any, two: Any, path: str) -> Any:
        if keyword in {"type", "enum"}:
            first, second = list_of(one), list_of(two)
            both = [value for value in first if value in second]
            if keyword == "type" and {"integer", "number"} <= {*first, *second}:
                both += [] if "integer" in both else ["integer"]
            if not both:
                said = f"no value fits both `{keyword}` {brief(one)} and {brief(two)}"
                self.tell(path, f"{said}: the first was taken")
                self.lost.append(f"{path} {said}")
            return both or one
        if keyword in {*_LEAST, *_MOST} and _are_numbers(one, two):
            return max(one, two) if keyword in _LEAST else min(one, two)
        if keyword == "required":
            return list(dict.fromkeys([*one, *two]))
        if keyword == "properties":
            return _join(one, two, path, self.merge)
        if keyword == "additionalProperties" and False in (one, two):
            return False
        if keyword == "items" and isinstance(one, dict) and isinstance(two, dict):
            return self.merge(one, two, f"{path}[]")
        self.tell(path, f"of two `{keyword}` the last one was taken, and not {brief(one)}")
        return two

    def _either(self, branches: Sequence[Flat], path: str) -> Flat:
        """Return one schema for values of any of the branches, as closely as possible."""
        made = dict(branches[0])
        for branch in branches[1:]:
            made = self._wider(made, branch, path)
        return made

    def _wider(self, one: Flat, two: Flat, path: str) -> Flat:
        types, others = types_of(one), types_of(two)
        made: Flat = {}
        if types and others:
            made["type"] = list(dict.fromkeys([*types, *others]))
            if "number" in made["type"] and "integer" in made["type"]:
                made["type"].remove("integer")
        if "enum" in one and "enum" in two:
            made["enum"] = [*one["enum"], *(v for v in two["enum"] if v not in one["enum"])]
        elif "enum" in one or "enum" in two:
            listed, free = (one, others) if "enum" in one else (two, types)
            if free == ["null"]:
                made["enum"] = [*listed["enum"], *([] if None in listed["enum"] else [None])]
            else:
                self.tell(path, "an enum next to a type of any value: the enum is not kept")
        for keyword in dict.fromkeys([*one, *two]):
            if keyword not in {"type", "enum"}:
                self._widen(made, keyword, (one, types), (two, others), path)
        return made

    def _widen(
        self, made: Flat, keyword: str, one: tuple[Flat, list[str]], two: tuple[Flat, list[str]],
        path: str,
    ) -> None:  # fmt: skip
        """Add a keyword of one or both schemas to the schema for values of either."""
        has = [side for side in (one, two) if keyword in side[0]]
        values = [schema[keyword] for schema, _ in has]
        owner = _OWNER.get(keyword)
        speaks = [side for side in (one, two) if owner is None or _takes(side[1], owner)]
        both = len(has) > 1
        alone = owner is not None and not both and speaks == has
        if (both and values[0] == values[1]) or keyword in _WORDS or alone:
            made[keyword] = values[0]
            if both and values[0] != values[1]:
                self.tell(path, f"of two `{keyword}` the first was taken, not {brief(values[1])}")
        elif keyword == "required":
            needed = list_of(two[0].get(keyword))
            made[keyword] = [n for n in list_of(one[0].get(keyword)) if n in needed]
        elif keyword == "properties" and both:
            made[keyword] = _join(values[0], values[1], path,
                                    lambda a, b, at: self._either([a, b], at))  # fmt: skip
        elif keyword == "items" and both and _are_all(values, dict):
            made[keyword] = self._either(values, f"{path}[]")
        elif keyword != "additionalProperties" or any(isinstance(v, Mapping) for v in values):
            found = ", ".join(map(brief, values))
            self.tell(path, f"`{keyword}` is not the same in all shapes, and not kept: {found}")


def _join(
    one: Flat, two: Flat, path: str, join: Callable[[Flat, Flat, str], Flat]
) -> dict[str, Flat]:
    """Return the fields of both objects; `join` makes one schema of two."""
    made = dict(one)
    for name, field in two.items():
        if name in made and made[name] != field:
            made[name] = join(made[name], field, f"{path}.{name}" if path else name)
        else:
            made[name] = field
    return made


def _with_items(schema: Flat) -> Flat:
    """Return the schema of a tuple whose values have one type as that of a list of this length."""
    tuple_ = schema.get("prefixItems")
    if not isinstance(tuple_, list) or "items" in schema:
        return schema
    fixed = schema.get("minItems") == schema.get("maxItems") == len(tuple_)
    if not fixed or not tuple_ or any(one != tuple_[0] for one in tuple_):
        return schema
    return {**{k: v for k, v in schema.items() if k != "prefixItems"}, "items": tuple_[0]}


def _is_shape(schema: Flat, outer: Flat) -> bool:
    """Return whether a flat schema is an object with named fields, next to those around it."""
    types = types_of(schema)
    if "object" not in types or not {*types} <= {"object", "null"} or "enum" in schema:
        return False
    return any("properties" in one or one.get("additionalProperties") is False
               for one in (schema, outer))  # fmt: skip


def _expand(branch: Flat) -> list[Flat]:
    """Return the shapes of a branch that is a union itself, and the rest of it."""
    shapes = next((branch[inner] for inner in SHAPED if inner in branch), None)
    if shapes is None:
        return [branch]
    rest = [name for name in types_of(branch) if name != "object"]
    return [*shapes, *([{**_without_shape(branch), "type": rest}] if rest else [])]


def _without_shape(schema: Flat) -> Flat:
    return {k: v for k, v in schema.items() if k not in _OF_OBJECT}


def _share(one: Flat, two: Flat) -> bool:
    """Return whether a value may fit both flat schemas, by their types and enums."""
    if "enum" in one and "enum" in two:
        return any(value in two["enum"] for value in one["enum"])
    types, others = types_of(one), types_of(two)
    if not types or not others:
        return True
    return any(_takes(types, n) for n in others) or any(_takes(others, n) for n in types)


def _takes(types: list[str], owner: str) -> bool:
    return not types or owner in types or (owner == "number" and "integer" in types)


def _title_of(branch: Any) -> Flat:
    """Return the title that a reference gives to a branch without one."""
    ref = branch.get("$ref") if isinstance(branch, Mapping) else None
    return {"title": ref.rpartition("/")[2]} if isinstance(ref, str) else {}


def without_handle(flat: Flat) -> Flat:
    """Return the schema of a value that accepts a handle, without the handle's own fields."""
    if set(flat.get("properties") or ()) != {"$result", "path"}:
        return flat
    types = [name for name in types_of(flat) if name != "object"]
    if not types:
        return flat
    own = {"type", "properties", "required", "additionalProperties"}
    return {k: v for k, v in flat.items() if k not in own} | {
        "type": types, "x-accepts-handle": True,
    }  # fmt: skip
