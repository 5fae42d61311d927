"""Split text into markdown-it-py's block tokens; report lines without a token."""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from toolmd._parse.source.page import Mark, Page
from toolmd._types.code import Code

PLAIN_BULLETS = "plain_bullets"
"""The token's type; its map contains the lines. Each level is indented by two columns."""
BULLET_INDENT = 2

_OPENS_A_BLOCK = r"[-+#<>~\d]|\*[ \t]|```|[*_ \t]+(?:\n|\Z)"
"""Text after a marker that opens another list, a heading, a quote, HTML, a fence or a rule."""
_RUN = re.compile(
    rf"(?:(?:  ){{0,7}}- (?!{_OPENS_A_BLOCK})[^\s\ufffd][^\n\ufffd]*(?:\n|\Z))++"
    r"(?:\Z|(?=\n++(?:[^\s-]|\Z)))"
)
"""One-line bullets, followed by the end of the text or by an empty line and another block."""


def _plain_bullets(state: StateBlock, line: int, _end: int, silent: bool) -> bool:  # noqa: FBT001 - as called
    """Read a run of one-line `-` bullets as one token.

    Definitions consist mostly of such runs. The stock rule starts a nested parser for each bullet
    and emits five tokens for it, which is most of the time that reading a file takes.
    """
    start = state.bMarks[line]
    if silent or state.level or not state.src.startswith("- ", start):
        return False
    run = _RUN.match(state.src, start)
    if run is None:
        return False
    after = line + state.src.count("\n", start, run.end() - 1) + 1
    shifts = state.tShift[line:after]
    if shifts[0] or any(below > above + BULLET_INDENT for above, below in pairwise(shifts)):
        return False
    state.line = after
    state.push(PLAIN_BULLETS, "", 0).map = [line, after]
    return True


MAX_NESTING = 144
"""Two levels for each list; markdown-it-py drops deeper lines, which `report_unread` reports."""

_NEEDS = {
    "table": ("|",),
    "fence": ("```", "~~~"),
    "blockquote": (">",),
    "html_block": ("<",),
    "code": ("    ", "\t"),
}
"""The signs that a text must contain for a block rule to match anything in it.

Every rule is tried at every line, so leaving out those that can't match halves the time.
"""
_RULED = ("hr", "lheading")
_RULE_SIGNS = "=-_* \t>+0123456789.)"
"""The characters of rules and heading underlines, also within a list or a quote."""


@cache
def markdown(rules: tuple[str, ...]) -> MarkdownIt:
    """Build the block parser: CommonMark and tables, without inline rules and references."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # References would swallow lines like `[key]: value` without a token.
    md.block.ruler.disable(
        ["reference", *(rule for rule in (*_NEEDS, *_RULED) if rule not in rules)]
    )
    md.core.ruler.disable(["inline", "text_join"])
    md.block.ruler.before("list", PLAIN_BULLETS, _plain_bullets)
    return md


def source_lines(text: str) -> list[str]:
    """Split at newlines as markdown-it-py does; drop a byte order mark and carriage returns."""
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parser_for(lines: list[str]) -> MarkdownIt:
    """Return the parser with only the rules that these lines can need."""
    text = "\n".join(lines)
    rules = tuple(rule for rule, signs in _NEEDS.items() if any(sign in text for sign in signs))
    if any(line and not line.strip(_RULE_SIGNS) for line in lines):
        rules += _RULED
    return markdown(rules)


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
        "make the object flatter",
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
