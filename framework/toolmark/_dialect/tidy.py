"""Take the calls out of a reply and close the gaps that they leave."""

from collections.abc import Sequence

_SPACE = " \t\r\n"
_CLOSING = ".,;:!?)"


def without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Give the text without these stretches, which are in order; only their seams change.

    At a seam a blank line stays a blank line, a line break a line break, any other white space
    one space, and no space stands before a closing sign.
    """
    parts: list[str] = []
    start = 0
    gap = ""
    for begin, end in [*spans, (len(text), len(text))]:
        part = text[start:begin]
        body = part.strip(_SPACE)
        if body:
            lead = len(part) - len(part.lstrip(_SPACE))
            parts += [_seam(gap + part[:lead], body) if parts else "", body]
            gap = part[lead + len(body) :]
        else:
            gap += part
        start = end
    return readable("".join(parts))


def readable(text: str) -> str:
    """Give the text with a replacement sign for each half of a surrogate pair."""
    text = text.strip(_SPACE)
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _seam(space: str, body: str) -> str:
    """Give what joins the text before a gap to the `body` after it."""
    if not space:
        return ""
    lines = space.count("\n")
    if not lines:
        return "" if body[0] in _CLOSING else " "
    indent = space[space.rindex("\n") + 1 :]
    return "\n" * min(lines, 2) + indent
