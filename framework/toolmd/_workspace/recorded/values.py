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
    shown = redacted(arguments, parameters)
    return {name: secrets.hide_in(value) for name, value in shown.items()}


def shown_value(value: Any, shape: Schema, secrets: Secrets) -> Any:
    """Return a value as JSON without Sensitive values; files are base64.

    Raises NotWritableError for a file that has, or may have, hidden values.
    """

    def written(file: File) -> dict[str, Any]:
        content = base64.b64encode(file.data).decode()
        if shape.holds_sensitive or secrets.hide(content) != content:
            raise NotWritableError("its file may hold Sensitive values")
        return {"file": content, "media_type": file.media_type, "name": file.name}

    return secrets.hide_in(redacted_value(_mapped(value, written), shape))


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
    return expected if recorded in (HIDDEN, secrets.hide_in(expected)) else recorded


def _mapped(value: Any, written: Callable[[File], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(one, written) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(one, written) for one in value]
    return written(value) if isinstance(value, File) else value


def same(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; `true` is no number, `1.0` is 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other)
