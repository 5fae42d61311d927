"""Export function declarations for Gemini."""

from typing import Any

from toolmd._export.exported import Lose, Loss
from toolmd._export.function import Function, lose_exactness, loser
from toolmd._export.names import GEMINI
from toolmd._export.narrow import split
from toolmd._export.plain import compact, described, in_words

RULE = GEMINI


def item(function: Function, losses: list[Loss]) -> dict[str, Any]:
    """Return `{name, description, parametersJsonSchema}`."""
    lose = loser(losses, function.spec.name)
    lose_exactness(function.spec, lose)
    return {
        "name": function.name,
        "description": function.description,
        "parametersJsonSchema": _named(split(function.parameters), lose, ""),
    }


def _named(schema: dict[str, Any], lose: Lose, path: str) -> dict[str, Any]:
    """Return the schema without enums that Gemini can't express: it has only text and numbers."""
    shown = dict(schema)
    words = []
    if not all(_nameable(value) for value in shown.get("enum", ())):
        values = shown.pop("enum")
        words.append(in_words("enum", values))
        lose(path, f"enum {compact(values)}")
    if "properties" in shown:
        shown["properties"] = {
            name: _named(field, lose, f"{path}.{name}" if path else name)
            for name, field in shown["properties"].items()
        }
    if "items" in shown:
        shown["items"] = _named(shown["items"], lose, f"{path}[]")
    if isinstance(shown.get("additionalProperties"), dict):
        shown["additionalProperties"] = _named(shown["additionalProperties"], lose, f"{path}.*")
    if "anyOf" in shown:
        shown["anyOf"] = [_named(branch, lose, path) for branch in shown["anyOf"]]
    return described(shown, words)


def _nameable(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
