"""Join text that wraps over lines into one line without comments."""

from collections.abc import Iterator


def flow(text: str) -> str:
    """Return soft-wrapped text on one line, without HTML comments."""
    text = without_comments(text)
    if "\n" not in text:
        return text.strip()
    return " ".join(line.strip().removesuffix("\\") for line in text.split("\n")).strip()


def without_comments(text: str) -> str:
    """Remove `<!-- … -->`; a comment in a code span, or one never closed, is text."""
    if "<!--" not in text:
        return text
    out, at = "", 0
    for start, end in _comments(text):
        out, at = out + text[at:start], end
    return out + text[at:]


def comments(text: str) -> list[str]:
    """Return the comments of a text, except those shown in code spans."""
    return [text[start:end] for start, end in _comments(text)]


def _comments(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        at = end + 3
        if not text.count("`", 0, start) % 2 or "`" not in text[at:]:
            yield start, at
