"""Text that markdown-it-py drops: report lines without a token, and read extra table cells."""

from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from toolmd._parse.source.page import Mark, Page
from toolmd._types.code import Code

MAX_LIST_DEPTH = 68
"""Four lists for each of the 16 levels that shapes of One Of may nest, and the lists around."""

_HOLDING = frozenset(("tr_open", "blockquote_open", "table_open"))


def report_unread(page: Page, stream: list[Token]) -> None:
    """Report the first line without a token: markdown-it-py drops lists that nest too deep."""
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
    """Report the first line of a list that nests too deep to be read."""
    page.error(
        Code.NESTED_TOO_DEEP,
        mark,
        f"lists may nest {MAX_LIST_DEPTH} levels deep; this line is deeper and can't be read",
        "give nested fields a heading of their own, such as `### range.start`",
    )


def extra_cells(page: Page, line: int, after: int, columns: int) -> list[Mark]:
    """Return the cells of a table row that come after the last column of the header."""
    row = page.lines[line - 1].strip().removeprefix("|").removesuffix("|")
    marks = []
    for cell in map(str.strip, escapedSplit(row)[columns:]):
        if cell:
            marks.append(page.mark(cell, line, after))
            after = marks[-1].column + len(cell)
    return marks
