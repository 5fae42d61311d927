"""Find a comparison that is written in words, and suggest the expression: `over 200 EUR`."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from toolmd._expressions.lexer import Token, tokens

SIGNS = frozenset("$€£¥₹%")
"""Signs of units, before or behind a number."""
UNIT = re.compile(
    r"[%$€£¥₹]|(?:°[CF]|[A-Z]{3}|percent|euros?|dollars?|pounds?|seconds?|minutes?|hours?|days?"
    r"|weeks?|months?|years?|[mkµμ]?(?:Gy|Sv|Bq|mol|g|m|W|V|s|[lL])(?:/(?:kg|d[lL]|m[lL]|[lL]|h))?"
    r"|mmHg|mcg|ug|[cd][mlL]|min|h|d|[kKMG]i?B|bytes?|IU|IE|Hz|bpm)(?![\w/])"
)
"""A unit behind a number, or a sign before it."""
CONJUNCTIONS = {"&&": "and|und|et|y", "||": "or|oder|ou|o"}
"""The words for `&&` and `||` in several languages."""
_WORDS_OF = CONJUNCTIONS | {
    ">=": (
        "greater than or equal to|more than or equal to|no less than|not less than|no fewer than|"
        "not below|not under|at least"
    ),
    "<=": (
        "less than or equal to|no more than|not more than|not above|not over|does not exceed|"
        "at most|up to"
    ),
    ">": (
        "greater than|more than|larger than|higher than|bigger than|exceeds|exceed|exceeding|"
        "above|over|beyond"
    ),
    "<": "less than|fewer than|smaller than|lower than|below|under",
}
_PHRASES = sorted(
    ((tuple(words.split()), sign) for sign, all_ in _WORDS_OF.items() for words in all_.split("|")),
    key=lambda phrase: -len(phrase[0]),
)
_FILLERS = frozenset(("if", "when", "is", "are", "the"))


class Prose(NamedTuple):
    """A comparison in words."""

    at: Token
    """Its first word."""
    words: str
    sign: str
    """The operator that they stand for."""
    expression: str
    """The expression to write instead."""


def comparison_in_words(
    source: str, names: Collection[str], numbers: Sequence[str]
) -> Prose | None:
    """Return the first comparison in words, with what to write instead; None without one.

    Args:
        source: The expression as written.
        names: The names that it may read.
        numbers: The names of numbers; the first stands for a subject that is not written.
    """
    marks, written = tokens(source), list[str]()
    found: tuple[Token, str, str] | None = None
    subject = numbers[0] if numbers else "NAME"
    at = 0
    while at < len(marks):
        mark, before = marks[at], written[-1] if written else "&&"
        is_field = at > 0 and marks[at - 1].text == "."
        phrase = next((p for p in _PHRASES if _begins(marks[at:], p[0], names)), None)
        if phrase is not None and not is_field:
            words, sign = phrase
            if sign in (">", "<", ">=", "<="):
                found = found or (mark, " ".join(words), sign)
                written += [subject] if before in ("&&", "||", "(") else []
            written.append(sign)
            at += len(words)
            continue
        if mark.text in names:
            subject = mark.text
        is_unit = at and marks[at - 1].kind == "number" and UNIT.match(source, mark.at)
        is_filler = mark.text.lower() in _FILLERS and mark.text not in names
        if not (is_unit or is_filler or mark.text in SIGNS):
            written.append(mark.text)
        at += 1
    return Prose(*found, " ".join(written)) if found else None


def _begins(marks: Sequence[Token], words: Sequence[str], names: Collection[str]) -> bool:
    texts = [mark.text.lower() for mark in marks[: len(words)]]
    return texts == list(words) and marks[0].kind == "name" and marks[0].text not in names
