"""Write a server's values as JSON without secrets, and restore what a replay needs of them."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from toolmd._types.parts import File
from toolmd._types.schema import Parameter, Schema
from toolmd._validation.redact import HIDDEN, Secrets, redacted, redacted_value

UNKNOWN = object()
"""Stands for the expected value where the example names none."""
_FILE = frozenset(("file", "media_type", "name"))


class NotWritableError(Exception):
    """A value can't be recorded; the message says why."""


def shown_arguments(
    arguments: Mapping[str, Any], parameters: tuple[Parameter, ...], secrets: Secrets
) -> dict[str, Any]:
    """Return arguments without Sensitive values."""
    return {name: hidden(value, secrets) for name, value in redacted(arguments, parameters).items()}


def shown_value(value: Any, shape: Schema, secrets: Secrets) -> Any:
    """Return a value as JSON without Sensitive values; files are base64.

    Raises NotWritableError for a file that has, or may have, hidden values.
    """

    def written(file: File) -> dict[str, Any]:
        content = base64.b64encode(file.data).decode()
        if shape.holds_sensitive or secrets.hide(content) != content:
            raise NotWritableError("its file may hold Sensitive values")
        return {"file": content, "media_type": file.media_type, "name": file.name}

    return hidden(redacted_value(_mapped(value, written), shape), secrets)


def hidden(value: Any, secrets: Secrets) -> Any:
    """Return a JSON value whose texts, keys and numbers lack the learned values."""

    def number(one: Any) -> Any:
        is_number = isinstance(one, int | float) and not isinstance(one, bool)
        return HIDDEN if is_number and secrets.hide(str(one)) != str(one) else one

    return secrets.hide_in(_mapped_leaves(value, number))


def restored(recorded: Any, expected: Any, secrets: Secrets) -> Any:
    """Return a recorded value with its files, and with what was hidden, if the example has it.

    `expected` is the example's own Result, or UNKNOWN. It fills only what hiding it would make
    equal.
    """
    if isinstance(recorded, dict):
        if recorded.keys() == _FILE:
            content = base64.b64decode(recorded["file"])
            return File(content, recorded["media_type"], recorded["name"])
        fields = expected if isinstance(expected, dict) else {}
        return {
            key: restored(one, fields.get(key, UNKNOWN), secrets) for key, one in recorded.items()
        }
    if isinstance(recorded, list):
        alike = isinstance(expected, list) and len(expected) == len(recorded)
        items = expected if alike else [UNKNOWN] * len(recorded)
        return [restored(one, item, secrets) for one, item in zip(recorded, items, strict=True)]
    if expected is UNKNOWN or not isinstance(recorded, str) or HIDDEN not in recorded:
        return recorded
    return expected if recorded in (HIDDEN, hidden(expected, secrets)) else recorded


def _mapped(value: Any, written: Callable[[File], Any]) -> Any:
    return _mapped_leaves(value, lambda one: written(one) if isinstance(one, File) else one)


def _mapped_leaves(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped_leaves(one, change) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped_leaves(one, change) for one in value]
    return change(value)


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; `true` is no number, `1.0` is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
