"""Name each difference of two JSON Schemas: the path, the keyword and both values."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

_BELOW = ("properties", "items", "additionalProperties", "oneOf")
_MOST = 2000
"""The characters of a value that a note shows."""


def differences(one: Any, two: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and a description of each difference between a schema and its copy.

    Args:
        one: The schema of the source.
        two: The schema that a definition keeps.
        path: The dotted path of both.
    """
    if not (isinstance(one, Mapping) and isinstance(two, Mapping)):
        if one != two:
            yield path, f"{shown(one)} became {shown(two)}"
        return
    for keyword in dict.fromkeys([*one, *two]):
        if keyword not in two:
            yield path, f"`{keyword}` is not kept: {shown(one[keyword])}"
        elif keyword not in one:
            yield path, f"`{keyword}` is new: {shown(two[keyword])}"
        elif keyword in _BELOW:
            yield from _below(keyword, one[keyword], two[keyword], path)
        elif json.dumps(one[keyword]) != json.dumps(two[keyword]):
            yield path, f"`{keyword}` {shown(one[keyword])} became {shown(two[keyword])}"


def _below(keyword: str, one: Any, two: Any, path: str) -> Iterator[tuple[str, str]]:
    if keyword == "properties":
        for name in dict.fromkeys([*one, *two]):
            below = f"{path}.{name}" if path else name
            if name in one and name in two:
                yield from differences(one[name], two[name], below)
            else:
                yield below, f"is not kept: {shown(one[name])}" if name in one else "is new"
    elif keyword == "oneOf" and len(one) == len(two):
        for left, right in zip(one, two, strict=True):
            yield from differences(left, right, path)
    elif keyword == "oneOf":
        yield path, f"{len(one)} shapes became {len(two)}: {shown(one)}"
    else:
        yield from differences(one, two, f"{path}{'[]' if keyword == 'items' else '.*'}")


def shown(value: Any) -> str:
    """Return a value as JSON on one line, cut where a note has no room for it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"
