"""Select a part of a JSON value by a path: `papers[0].title`, `papers[*].abstract`."""

import json
import re
from collections.abc import Iterator
from typing import Any

MAX_PATH = 512
"""The most characters of a path."""
_STEP = re.compile(
    r"""\.?(?P<name>[^\s.\[\]"'*]+) | \[(?P<index>\d{1,9})\] | (?P<all>\[\*\]|\.\*)
    | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]""",
    re.VERBOSE,
)
_MAX_NAMES = 8
Step = str | int | None
"""A member's name, an item's index, or None for all items."""


class PathError(ValueError):
    """The path can't be read, or leads nowhere; the message is for the model."""


def select(value: Any, path: str) -> Any:
    """Return the part of a value at a path; an empty path is the whole.

    With `[*]` it is the list of all parts; rows that lack a part are left out, unless all do.

    Args:
        value: Any JSON value.
        path: Members by name and items by index, with `[*]` for all items of an array.

    Raises:
        PathError: The path can't be read, or the value has no such part.
    """
    steps = tuple(_steps(path))
    if None not in steps:
        for step in steps:
            value = _step(value, step, path)
        return value
    found, several = [value], False
    for step in steps:
        if step is None:
            if found and not any(isinstance(one, list | dict) for one in found):
                raise PathError(f"{path}: there are no items at [*]")
            several = True
            found = [item for one in found for item in _items(one)]
        elif several:
            parts = [part for one in found for part in _part(one, step)]
            if found and not parts:
                raise PathError(f"{path}: no item has {step!r}; in the first {_there(found[0])}")
            found = parts
        else:
            found = [_step(found[0], step, path)]
    return found


def _steps(path: str) -> Iterator[Step]:
    if len(path) > MAX_PATH:
        raise PathError(f"a path has at most {MAX_PATH} characters")
    at = 1 if path.startswith("$") else 0
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            raise PathError(
                f"the path can't be read from character {at + 1}; write names and indexes,"
                " such as papers[0].title or papers[*].abstract"
            )
        at = found.end()
        if found["index"] is not None:
            yield int(found["index"])
        elif found["all"] is not None:
            yield None
        else:
            yield found["name"] or _unquoted(found["quoted"])


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        raise PathError(f"{text} is not a quoted name") from None


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return list(value.values()) if isinstance(value, dict) else []


def _part(value: Any, step: Step) -> list[Any]:
    try:
        return [_step(value, step, "")]
    except PathError:
        return []


def _step(value: Any, step: Step, path: str) -> Any:
    if isinstance(value, dict) and str(step) in value:
        return value[str(step)]
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    raise PathError(f"{path}: there is no {step!r}; {_there(value)}")


def _there(value: Any) -> str:
    if isinstance(value, list):
        return f"the array has {len(value)} items"
    if isinstance(value, dict):
        names = ", ".join(name[:40] for name in list(value)[:_MAX_NAMES])
        return f"the object has {names or 'no members'}{', …' * (len(value) > _MAX_NAMES)}"
    return "it is a plain value"
