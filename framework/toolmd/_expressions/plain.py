"""Bound the values that go into an expression, and convert its result to plain JSON."""

import base64
import datetime as dt
import math
from collections.abc import Callable
from typing import Any, NoReturn

from toolmd._expressions.error import EvaluationError
from toolmd._expressions.growth import Size
from toolmd._expressions.messages import evaluation_error

MAX_DEPTH = 64
MAX_NODES = 100_000
NUMBERS = frozenset({int, float, bool, type(None)})
"""Types of values that need no check."""


class Optional_(Exception):  # noqa: N801, N818 - a signal within this package
    """The result is an optional, which the binding can't convert."""


def measured(value: Any, name: str) -> Size:
    """Return the size of a JSON value for CEL; raises EvaluationError for an unsuitable one.

    The evaluator crashes on endless nesting, so depth is counted here. Its binding cuts text at
    the character NUL, so a rule would check a different text than the tool gets.
    """
    if isinstance(value, str):
        return Size(len(value), 1, 0) if "\0" not in value else _cut(name)
    nodes = keys = text = longest = 0
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                nodes += len(item)
                keys += len(item)
                longest = max(longest, len(item))
                below += item.values()
                below += item
            elif isinstance(item, list):
                nodes += len(item)
                longest = max(longest, len(item))
                below += item
            elif isinstance(item, str):
                text += len(item)
                if "\0" in item:
                    _cut(name)
        if nodes > MAX_NODES:
            message = f"'{name}' is too large for an expression (over {MAX_NODES} values)"
            raise EvaluationError(message)
        level = below
        if not level:
            return Size(text, 1 + nodes + keys, longest)
    message = f"'{name}' is nested deeper than {MAX_DEPTH} levels"
    raise EvaluationError(message)


def _cut(name: str) -> NoReturn:
    message = f"'{name}' holds the character NUL, which expressions can't hold"
    raise EvaluationError(message)


def plain(value: Any) -> Any:
    """Return a CEL value as JSON; keys are sorted, because CEL's maps have no order.

    Raises EvaluationError on a value that JSON lacks, Optional_ on an optional.
    """
    kind = value.type().name().partition("<")[0]
    if kind in _AS_IS:
        return value.value()
    if kind in _CONVERTED:
        return _CONVERTED[kind](value.value())
    if kind == "ERROR":
        raise _fault(value)
    message = f"the result is a {kind.lower()}, no JSON value"
    raise EvaluationError(message)


def _map(pairs: dict[Any, Any]) -> dict[str, Any]:
    made = {_key(key): plain(item) for key, item in pairs.items()}
    return {key: made[key] for key in sorted(made)}


def _fault(value: Any) -> Exception:
    try:
        return evaluation_error(str(value.value()))
    except (TypeError, SystemError, AssertionError):
        return Optional_()


def _finite(number: float) -> float:
    if math.isfinite(number):
        return number
    message = "the result is not a number"
    raise EvaluationError(message)


def _key(key: Any) -> str:
    if isinstance(key, bool):
        return "true" if key else "false"
    return str(key)


def seconds(span: dt.timedelta) -> str:
    """Format a duration as CEL writes it: `90s`, `0.5s`."""
    microseconds = span // dt.timedelta(microseconds=1)
    sign = "-" if microseconds < 0 else ""
    whole, part = divmod(abs(microseconds), 1_000_000)
    fraction = f".{part:06d}".rstrip("0") if part else ""
    return f"{sign}{whole}{fraction}s"


_AS_IS = frozenset({"STRING", "BOOL", "INT", "UINT", "NULL"})
_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "DOUBLE": _finite,
    "LIST": lambda items: [plain(item) for item in items],
    "MAP": _map,
    "TIMESTAMP": lambda moment: moment.isoformat().replace("+00:00", "Z"),
    "DURATION": seconds,
    "BYTES": lambda data: base64.b64encode(bytes(data)).decode(),
}
