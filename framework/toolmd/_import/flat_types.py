"""The types that a flat JSON Schema names or implies, and the object shapes of its unions."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._types.schema import JsonType, words_of

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
