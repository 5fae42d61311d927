"""Lines that markdown-it-py gives no token for: found, and refused."""

from markdown_it.token import Token

from toolmark._model.code import Code
from toolmark._parse.source.page import Mark, Page

MAX_LIST_DEPTH = 8

_HOLDING = frozenset(("tr_open", "blockquote_open", "table_open"))


def refuse_unread(page: Page, stream: list[Token]) -> None:
    """Report every line that no token holds: markdown-it-py drops what is nested too deep."""
    read: set[int] = set()
    for token in stream:
        if token.map is not None and (token.nesting == 0 or token.type in _HOLDING):
            read.update(range(*token.map))
    for number in sorted(set(range(len(page.lines))) - read):
        line = page.lines[number]
        if line.strip(" \t\xa0-*+>#|:=1234567890.)"):
            too_deep(page, page.mark(line.strip(), number + 1))
            return


def too_deep(page: Page, mark: Mark) -> None:
    page.error(
        Code.NESTED_TOO_DEEP,
        mark,
        f"lists may nest {MAX_LIST_DEPTH} levels deep; this line lies deeper and can't be read",
        "give nested fields a heading of their own, such as `### range.start`",
    )
