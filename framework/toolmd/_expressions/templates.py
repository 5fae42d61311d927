"""Text with `{expression}` in it: its pieces, and the text with their values."""

from collections.abc import Callable, Iterator
from typing import Any

from toolmd._types.visible import value_text


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, each with whether it is an expression.

    An opening brace that is never closed is text.
    """
    at = 0
    while (start := text.find("{", at)) >= 0 and (end := closing_brace(text, start)) >= 0:
        if start > at:
            yield text[at:start], False
        yield text[start + 1 : end].strip(), True
        at = end + 1
    if at < len(text):
        yield text[at:], False


def fill(text: str, evaluate: Callable[[str], Any]) -> str:
    """Return a text for a person with the value of each expression in it."""
    return "".join(value_text(evaluate(one)) if is_code else one for one, is_code in pieces(text))


def closing_brace(text: str, start: int) -> int:
    """Return the end of the brace at `start`, skipping nested braces and quotes; -1 if none."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'" and depth:
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1
