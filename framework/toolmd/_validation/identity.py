"""Compare JSON values: `true` is not `1`, while `1` and `1.0` are one number."""

from collections.abc import Hashable
from typing import Any


def identity(value: Any) -> Hashable:
    """Return a key that two JSON values share exactly when JSON Schema calls them equal."""
    kind = type(value)
    if kind is bool:
        return ("boolean", value)
    if kind is list:
        return ("array", tuple(identity(item) for item in value))
    if kind is dict:
        return ("object", frozenset((name, identity(item)) for name, item in value.items()))
    return value  # type: ignore[no-any-return]  # text, numbers and null are their own keys
