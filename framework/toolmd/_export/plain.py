"""Convert a definition's schema to plain JSON Schema, without Toolmd's own keywords."""

import json
import re
from typing import Any

from toolmd._export.exported import Lose
from toolmd._types.schema import KEYWORDS

_FOREIGN = re.compile(
    r"\(\?[imsU]|\(\?-|\\[AzZQEC]|\[\[:|\\[pP][A-Z]",
)
"""Syntax of RE2 that JSON Schema's ECMA patterns lack."""


def plain(schema: dict[str, Any], lose: Lose, path: str = "") -> dict[str, Any]:
    """Return the schema with standard JSON Schema keywords only.

    Units and verbatim values (`x-unit`, `x-verbatim`) move into the description.
    """
    shown = {k: v for k, v in schema.items() if not k.startswith("x-")}
    if "properties" in shown:
        shown["properties"] = {
            name: plain(field, lose, _below(path, name))
            for name, field in shown["properties"].items()
        }
    if schema.get("x-accepts-handle"):
        shown = _or_handle(shown)
    if "items" in shown:
        shown["items"] = plain(shown["items"], lose, f"{path}[]")
    if isinstance(shown.get("additionalProperties"), dict):
        shown["additionalProperties"] = plain(
            shown["additionalProperties"], lose, _below(path, "*")
        )
    if "oneOf" in shown:
        shown["oneOf"] = [plain(one, lose, path) for one in shown["oneOf"]]
    words = []
    for keyword, row in _ROWS.items():
        if keyword.startswith("x-") and row.sentence and (value := schema.get(keyword)):
            words.append(in_words(keyword, value))
    if "pattern" in shown:
        pattern = _ecma(shown.pop("pattern"))
        if pattern is None:
            words.append(in_words("pattern", schema["pattern"]))
            lose(path, f"pattern {schema['pattern']}")
        else:
            shown["pattern"] = pattern
    return described(shown, words)


def _or_handle(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be a handle instead.

    An object of its own fields, or an Enum, stays: their handles are only told of in words.
    """
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if not types or "object" in types or "enum" in schema:
        return schema
    return {**schema, "type": [*types, "object"], **HANDLE_SHAPE}


HANDLE_SHAPE: dict[str, Any] = {
    "properties": {
        "$result": {"type": "string", "description": "The handle of an earlier result."},
        "path": {"type": "string", "description": "The part of it, such as `papers[*].id`."},
    },
    "required": ["$result"],
    "additionalProperties": False,
}
"""The fields of a handle, as an argument."""


def described(schema: dict[str, Any], words: list[str]) -> dict[str, Any]:
    """Return the schema with these sentences after its description, which is an early key."""
    if not words:
        return schema
    said = schema.get("description", "")
    if said and said[-1] not in ".!?:;":
        said += "."
    description = " ".join(part for part in (said, *words) if part)
    head = {k: schema[k] for k in ("type",) if k in schema}
    return {**head, "description": description} | {
        k: v for k, v in schema.items() if k not in {"type", "description"}
    }


_ROWS = {row.word: row for row in KEYWORDS.values()}


def in_words(keyword: str, value: Any) -> str:
    """Return a sentence that means the same as a keyword."""
    if keyword == "examples":
        return f"Example: {compact(value[0])}."
    if keyword == "enum":
        return f"One of {', '.join(compact(item) for item in value)}."
    said = value if isinstance(value, str) else compact(value)
    if keyword == "default":
        return f"Default: {said}."
    row = _ROWS[keyword]
    if row.sentence:
        return row.sentence.replace("{}", said)
    return f"At {row.compared} {row.size(value)}."


def compact(value: Any) -> str:
    """Return a JSON value on one line, as its author would write it."""
    return json.dumps(value, ensure_ascii=False)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _ecma(pattern: str) -> str | None:
    if _FOREIGN.search(pattern):
        return None
    return pattern.replace("(?P<", "(?<")
