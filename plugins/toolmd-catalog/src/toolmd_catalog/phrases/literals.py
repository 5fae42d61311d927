"""Objects as JavaScript and Python write them, read as data; nothing is run."""

import ast
import json
import re
from collections.abc import Iterable
from typing import Any, Literal

from toolmd import Schema
from toolmd.importing import read_value

JsonType = Literal["string", "number", "integer", "boolean", "object", "array", "null"]

_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|(?P<text>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\$])*`)"
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|(?P<word>[A-Za-z_$][\w$]*)"
    r"|(?P<sign>[{}\[\]:,])",
    re.DOTALL,
)
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "undefined": None,
    "True": True,
    "False": False,
    "None": None,
}
_MAX_DEPTH = 32
_MOST_FAILURES = 500
"""Brackets of one fence that may begin no literal before it counts as other code."""


def objects(code: str) -> list[Any]:
    """Return every outermost object literal in code, in any of the notations."""
    try:
        whole = json.loads(code)
    except (ValueError, RecursionError):
        return _within(code)
    return whole if isinstance(whole, list) else [whole]


def literal(code: str) -> list[Any]:
    """Return the value that code writes as a literal, in a list; empty where it is other code."""
    reader = _Reader(code, 0)
    try:
        value = reader.value(0)
    except ValueError:
        return []
    return [] if code[reader.at :].strip() else [value]


def _within(code: str) -> list[Any]:
    found: list[Any] = []
    at = failed = 0
    while at < len(code) and failed < _MOST_FAILURES:
        if code[at] in "{[":
            reader = _Reader(code, at)
            try:
                value = reader.value(0)
            except ValueError:
                at, failed = at + 1, failed + 1
                continue
            found += value if isinstance(value, list) else [value]
            at = reader.at
        else:
            at += 1
    return found


def json_type(value: Any) -> JsonType:
    """Return the JSON type of a value, `integer` for whole numbers."""
    names: dict[type, JsonType] = {bool: "boolean", int: "integer", float: "number", str: "string"}
    if value is None:
        return "null"
    return names.get(type(value), "array" if isinstance(value, list) else "object")


def json_types(values: Iterable[Any]) -> tuple[JsonType, ...]:
    """Return the JSON types of values, each once; `number` where some are whole and some not."""
    kinds = dict.fromkeys(map(json_type, values))
    if "number" in kinds:
        kinds.pop("integer", None)
    return tuple(kinds)


def boolean(text: str) -> bool | None:
    """Read yes or no; None where the text is neither."""
    value, is_one = read_value(text, Schema(types=("boolean",)))
    return value if is_one else None


def numeric(text: str) -> int | float | None:
    """Read a number; None where the text is none."""
    value, is_one = read_value(text, Schema(types=("number",)))
    return value if is_one else None


class _Reader:
    """Reads one literal from a place in the code."""

    def __init__(self, code: str, at: int) -> None:
        self.code, self.at = code, at

    def take(self) -> tuple[str, str]:
        """Return the next token's kind and text."""
        while True:
            match = _TOKEN.match(self.code, self.at)
            if match is None:
                message = "no literal"
                raise ValueError(message)
            self.at = match.end()
            if match.lastgroup:
                return match.lastgroup, match[0]

    def value(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            message = "nested too deep"
            raise ValueError(message)
        kind, text = self.take()
        if text == "{":
            return self._object(depth)
        if text == "[":
            return self._list(depth)
        if kind == "text":
            return _text(text)
        if kind == "number":
            return json.loads(text)
        if kind == "word" and text in _WORDS:
            return _WORDS[text]
        message = f"{text} is no literal"
        raise ValueError(message)

    def _object(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while True:
            kind, text = self.take()
            if text == "}":
                return made
            if kind not in {"text", "word", "number"}:
                message = f"{text} is no key"
                raise ValueError(message)
            key = _text(text) if kind == "text" else text
            self._expect(":")
            made[key] = self.value(depth + 1)
            if self._more("}"):
                return made

    def _list(self, depth: int) -> list[Any]:
        made: list[Any] = []
        while True:
            before = self.at
            if self.take()[1] == "]":
                return made
            self.at = before
            made.append(self.value(depth + 1))
            if self._more("]"):
                return made

    def _expect(self, sign: str) -> None:
        if self.take()[1] != sign:
            message = f"{sign} is missing"
            raise ValueError(message)

    def _more(self, end: str) -> bool:
        """Consume a comma or the end after a value; TypeScript's `as const` is ignored."""
        _, text = self.take()
        if text == "as":
            self.take()
            _, text = self.take()
        if text not in {",", end}:
            message = f"{text} follows a value"
            raise ValueError(message)
        return text == end


def _text(quoted: str) -> str:
    inside = quoted[1:-1]
    if "\\" not in inside:
        return inside
    try:
        return str(ast.literal_eval(quoted if quoted[0] != "`" else f'"""{inside}"""'))
    except (ValueError, SyntaxError):
        return inside
