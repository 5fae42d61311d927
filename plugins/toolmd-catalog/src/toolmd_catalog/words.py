"""Markdown's words without their markup, cut where a reader would cut them."""

import re
import unicodedata
from collections.abc import Iterable

_LOOKALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТХаеѕіјорсухӏԁһΑΒΕΖΗΙΚΜΝΟΡΤΧοаı",  # noqa: RUF001 - Cyrillic and Greek
    "ABESIJKMHOPCTXaesijopcyxldhABEZHIKMNOPTXoai",
)
"""Letters that nobody can tell from Latin ones by looking."""
_BESIDE = re.compile(r"\s*(?:[-*+] |\d+[.)] |```|~~~|#)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPABLE = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_ITALIC = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRONG = re.compile(r"(?<!\w)__(?=\S)|(?<=\S)__(?!\w)")
"""The two underscores around bold text, not those within a name."""
_OPENING, _CLOSING = "([{", ")]}"
NUMBER = r"(?<!\w)[-+−]?(?:\d{1,3}(?:,\d{3})+|\d[\d_]{0,17})(?:\.\d{1,18})?(?!\d)"  # noqa: RUF001 - a minus
"""A number in any text; a run of more digits is none."""


def fold(text: str) -> str:
    """Return what names are compared by: `min_length`, `Min Length` and `minLength` are equal."""
    normal = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
    return "".join(c for c in normal if c.isalnum()).casefold()


def without_invisible(text: str) -> str:
    """Return a text without zero-width characters, with plain spaces for no-break ones."""
    if text.isascii():
        return text
    return "".join(
        " " if c == "\xa0" else c for c in text if unicodedata.category(c) not in {"Cf", "Cc"}
    )


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(_CONTROL.sub(" ", text).split())


def first_and_rest(text: str) -> tuple[str, str]:
    """Return the first paragraph on one line, and the paragraphs after it."""
    first, _, rest = text.strip().partition("\n\n")
    lines = first.split("\n")
    # A list or a fence right below the first sentence is not part of it.
    for at, line in enumerate(lines):
        if at and _BESIDE.match(line):
            first, rest = "\n".join(lines[:at]), "\n".join(lines[at:]) + "\n\n" + rest
            break
    return one_line(first), rest.strip()


def clean(text: str) -> str:
    """Return a text without bold, italics, escapes and invisible signs; code spans stay."""
    plain = _STRONG.sub("", unescaped(without_invisible(text)).replace("**", ""))
    return _ITALIC.sub(r"\1", plain).strip()


def unescaped(text: str) -> str:
    """Drop the backslashes of markdown's escapes, which stand outside of code spans only."""
    made: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] and text[at + 1] in _ESCAPABLE:
            made.append(text[at + 1])
            at += 2
        elif char == "`":
            run = len(text) - at - len(text[at:].lstrip("`"))
            end = text.find("`" * run, at + run)
            stop = at + run if end < 0 else end + run
            made.append(text[at:stop])
            at = stop
        else:
            made.append(char)
            at += 1
    return "".join(made)


def bare(text: str) -> str:
    """Return a text without the code span, quotes or brackets that hold it whole."""
    text = text.strip()
    while len(text) > 1 and text[0] in "`\"'" and text[-1] == text[0] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text


def split(text: str, separators: Iterable[str]) -> list[str]:
    """Cut at any of the separators that stand outside of quotes, code and brackets."""
    parts: list[str] = []
    start = at = depth = 0
    while at < len(text):
        char = text[at]
        if (end := quoted(text, at)) > at:
            at = end
            continue
        if char in _OPENING:
            depth += 1
        elif char in _CLOSING:
            depth = max(depth - 1, 0)
        found = "" if depth else next((s for s in separators if text.startswith(s, at)), "")
        if found and not (found == "," and _in_number(text, at)):
            parts.append(text[start:at])
            at += len(found)
            start = at
        else:
            at += 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def quoted(text: str, at: int) -> int:
    """Return the end of a quote or a code span that opens here; `at` itself where none opens."""
    char = text[at : at + 1]
    if not char or char not in "`\"'":
        return at
    if char == "'" and at and text[at - 1].isalnum():
        return at  # an apostrophe
    end = text.find(char, at + 1)
    while char == "'" and end > 0 and text[end + 1 : end + 2].isalnum():
        end = text.find(char, end + 1)
    return end + 1 if end > 0 else at


def closing(text: str, at: int) -> int:
    """Return the place where the bracket at `at` closes; -1 where it does not."""
    depth = 0
    here = at
    while here < len(text):
        if (end := quoted(text, here)) > here:
            here = end
            continue
        depth += (text[here] in _OPENING) - (text[here] in _CLOSING)
        if depth == 0:
            return here
        here += 1
    return -1


def groups_apart(text: str) -> list[tuple[str, bool]]:
    """Return the spans of a text, and whether each stood in parentheses of its own."""
    parts: list[tuple[str, bool]] = []
    start = at = 0
    while at < len(text):
        if (end := quoted(text, at)) > at:
            at = end
        elif (
            text[at] == "("
            and (not at or text[at - 1] in " \t`")
            and (end := closing(text, at)) > 0
        ):
            parts += [(text[start:at], False), (text[at + 1 : end], True)]
            at = start = end + 1
        elif text[at] in "[{" and (end := closing(text, at)) > 0:
            at = end + 1
        else:
            at += 1
    parts.append((text[start:], False))
    return [(part.strip(), inside) for part, inside in parts if part.strip()]


def number(text: str) -> int | float:
    """Read what NUMBER matched."""
    plain = text.replace(",", "").replace("_", "").replace("−", "-")  # noqa: RUF001
    return float(plain) if "." in plain else int(plain)


def _in_number(text: str, at: int) -> bool:
    """Return whether a comma separates the thousands of a number, as in 10,000."""
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 5]
    return before.isdigit() and re.match(r"\d{3}(?!\d)", after) is not None
