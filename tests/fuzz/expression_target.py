"""The invariants of expressions for any text: two kinds of error, and an answer in time."""

import datetime as dt
import json

from toolmd._expressions import (
    CheckedExpression,
    Checker,
    EvaluationError,
    ExpressionError,
    compile_expression,
)
from toolmd._types.schema import Parameter, Schema
from toolmd._validation import problems

TEXT = Schema(types=("string",))
SLOT = Schema(
    types=("object",),
    properties=(
        Parameter(name="time", shape=TEXT, required=True),
        Parameter(name="room", shape=Schema(types=("number",))),
        Parameter(name="tags", shape=Schema(types=("array",), items=TEXT)),
    ),
)
NAMES = {
    "slot": SLOT,
    "slots": Schema(types=("array",), items=SLOT),
    "date": TEXT,
    "count": Schema(types=("integer",)),
    "price": Schema(types=("number",)),
    "flag": Schema(types=("boolean",)),
    "loose": Schema(types=("object",)),
    "either": Schema(types=("string", "array")),
    "type": TEXT,
    "child-name": TEXT,
}
ROOM = {"time": "09:00", "room": 3.5, "tags": ["a", "", "é😀"]}
VALUES = {
    "slot": ROOM,
    "slots": [ROOM, {"time": "10:00", "room": 0}] * 20,
    "date": "2026-11-21",
    "count": 7,
    "price": 1e300,
    "flag": True,
    "loose": {"a": [1, None, {"b": -1}], "": "x" * 2000},
    "either": ["a"],
    "type": "t",
    "child-name": "Ann",
}
NOW = dt.datetime(2026, 11, 21, 7, 0, tzinfo=dt.UTC)
CHECKER = Checker(NAMES)


def one(data: bytes) -> None:
    """Check, compile and evaluate one expression."""
    source = data.decode(errors="replace").replace("\\ud800", "\ud800")
    checked = check(source)
    try:
        program = compile_expression(source, NAMES)
    except ExpressionError as error:
        assert checked is None, "a checked expression can't be compiled"
        placed(error, source)
        return
    assert checked is None or program.names <= NAMES.keys(), "it needs unknown names"
    for values in (VALUES, {}, {name: VALUES[name] for name in ("date", "count", "flag")}):
        try:
            given = program.evaluate(values, now=NOW)
        except EvaluationError as error:
            str(error).encode()
            continue
        json.dumps(given, allow_nan=False, ensure_ascii=False).encode()
        if checked is not None and checked.schema is not None and values is VALUES:
            told = given is None or not problems(given, checked.schema)
            assert told, f"{given!r:.200} is not {checked.schema.types}"


def check(source: str) -> CheckedExpression | None:
    """Check an expression against the types of its names; return None if it has an error."""
    try:
        return CHECKER.check(source)
    except ExpressionError as error:
        placed(error, source)
        return None


def placed(error: ExpressionError, source: str) -> None:
    """Check that the place of an error is in the text."""
    lines = source.split("\n")
    assert 1 <= error.line <= len(lines), (error.line, error.column)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1, (error.line, error.column)
    f"{error} {error.help}".encode(errors="surrogatepass")
