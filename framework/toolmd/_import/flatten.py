"""Resolve JSON Schema's references, unions and merges to one plain schema."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

from toolmd._import.report import shown
from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._types.field import JsonType
from toolmd._types.schema import JSON_TYPES, KEYWORDS, UPPER, words_of

SHAPED = ("oneOf", "anyOf")
"""The keywords of a flat schema whose objects have several shapes."""
OF_OBJECT = ("properties", "required", "additionalProperties", "patternProperties",
              "discriminator", *SHAPED)  # fmt: skip
OF_TYPE: Mapping[JsonType, tuple[str, ...]] = {
    "string": words_of("string"),
    "number": (*words_of("number"), "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "array": (*words_of("array"), "items", "prefixItems", "contains"),
    "object": (*words_of("object"), *OF_OBJECT),
}
OWNER = {keyword: name for name, keywords in OF_TYPE.items() for keyword in keywords}


def with_items(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a tuple whose values have one type as that of a list of this length."""
    tuple_ = schema.get("prefixItems")
    if not isinstance(tuple_, list) or "items" in schema:
        return schema
    fixed = schema.get("minItems") == schema.get("maxItems") == len(tuple_)
    if not fixed or not tuple_ or any(one != tuple_[0] for one in tuple_):
        return schema
    return {**{k: v for k, v in schema.items() if k != "prefixItems"}, "items": tuple_[0]}


def is_shape(schema: Mapping[str, Any], outer: Mapping[str, Any]) -> bool:
    """Return whether a flat schema is an object with named fields, next to those around it."""
    types = types_of(schema)
    if "object" not in types or not {*types} <= {"object", "null"} or "enum" in schema:
        return False
    return any("properties" in one or one.get("additionalProperties") is False
               for one in (schema, outer))  # fmt: skip


def referred(branch: Any) -> dict[str, str]:
    """Return the title that a reference gives to a branch without one."""
    ref = branch.get("$ref") if isinstance(branch, Mapping) else None
    return {"title": ref.rpartition("/")[2]} if isinstance(ref, str) else {}


