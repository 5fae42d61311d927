"""A block rule for markdown-it-py that takes a run of one-line `-` bullets as one token.

Definitions are made of such runs. The stock rule opens a parser within the parser for each
bullet and makes five tokens of it, which is most of the time that reading a file takes.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

TYPE = "plain_bullets"
"""The token's type; its map tells the lines, two columns of indent a level."""
INDENT = 2

_OPENS_A_BLOCK = r"[-+#<>~\d]|\*[ \t]|```|[*_ \t]+(?:\n|\Z)"
"""Behind a marker: another list, a heading, a quote, HTML, a fence, a rule."""
_RUN = re.compile(
    rf"(?:(?:  ){{0,7}}- (?!{_OPENS_A_BLOCK})[^\s\ufffd][^\n\ufffd]*(?:\n|\Z))++"
    r"(?:\Z|(?=\n++(?:[^\s-]|\Z)))"
)
"""One-line bullets, and behind them the end, or an empty line and what is no part of the list."""


def plain_bullets(md: MarkdownIt) -> None:
    """Add the rule to a parser, before the one for every list."""
    md.block.ruler.before("list", TYPE, _rule)


def _rule(state: StateBlock, line: int, _end: int, silent: bool) -> bool:  # noqa: FBT001 - as called
    start = state.bMarks[line]
    if silent or state.level or not state.src.startswith("- ", start):
        return False
    run = _RUN.match(state.src, start)
    if run is None:
        return False
    after = line + state.src.count("\n", start, run.end() - 1) + 1
    shifts = state.tShift[line:after]
    if shifts[0] or any(below > above + INDENT for above, below in pairwise(shifts)):
        return False
    state.line = after
    state.push(TYPE, "", 0).map = [line, after]
    return True
