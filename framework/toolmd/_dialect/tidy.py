"""Remove the calls from a reply and close the gaps."""

from collections.abc import Sequence

_SPACE = " \t\r\n"
_CLOSING = ".,;:!?)"


def without_stretches(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return the text without these spans, which are in order; only their seams change.

    At a seam a blank line stays a blank line, a line break a line break, any other white space
    one space, and no space precedes a closing character.
    """
    parts: list[str] = []
    start = 0
    gaps: list[str] = []
    for begin, end in [*spans, (len(text), len(text))]:
        part = text[start:begin]
        body = part.strip(_SPACE)
        if body:
            lead = len(part) - len(part.lstrip(_SPACE))
            parts += [_seam([*gaps, part[:lead]], body) if parts else "", body]
            gaps = [part[lead + len(body) :]]
        else:
            gaps.append(part)
        start = end
    return readable("".join(parts))


def readable(text: str) -> str:
    """Return the text with a replacement character for each half of a surrogate pair."""
    text = text.strip(_SPACE)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seam(gaps: Sequence[str], body: str) -> str:
    """Return the separator between the text before some calls and the `body` after them."""
    lines = max(gap.count("\n") for gap in gaps)
    if lines:
        return "\n" * min(lines, 2) + gaps[-1].rpartition("\n")[2]
    return " " if any(gaps) and body[0] not in _CLOSING else ""
