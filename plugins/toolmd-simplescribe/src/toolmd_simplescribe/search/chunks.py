"""Split a note's text into excerpts for a model, and these into sentences for their vectors."""

import re
from collections.abc import Iterator
from typing import Final

SIZE: Final = 800
"""Size limit of a chunk, in code points."""
_BREAKS: Final = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?])\s|\n"), re.compile(r"\s"))
"""Where a text may be split, by preference: paragraphs, sentences and lines, words."""


_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SHORTEST: Final = 25
"""A shorter piece, such as a heading, belongs to the next sentence."""


def chunks_of(text: str) -> Iterator[str]:
    """Return the text's chunks in order; together they contain every word exactly once."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        if chunk := text[start:end].strip():
            yield chunk
        start = end


def _end(text: str, start: int) -> int:
    """Return the end of the chunk that begins here: at the last good break, if not too early."""
    limit = start + SIZE
    if limit >= len(text):
        return len(text)
    for place in _BREAKS:
        ends = [found.end() for found in place.finditer(text, start + SIZE // 4, limit)]
        if ends:
            return ends[-1]
    return limit


def sentences_of(text: str) -> Iterator[str]:
    """Return the sentences of a text; short pieces are joined to the next one."""
    begun = ""
    for piece in _SENTENCE.split(text):
        begun = f"{begun} {piece}".strip()
        if len(begun) >= _SHORTEST:
            yield begun
            begun = ""
    if begun:
        yield begun
