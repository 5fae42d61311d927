"""Shorten a JSON value to a number of bytes, so that a model sees its beginning."""

from collections.abc import Iterator
from typing import Any

from toolmd._call.result.answer import write
from toolmd._validation.words import joined

ELLIPSIS = "…"
_LEAST = 24
"""The bytes that a member keeps room for: each number, `true`, and the beginning of a text."""
_MOST_NOTES = 8
_MOST_PATH = 80
"""Characters of a path that a note names."""


class _Unfit(Exception):  # noqa: N818 - a finding, not an error
    """No part of the value fits."""


def shorten(value: Any, room: int) -> tuple[Any, tuple[str, ...]] | None:
    """Return the first parts of a value whose JSON fits into `room` bytes, and notes on the rest.

    Arrays keep whole items, objects keep their members and share the room among them, texts keep
    their beginning. Returns None where nothing fits. The value is JSON values only.
    """
    notes: list[str] = []
    try:
        return _fit(value, room, "", notes), tuple(notes[:_MOST_NOTES])
    except _Unfit:
        return None


def _fit(value: Any, room: int, path: str, notes: list[str]) -> Any:
    if len(write(value)) <= room:
        return value
    match value:
        case str():
            return _text(value, room, path, notes)
        case list():
            return _array(value, room, path, notes)
        case dict():
            return _object(value, room, path, notes)
        case _:
            raise _Unfit


def _text(text: str, room: int, path: str, notes: list[str]) -> str:
    kept = text[: max(room, 0)]
    while kept and (size := len(write(kept + ELLIPSIS))) > room:
        kept = kept[: min(len(kept) - 1, len(kept) * room // size)]
    if not kept:
        raise _Unfit
    _note(notes, f"{len(kept)} of {len(text)} characters", path)
    return kept + ELLIPSIS


def _array(items: list[Any], room: int, path: str, notes: list[str]) -> list[Any]:
    left = room - len("[]")
    kept: list[Any] = []
    for item in items:
        size = len(write(item)) + bool(kept)
        if size > left:
            break
        kept.append(item)
        left -= size
    inner: list[str] = []
    if not kept:
        kept = [_fit(items[0], left, f"{path}[0]", inner)]
    if len(kept) < len(items):
        _note(notes, f"{len(kept)} of {len(items)} rows", path)
    notes += inner
    return kept


def _object(members: dict[str, Any], room: int, path: str, notes: list[str]) -> dict[str, Any]:
    left = room - len("{}")
    heads: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for name, item in members.items():
        head = len(write(name)) + len(":") + bool(heads)
        least = min(size := len(write(item)), _LEAST)
        if head + least > left:
            break
        left -= head + least
        heads[name], sizes[name] = head, size
    if not heads:
        raise _Unfit
    left += sum(min(size, _LEAST) for size in sizes.values())
    shares = dict(_shares(sizes, left))
    kept: dict[str, Any] = {}
    inner: list[str] = []
    for name in heads:
        try:
            kept[name] = _fit(members[name], shares[name], joined(path, name), inner)
        except _Unfit:
            continue
    if len(kept) < len(members):
        _note(notes, f"{len(kept)} of {len(members)} fields", path)
    notes += inner
    return kept


def _shares(sizes: dict[str, int], room: int) -> Iterator[tuple[str, int]]:
    """Share the room among members: small ones get all that they need, large ones the same."""
    waiting = len(sizes)
    for name, size in sorted(sizes.items(), key=lambda one: one[1]):
        share = min(size, room // waiting)
        yield name, share
        room -= share
        waiting -= 1


def _note(notes: list[str], what: str, path: str) -> None:
    of = f" of {path[:_MOST_PATH]}" if path else ""
    notes.append(f"{what}{of} are shown.")