def expanded(branch: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the shapes of a branch that is a union itself, and the rest of it."""
    shapes = next((branch[inner] for inner in ("oneOf", "anyOf") if inner in branch), None)
    if shapes is None:
        return [branch]
    rest = [name for name in types_of(branch) if name != "object"]
    return [*shapes, *([{**without_shape(branch), "type": rest}] if rest else [])]


def overlap(branches: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a value may fit two of these flat schemas, by their types and enums."""
    return any(_share(one, two) for one, two in combinations(branches, 2))


def _share(one: Mapping[str, Any], two: Mapping[str, Any]) -> bool:
    if "enum" in one and "enum" in two:
        return bool(common(list_of(one["enum"]), list_of(two["enum"])))
    types, others = types_of(one), types_of(two)
    if not types or not others:
        return True
    return any(takes(types, n) for n in others) or any(takes(others, n) for n in types)


def without_shape(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in schema.items() if k not in OF_OBJECT}


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """Return the types that a flat schema names, or that its keywords and values imply."""
    if "type" in schema:
        return [name for name in list_of(schema["type"]) if isinstance(name, str)]
    if "enum" in schema:
        return list(dict.fromkeys(json_type(value) for value in list_of(schema["enum"])))
    implied = {OWNER[keyword] for keyword in schema if keyword in OWNER}
    return [name for name in OF_TYPE if name in implied]


def in_words_of_json(words: str) -> dict[str, Any] | None:
    """Return the schema of a type in Python's, TypeScript's or Java's words; None if it is none."""
    try:
        return read_type(words).json_schema
    except TypeProblem:
        return None


def json_type(value: Any) -> JsonType:
    """Return the JSON type of a value, `integer` for whole numbers."""
    names: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    if value is None:
        return "null"
    return names.get(type(value), "array" if isinstance(value, list) else "object")


def takes(types: list[str], owner: str) -> bool:
    return not types or owner in types or (owner == "number" and "integer" in types)


def common(one: list[Any], two: list[Any]) -> list[Any]:
    return [value for value in one if value in two]


def are_all(values: list[Any], kind: type) -> bool:
    return all(isinstance(value, kind) for value in values)


def are_numbers(*values: Any) -> bool:
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def narrower(one: list[Any], two: list[Any]) -> list[Any]:
    both = common(one, two)
    if "integer" in [*one, *two] and "number" in [*one, *two] and "integer" not in both:
        both.append("integer")
    return both


def list_of(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def without_handle(flat: dict[str, Any]) -> dict[str, Any]:
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


TellUnheld = Callable[[str, str], None]
"""Reports a guess or a loss: the dotted path, and a description."""

MAX_DEPTH, MAX_SHAPES, _MAX_REFERENCES = 16, 128, 4096
_COMBINING = ("allOf", "anyOf", "oneOf")
_WORDS = frozenset({"description", "title", "default", "examples", "example", "deprecated"})
_LEAST = ("exclusiveMinimum", *(KEYWORDS[low].word for low in UPPER))
_MOST = ("exclusiveMaximum", *(KEYWORDS[high].word for high in UPPER.values()))
_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "type": lambda value: bool(value) and are_all(list_of(value), str),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "required": lambda value: isinstance(value, list) and are_all(value, str),
    "properties": lambda value: isinstance(value, Mapping),
    "items": lambda value: isinstance(value, (Mapping, bool)),
    **dict.fromkeys((*_LEAST, *_MOST, "multipleOf"), are_numbers),
    **dict.fromkeys(_COMBINING, lambda value: isinstance(value, list) and bool(value)),
}
"""The type that the value of a keyword must have, so that the rest can rely on it."""


class _Reference(dict[str, Any]):
    """A schema with `$ref`, and the references that lead to it: so a cycle ends."""

    seen: tuple[str, ...] = ()


def _within(value: Any, seen: tuple[str, ...]) -> Any:
    """Return a schema whose references know through which others they were reached."""
    if not isinstance(value, Mapping):
        return value
    made = _Reference(value)
    made.seen = seen
    for keyword, below in value.items():
        if isinstance(below, list) and keyword in {*_COMBINING, "prefixItems"}:
            made[keyword] = [_within(one, seen) for one in below]
        elif isinstance(below, Mapping) and keyword == "properties":
            made[keyword] = {name: _within(one, seen) for name, one in below.items()}
        elif keyword in {"items", "additionalProperties"}:
            made[keyword] = _within(below, seen)
    return made


class Flattener:
    """Resolves the schemas of one document; nothing outside of it is fetched."""

    def __init__(self, root: Any, tell: TellUnheld) -> None:
        self.root = root
        self.tell = tell
        self._references = 0

    def flat(self, schema: Any, path: str) -> dict[str, Any]:
        """Return the schema without `$ref`, `allOf`, `const` and `nullable`.

        `anyOf` and `oneOf` stay only where they list two or more shapes of an object. The schemas
        below stay as they are: the caller flattens those that it reads.
        """
        if schema is True:
            return {}
        if not isinstance(schema, Mapping):
            self.tell(path, "the schema allows no value here; read as any value")
            return {}
        seen = schema.seen if isinstance(schema, _Reference) else ()
        schema = with_items(self._sound(schema, path))
        plain = {k: v for k, v in schema.items() if k not in {"$ref", "const", *_COMBINING}}
        if "const" in schema:
            if "enum" in plain:
                self.tell(path, f"`enum` is not kept beside `const`: {shown(plain['enum'])}")
            plain["enum"] = [schema["const"]]
        if "$ref" in schema:
            plain = self.merged(self._resolved(schema["$ref"], path, seen), plain, path)
        for branch in list_of(schema.get("allOf")):
            plain = self.merged(plain, self.flat(branch, path), path)
        for keyword in ("anyOf", "oneOf"):
            if branches := list_of(schema.get(keyword)):
                flat = [self.typed(self.flat(branch, path), path) for branch in branches]
                titles = [referred(branch) for branch in branches]
                united = self._united(keyword, flat, titles, plain, path)
                plain = self.merged(united, plain, path)
        if plain.pop("nullable", False):
            plain = self._either([plain, {"type": "null"}], path)
        return plain

    def typed(self, flat: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a flat schema with the type that its keywords imply, and a note on it."""
        types = types_of(flat)
        if {"type", "enum"} & set(flat) or not types or types == ["object"]:
            return flat
        self.tell(path, f"no type in the source: {' or '.join(types)}, from its other words")
        return {**flat, "type": types}

    def one_object(self, flat: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a flat schema with the shapes of an object joined to one."""
        for keyword in SHAPED:
            if keyword in flat:
                rest = {k: v for k, v in flat.items() if k not in {keyword, "discriminator"}}
                flat = self.merged(self._either(flat[keyword], path), rest, path)
        return flat

    def _united(
        self,
        keyword: str,
        branches: list[dict[str, Any]],
        titles: list[dict[str, str]],
        plain: dict[str, Any],
        path: str,
    ) -> dict[str, Any]:
        """Return one schema for a union; its object shapes stay apart if there are several."""
        nested = any(inner in branch for branch in branches for inner in SHAPED)
        named = zip(titles, branches, strict=True)
        flat = [title | one for title, branch in named for one in expanded(branch)]
        shapes = [{**one, "type": "object"} for one in flat if is_shape(one, plain)]
        distinct = keyword == "anyOf" or nested
        shapes = [one for at, one in enumerate(shapes) if not (distinct and one in shapes[:at])]
        others = [one for one in flat if not is_shape(one, plain)]
        if len(shapes) > MAX_SHAPES:
            self.tell(path, f"more than {MAX_SHAPES} shapes: read as any object")
            return {"type": "object"}
        if len(shapes) < 2:  # noqa: PLR2004 - a choice
            if keyword == "oneOf" and overlap(branches):
                self.tell(path, "a value that fits several shapes is accepted, though not there")
            return self._either(branches, path)
        if any("object" in types_of(one) or not types_of(one) for one in others):
            self.tell(path, "one of several shapes allows any object: read as any object")
            return self._either([{"type": "object"}, *map(without_shape, others)], path)
        nullable = [{"type": "null"}] if any("null" in types_of(one) for one in flat) else []
        made = self._either([{"type": "object"}, *others, *nullable], path)
        return {**made, "anyOf" if nested else keyword: shapes}

    def _sound(self, schema: Mapping[str, Any], path: str) -> dict[str, Any]:
        """Remove the keywords whose values are not valid JSON Schema."""
        sound: dict[str, Any] = {}
        for keyword, value in schema.items():
            kind = _KINDS.get(keyword)
            if keyword in {"required", "optional"} and isinstance(value, bool):
                continue  # a field of an older schema says it of itself
            if kind is not None and not kind(value):
                self.tell(path, f"`{keyword}` can't be read: it is not kept")
            else:
                sound[keyword] = value
        if "type" in sound and not set(list_of(sound["type"])) <= set(JSON_TYPES):
            return self._in_words_of_json(sound, path)
        return sound

    def _in_words_of_json(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """Read a type in the words of Python, TypeScript, Java or Gemini: `dict`, `OBJECT`."""
        words = " | ".join(list_of(schema.pop("type")))
        if (said := in_words_of_json(words)) is None:
            self.tell(path, f"not a type: {words}; read as any value")
            return schema
        kinds = " or ".join(list_of(said.get("type"))) or "any value"
        self.tell("", f"`{words}` is read as {kinds}")
        return self.merged(said, schema, path)

    def _resolved(self, ref: Any, path: str, seen: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(ref, str) or not ref.startswith("#"):
            self.tell(path, f"{ref!r} is outside the document and is not fetched: any value")
            return {}
        self._references += 1
        if self._references > _MAX_REFERENCES:
            # Schemas that name each other in several places grow with each level.
            self.tell("", f"more than {_MAX_REFERENCES} references: any value from there on")
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
        return self.flat(_within(target, (*seen, ref)), path)

    def merged(self, one: dict[str, Any], two: dict[str, Any], path: str) -> dict[str, Any]:
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
            narrow = narrower if keyword == "type" else common
            both = narrow(list_of(one), list_of(two))
            if not both:
                self.tell(path, f"no value fits both `{keyword}` {shown(one)} and {shown(two)}")
            return both
        if keyword in _LEAST and are_numbers(one, two):
            return max(one, two)
        if keyword in _MOST and are_numbers(one, two):
            return min(one, two)
        if keyword == "required":
            return list(dict.fromkeys([*list_of(one), *list_of(two)]))
        if keyword == "properties" and isinstance(one, Mapping) and isinstance(two, Mapping):
            return self._joined(one, two, path, self.merged)
        if keyword == "additionalProperties" and False in (one, two):
            return False
        if keyword == "items":
            below = f"{path}[]"
            return self.merged(self.flat(one, below), self.flat(two, below), below)
        self.tell(path, f"of two `{keyword}` the last one was taken, and not {shown(one)}")
        return two

    def _joined(
        self,
        one: Mapping[str, Any],
        two: Mapping[str, Any],
        path: str,
        join: Callable[[dict[str, Any], dict[str, Any], str], dict[str, Any]],
    ) -> dict[str, Any]:
        made = dict(one)
        for name, field in two.items():
            below = f"{path}.{name}" if path else name
            if name in made and made[name] != field:
                made[name] = join(self.flat(made[name], below), self.flat(field, below), below)
            else:
                made[name] = field
        return made

    def _either(self, branches: Sequence[dict[str, Any]], path: str) -> dict[str, Any]:
        """Return one schema for values of any of the branches, as closely as possible."""
        made = dict(branches[0])
        for branch in branches[1:]:
            made = self._wider(made, branch, path)
        return made

    def _wider(self, one: dict[str, Any], two: dict[str, Any], path: str) -> dict[str, Any]:
        types, others = types_of(one), types_of(two)
        made: dict[str, Any] = {}
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
        self,
        made: dict[str, Any],
        keyword: str,
        one: tuple[dict[str, Any], list[str]],
        two: tuple[dict[str, Any], list[str]],
        path: str,
    ) -> None:
        has = [side for side in (one, two) if keyword in side[0]]
        values = [schema[keyword] for schema, _ in has]
        owner = OWNER.get(keyword)
        speaks = [side for side in (one, two) if owner is None or takes(side[1], owner)]
        both = len(has) > 1
        alone = owner is not None and not both and speaks == has
        if (both and values[0] == values[1]) or keyword in _WORDS or alone:
            made[keyword] = values[0]
            if both and values[0] != values[1]:
                self.tell(path, f"of two `{keyword}` the first was taken, not {shown(values[1])}")
        elif keyword == "required":
            needed = list_of(two[0].get(keyword))
            made[keyword] = [n for n in list_of(one[0].get(keyword)) if n in needed]
        elif keyword == "properties" and both:
            made[keyword] = self._joined(
                values[0], values[1], path, lambda a, b, below: self._either([a, b], below)
            )
        elif keyword == "items" and both:
            below = f"{path}[]"
            made[keyword] = self._either([self.flat(v, below) for v in values], below)
        elif keyword != "additionalProperties" or any(isinstance(v, Mapping) for v in values):
            found = ", ".join(map(shown, values))
            self.tell(path, f"`{keyword}` is not the same in all shapes, and not kept: {found}")
