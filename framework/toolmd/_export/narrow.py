"""Narrow a schema to the subset of a model's API: unions, and OpenAI's strict mode."""

from collections.abc import Mapping
from typing import Any

from toolmd._export.exported import Lose
from toolmd._export.function import add_sentences, compact, in_words, parts_of, with_parts
from toolmd._types.schema import JSON_TYPES, KEYWORDS, words_of
from toolmd._validation.words import type_of

_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    **{kind: words_of(kind) for kind in JSON_TYPES},
    "array": ("items", *words_of("array")),
    "object": ("properties", "required", "additionalProperties", *words_of("object")),
}
_STRICT_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_STRICT_KEEPS = frozenset(("minimum", "maximum", "pattern", "format", "minItems", "maxItems"))
_STRICT_LOSSES = (
    *(row.word for row in KEYWORDS.values() if row.fits and row.word not in _STRICT_KEEPS),
    "default",
    "examples",
)
_STRICT_DEPTH = 10
_STRICT_PROPERTIES = 5000
_STRICT_ENUM = 1000
"""Limit for the values of all enums together."""
_LONG_ENUM = (250, 15_000)
"""Above this number of values, an enum is limited to this many characters in total."""


class InexpressibleError(Exception):
    """Strict mode can't express this schema; the message names the part."""


def split(schema: dict[str, Any], union: str = "anyOf") -> dict[str, Any]:
    """Return the schema with `anyOf` in place of every list of types, at every depth.

    `union` is the target's keyword for the shapes of One Of.
    """
    shown = with_parts(schema, lambda part, _path: split(part, union))
    if "oneOf" in shown:
        return _shapes(shown, union)
    types = shown.get("type")
    if types is None and "enum" in shown:
        types = list(dict.fromkeys(type_of(value) for value in shown["enum"]))
        if len(types) == 1:
            return {"type": types[0], **shown}
    if not isinstance(types, list):
        return shown
    return {**_general(shown), "anyOf": _branches(shown, types)}


def _general(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords that belong to no type, such as the description."""
    owned = {keyword for keywords in _OF_TYPE.values() for keyword in keywords}
    return {k: v for k, v in schema.items() if k not in owned | {"type", "enum"}}


def _shapes(schema: dict[str, Any], union: str) -> dict[str, Any]:
    """Return a schema of several object shapes; what tells them apart is in each of them."""
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    others = [t for t in types if t != "object" and not (t == "integer" and "number" in types)]
    shapes = [one for one in schema["oneOf"] if "properties" in one]
    general = {k: v for k, v in _general(schema).items() if k not in {"oneOf", "discriminator"}}
    return {**general, union: [*shapes, *_branches(schema, others)]}


def _branches(schema: dict[str, Any], types: list[str]) -> list[dict[str, Any]]:
    branches = []
    for name in types:
        branch: dict[str, Any] = {"type": name}
        if "enum" in schema:
            branch["enum"] = [v for v in schema["enum"] if _has_type(v, name)]
            if not branch["enum"]:
                continue
        branch |= {k: schema[k] for k in _OF_TYPE[name] if k in schema}
        branches.append(branch)
    return branches


def _has_type(value: Any, name: str) -> bool:
    kind = type_of(value)
    return kind == name or (name == "number" and kind == "integer")


def strict(schema: dict[str, Any], lose: Lose) -> dict[str, Any]:
    """Return the split schema for strict mode: closed, every property required.

    An optional property becomes nullable instead. Raises InexpressibleError.
    """
    if schema.get("additionalProperties") is not False:
        message = "unknown parameters are allowed"
        raise InexpressibleError(message)
    narrowed = _strict(schema, lose, "", 1)
    parts = list(parts_of(narrowed))
    if sum(len(part.get("properties", ())) for part in parts) > _STRICT_PROPERTIES:
        message = f"more than {_STRICT_PROPERTIES} properties"
        raise InexpressibleError(message)
    if sum(len(part.get("enum", ())) for part in parts) > _STRICT_ENUM:
        message = f"more than {_STRICT_ENUM} values in all enums together"
        raise InexpressibleError(message)
    return narrowed


def _strict(schema: dict[str, Any], lose: Lose, path: str, depth: int) -> dict[str, Any]:
    _expressible(schema, path, depth)
    shown = dict(schema)
    words = []
    for keyword in (*_STRICT_LOSSES, "format"):
        if keyword not in shown or (keyword == "format" and shown[keyword] in _STRICT_FORMATS):
            continue
        value = shown.pop(keyword)
        words.append(in_words(keyword, value))
        lose(path, keyword if keyword == "uniqueItems" else f"{keyword} {compact(value)}")
    fields = shown.get("properties", {})
    shown = {**shown, "properties": {}} if fields else shown
    shown = with_parts(shown, lambda part, at: _strict(part, lose, at, depth), path)
    if shown.get("type") == "object":
        shown |= _close({**shown, "properties": fields}, lose, path, depth)
    return add_sentences(shown, words)


def _expressible(schema: dict[str, Any], path: str, depth: int) -> None:
    where = f"'{path}'" if path else "the arguments"
    wrong, (most, longest) = "", _LONG_ENUM
    if "type" not in schema and "anyOf" not in schema:
        wrong = f"{where} may be anything"
    elif schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        wrong = f"{where} is an open object"
    elif depth > _STRICT_DEPTH:
        wrong = f"{where} is nested deeper than {_STRICT_DEPTH}"
    elif len(enum := schema.get("enum", ())) > most and sum(len(str(v)) for v in enum) > longest:
        wrong = f"{where} has more than {longest} characters in its values"
    if wrong:
        raise InexpressibleError(wrong)


def _close(schema: dict[str, Any], lose: Lose, path: str, depth: int) -> dict[str, Any]:
    required = schema.get("required", ())
    fields = {}
    for name, field in schema.get("properties", {}).items():
        narrowed = _strict(field, lose, f"{path}.{name}" if path else name, depth + 1)
        fields[name] = narrowed if name in required else nullable(narrowed)
    return {"properties": fields, "required": list(fields), "additionalProperties": False}


def nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with `null` as an additional type, the description kept outside."""
    inner = {k: v for k, v in schema.items() if k != "description"}
    outer = {k: v for k, v in schema.items() if k == "description"}
    branches = inner.get("anyOf", [inner])
    others = [one for one in branches if one.get("type") != "null"]
    return {**outer, "anyOf": [*others, {"type": "null"}]}
