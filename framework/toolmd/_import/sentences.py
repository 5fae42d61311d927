"""Convert the sentences that an export wrote for missing keywords back to keywords."""

import json
import re
from collections.abc import Mapping
from typing import Any

from toolmd._types.schema import KEYWORDS, Keyword

_VALUES = {
    "whole": r"(?P<value>\d+)",
    "word": r"(?P<word>[a-z][a-z0-9-]*)",
    "text": r"(?P<word>[^.]{1,40})",
    "boolean": "",
}
"""The values of the kinds of fields that a sentence stands for."""


def _pattern(row: Keyword) -> str:
    if row.counts:
        return rf"At {row.compared} {_VALUES[row.kind]} {row.counts}s?\."
    return re.escape(row.sentence).replace(r"\{\}", _VALUES[row.kind])


_ROWS = {r.word: r for r in KEYWORDS.values() if r.kind in _VALUES and (r.sentence or r.counts)}
_SENTENCES: Mapping[str, str] = {
    **{word: _pattern(row) for word, row in _ROWS.items()},
    "default": r"Default: (?P<value>.*?)\.",
    "examples": r"Example: (?P<value>.+?)\.",
}


def keywords_back(schema: Any, *, strict: bool) -> Any:
    """Return a schema with the keywords that the last sentences of its descriptions stand for.

    Only strict mode lacks lengths, defaults and similar keywords; JSON Schema itself lacks units
    and verbatim values.
    """
    if isinstance(schema, list):
        return [keywords_back(part, strict=strict) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: {name: keywords_back(field, strict=strict) for name, field in value.items()}
        if key in {"properties", "$defs"} and isinstance(value, dict)
        else keywords_back(value, strict=strict)
        for key, value in schema.items()
        if key not in {"enum", "const", "default", "examples"}
    }
    made |= {k: schema[k] for k in ("enum", "const", "default", "examples") if k in schema}
    while isinstance(made.get("description"), str) and (found := _last(made, strict=strict)):
        keyword, value, rest = found
        made.setdefault(keyword, value)
        made["description"] = rest
    if made.get("description") == "":
        del made["description"]
    return made


def _last(schema: dict[str, Any], *, strict: bool) -> tuple[str, Any, str] | None:
    text = schema["description"]
    types = _types(schema)
    for keyword, pattern in _SENTENCES.items():
        if not strict and not keyword.startswith("x-"):
            continue
        fits = _ROWS[keyword].fits if keyword in _ROWS else ()
        match = re.search(rf"(?:^|(?<=\s)){pattern}\s*$", text, re.DOTALL)
        if match is None or (fits and types.isdisjoint(fits)) or keyword in schema:
            continue
        try:
            value = _value(keyword, match, types)
        except ValueError:
            continue
        return keyword, value, text[: match.start()].rstrip()
    return None


def _value(keyword: str, match: re.Match[str], types: set[str]) -> Any:
    groups = match.groupdict()
    if "word" in groups:
        return groups["word"]
    if "value" not in groups:
        return True
    if keyword == "default" and types - {"null"} == {"string"}:
        return groups["value"]  # a text is written without quotes
    value = json.loads(groups["value"])
    return [value] if keyword == "examples" else value


def _types(schema: dict[str, Any]) -> set[str]:
    branches = schema.get("anyOf")
    found: set[str] = set()
    for part in (schema, *(branches if isinstance(branches, list) else ())):
        named = part.get("type") if isinstance(part, dict) else None
        listed = named if isinstance(named, list) else [named]
        found |= {name for name in listed if isinstance(name, str)}
    return found


def nullable_back(schema: Any) -> Any:
    """Return a strict schema whose nullable properties are optional, as strict mode means them."""
    if isinstance(schema, list):
        return [nullable_back(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: value
        if key in {"enum", "const", "default", "examples", "properties"}
        else nullable_back(value)
        for key, value in schema.items()
    }
    if isinstance(schema.get("properties"), dict):
        fields: dict[str, Any] = {}
        needed = schema.get("required")
        needed, required = needed if isinstance(needed, list) else [], []
        for name, field in schema["properties"].items():
            bare = without_null(field)
            fields[name] = nullable_back(field if bare is None else bare)
            if bare is None and name in needed:
                required.append(name)
        made["properties"], made["required"] = fields, required
    return made


def without_null(schema: Any) -> Any:
    """Return the schema without its `null`; None if it has no null, or only null."""
    if not isinstance(schema, dict):
        return None
    branches = schema.get("anyOf")
    if isinstance(branches, list) and {"type": "null"} in branches:
        left = [branch for branch in branches if branch != {"type": "null"}]
        rest = {k: v for k, v in schema.items() if k != "anyOf"}
        if not left:
            return None
        return {**rest, **left[0]} if len(left) == 1 else {**rest, "anyOf": left}
    types = schema.get("type")
    if isinstance(types, list) and "null" in types and len(types) > 1:
        left = [name for name in types if name != "null"]
        bare = {**schema, "type": left[0] if len(left) == 1 else left}
        if isinstance(bare.get("enum"), list):
            bare["enum"] = [value for value in bare["enum"] if value is not None]
        return bare
    return None
