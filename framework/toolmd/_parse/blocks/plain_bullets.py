"""A block rule for markdown-it-py that reads a run of one-line `-` bullets as one token.

Definitions consist mostly of such runs. The stock rule starts a nested parser for each bullet
and emits five tokens for it, which is most of the time that reading a file takes.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

TYPE = "plain_bullets"
"""The token's type; its map contains the lines. Each level is indented by two columns."""
INDENT = 2

_OPENS_A_BLOCK = r"[-+#<>~\d]|\*[ \t]|```|[*_ \t]+(?:\n|\Z)"
"""Text after a marker that opens another list, a heading, a quote, HTML, a fence or a rule."""
_RUN = re.compile(
    rf"(?:(?:  ){{0,7}}- (?!{_OPENS_A_BLOCK})[^\s\ufffd][^\n\ufffd]*(?:\n|\Z))++"
    r"(?:\Z|(?=\n++(?:[^\s-]|\Z)))"
)
"""One-line bullets, followed by the end of the text or by an empty line and another block."""


def plain_bullets(md: MarkdownIt) -> None:
    """Add the rule to a parser, before the rule for lists in general."""
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
