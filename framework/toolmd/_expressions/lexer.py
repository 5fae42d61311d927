"""Split CEL into tokens, so that names are never confused with words inside strings."""

import re
from typing import Literal, NamedTuple

TokenKind = Literal["string", "comment", "space", "name", "number", "mark"]

_RAW = r"(?:[rR][bB]?|[bB][rR])"
_TOKEN = re.compile(
    rf"""
    (?P<string>
        {_RAW}\"\"\"(?s:.)*?\"\"\" | {_RAW}'''(?s:.)*?''' |
        {_RAW}"[^"\r\n]*" | {_RAW}'[^'\r\n]*' |
        [bB]?\"\"\"(?s:\\.|[^\\])*?\"\"\" | [bB]?'''(?s:\\.|[^\\])*?''' |
        [bB]?"(?:\\.|[^"\\\r\n])*" | [bB]?'(?:\\.|[^'\\\r\n])*'
    )
    | (?P<comment> //[^\n]*)
    | (?P<space> \s+)
    | (?P<name> [A-Za-z_][A-Za-z0-9_]*)
    | (?P<number> 0[xX][0-9a-fA-F]+[uU]? | (?:[0-9]*\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?[uU]?)
    | (?P<mark> (?s:.))
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """A piece of an expression, and the offset of its first character."""

    kind: TokenKind
    text: str
    at: int


def tokens(source: str) -> list[Token]:
    """Return the tokens without spaces and comments.

    It never fails: other characters become marks, and the compiler reports the error.
    """
    return [
        Token(match.lastgroup, match.group(), match.start())  # type: ignore[arg-type]
        for match in _TOKEN.finditer(source)
        if match.lastgroup not in ("space", "comment")
    ]
