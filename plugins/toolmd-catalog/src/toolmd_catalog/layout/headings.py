"""A heading's words, without numbering, emoji, markup and comments."""

from collections.abc import Iterator

from toolmd_catalog.words import without_invisible

_COLONS = ":：﹕︓∶꞉"  # noqa: RUF001 - full-width, small, and what looks like one
_WRAPPERS = ("***", "**", "__", "``", "*", "_", "`")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“”", "‚": "‘’", "「": "」"}  # noqa: RUF001
_KEYCAP = "\u20e3"


def heading_text(text: str) -> str:
    """Return a heading without numbering, emoji, markup, anchor and a closing colon."""
    text = _without_signs(_plain(_without_anchor(without_comments(text))))
    head, _, rest = text.partition(" ")
    if rest and head[-1] in ".):" and head.strip("(.):").replace(".", "").isdigit():
        text = _without_signs(rest.strip())
    return _plain(text.rstrip(_COLONS + " "))


def without_comments(text: str) -> str:
    """Return a text without `<!-- … -->`; in a code span, and never closed, it stays."""
    out, at = "", 0
    for start, end in _comments(text):
        out, at = out + text[at:start], end
    return out + text[at:]


def _comments(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        at = end + 3
        if not text.count("`", 0, start) % 2 or "`" not in text[at:]:
            yield start, at


def _plain(text: str) -> str:
    """Return a text without the marks and quotes that hold it whole, and without escapes."""
    text = without_invisible(text).strip()
    while len(text) > 1 and (inner := _inside(text)) is not None and inner != text:
        text = inner
    return text.replace("\\", "")


def _inside(text: str) -> str | None:
    if text[0] in _QUOTES:
        closing, inner = _QUOTES[text[0]], text[1:-1]
        whole = bool(inner) and text[-1] in closing and not any(sign in inner for sign in closing)
        return inner.strip() if whole else None
    for mark in _WRAPPERS:
        inner = text[len(mark) : -len(mark)]
        if inner and text.startswith(mark) and text.endswith(mark) and mark not in inner:
            return inner.strip()
    return None


def _without_anchor(text: str) -> str:
    """Return a heading without the `{#id}` behind it, or the words of one that is a link whole."""
    words, sign, anchor = text.rstrip().rpartition("{")
    if sign and anchor.endswith("}") and anchor[:1] in ("#", ":", "."):
        text = words.rstrip()
    words, sign, target = text.strip().partition("](")
    if sign and words.startswith("[") and target.find(")") == len(target) - 1:
        text = words[1:]
    return text


def _without_signs(text: str) -> str:
    """Return a heading without emoji, their `:names:` and other signs in front of its words."""
    start = 0
    if _KEYCAP in text[:4]:
        start = text.index(_KEYCAP) + 1
    elif text.startswith(":") and (end := text.find(": ", 1)) > 0 and " " not in text[:end]:
        start = end + 1
    while start < len(text) and not (text[start].isalnum() or text[start] in "_`*\"'([{<$"):
        start += 1
    return text[start:] or text
