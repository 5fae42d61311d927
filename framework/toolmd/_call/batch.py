"""Split a long array into batches, and join their results."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from toolmd._call.result import AnswerError, as_plain

Run = Callable[[int, list[Any]], Awaitable[Any]]
"""Runs the implementation with these items and the index of the first, from 0."""


class Piece(NamedTuple):
    """A batch of items and its outcome."""

    first: int
    """The index of its first item in the array, from 0."""
    size: int
    value: Any = None
    skipped: bool = False
    """Memory ran out, with half as many items too."""


async def run_pieces(items: Sequence[Any], size: int, run: Run) -> list[Piece]:
    """Run the items in batches of `size`, in order.

    Where memory runs out, the batch runs once more as two halves; a half that fails again is
    skipped. Raises what `run` raises except MemoryError.
    """
    done: list[Piece] = []
    for first in range(0, len(items), size):
        piece = list(items[first : first + size])
        try:
            done.append(Piece(first, len(piece), await run(first, piece)))
        except MemoryError:
            half = (len(piece) + 1) // 2
            if half == len(piece):
                done.append(Piece(first, 1, skipped=True))
                continue
            for start, some in ((first, piece[:half]), (first + half, piece[half:])):
                try:
                    done.append(Piece(start, len(some), await run(start, some)))
                except MemoryError:
                    done.append(Piece(start, len(some), skipped=True))
    return done


def join_pieces(pieces: Sequence[Piece], *, of_arrays: bool) -> Any:
    """Return one value: arrays joined, in objects too, with null for each skipped item.

    `of_arrays` says that the tool returns arrays. Where all items were skipped, a tool that
    returns anything else raises MemoryError. Raises AnswerError for values that are neither
    arrays, nor objects, nor equal.
    """
    if all(piece.skipped for piece in pieces):
        if not of_arrays:
            raise MemoryError
        return [None] * sum(piece.size for piece in pieces)
    if len(pieces) == 1:
        return pieces[0].value
    read = [p if p.skipped else p._replace(value=as_plain(p.value)) for p in pieces]
    values = [piece.value for piece in read if not piece.skipped]
    if all(isinstance(value, dict) for value in values):
        names = dict.fromkeys(name for value in values for name in value)
        whole = {}
        for name in names:
            with_it = [p for p in read if p.skipped or name in p.value]
            parts = [p if p.skipped else p._replace(value=p.value[name]) for p in with_it]
            whole[name] = _one([p.value for p in parts if not p.skipped], parts, f"`{name}`")
        return whole
    return _one(values, read, "what it gives")


def _one(values: list[Any], pieces: Sequence[Piece], what: str) -> Any:
    if all(isinstance(value, list) for value in values):
        in_step = all(p.skipped or len(p.value) == p.size for p in pieces)
        absent = [p._replace(value=[None] * (p.size if in_step else 0)) for p in pieces]
        whole = (a.value if p.skipped else p.value for p, a in zip(pieces, absent, strict=True))
        return [item for part in whole for item in part]
    first, *others = values
    if all(type(other) is type(first) and other == first for other in others):
        return first
    message = f"its pieces can't be joined: {what} is neither an array nor the same in each"
    raise AnswerError(message)


def skipped_note(name: str, pieces: Sequence[Piece]) -> tuple[str, ...]:
    """Return a note on which items of the array are missing from the result."""
    spans = [_span(piece) for piece in pieces if piece.skipped]
    if not spans:
        return ()
    what = f"{', '.join(spans)} of {name}"
    return (f"Memory ran out, with half as many items too: the result lacks {what}.",)


def _span(piece: Piece) -> str:
    """Format item numbers from 1."""
    last = piece.first + piece.size
    return f"item {last}" if piece.size == 1 else f"items {piece.first + 1} to {last}"
