"""Cut a note's text into excerpts that a model can read one by one."""

import re
from collections.abc import Iterator
from typing import Final

SIZE: Final = 800
"""The most code points of a chunk."""
_BREAKS: Final = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?])\s|\n"), re.compile(r"\s"))
"""Where a text may be cut, the better places first: paragraphs, sentences and lines, words."""


def chunks_of(text: str) -> Iterator[str]:
    """Give the text's chunks in order; together they hold every word of it, each word once."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        if chunk := text[start:end].strip():
            yield chunk
        start = end


def _end(text: str, start: int) -> int:
    """Give where the chunk that begins here ends: at the last good break, if not too early."""
    limit = start + SIZE
    if limit >= len(text):
        return len(text)
    for place in _BREAKS:
        ends = [found.end() for found in place.finditer(text, start + SIZE // 4, limit)]
        if ends:
            return ends[-1]
    return limit
