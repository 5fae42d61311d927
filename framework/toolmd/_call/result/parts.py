"""Find the content parts in an implementation's value."""

from typing import Any, NamedTuple

from toolmd._types.parts import MAX_PART, MAX_PARTS, File

_DEEPEST = 64
"""The deepest nesting in which parts are found."""


class Lifted(NamedTuple):
    """A value without its content parts."""

    value: Any
    """The value, with a reference in place of each part."""
    parts: dict[int, File]
    """The parts by their numbers, which begin with 1."""
    notes: tuple[str, ...]
    """Which parts were left out."""


def lifted(value: Any) -> Lifted | None:
    """Return a value without its content parts; None if it has none in lists and objects."""
    found: list[File] = []
    value = _lift(value, found, 0)
    if not found:
        return None
    kept: dict[int, File] = {}
    notes: list[str] = []
    for number, part in enumerate(found, 1):
        if len(part.data) > MAX_PART:
            size = len(part.data)
            notes.append(f"Part {number} of {size} bytes is left out: at most {MAX_PART} fit.")
        elif len(kept) < MAX_PARTS:
            kept[number] = part
    if (more := len(found) - len(kept) - len(notes)) > 0:
        notes.append(f"{more} content parts are left out: a result has at most {MAX_PARTS}.")
    return Lifted(value, kept, tuple(notes))


def _lift(value: Any, found: list[File], depth: int) -> Any:
    if isinstance(value, File):
        found.append(value)
        return value.reference(len(found))
    if depth < _DEEPEST:
        if isinstance(value, dict):
            return {key: _lift(item, found, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_lift(item, found, depth + 1) for item in value]
    return value
