"""Report restrictions that are written as headings, which nothing would enforce."""

from toolmd._parse.blocks.block import Block, Comment, Paragraph
from toolmd._parse.document.strays import report_restriction
from toolmd._parse.fields.restrictions import names_restriction, restriction_of
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import Pair, heading_text, split


def report_heading(page: Page, heading: Mark, blocks: list[Block]) -> None:
    """Report a heading that names a restriction, with its value next to it or below it.

    Args:
        page: the page that is being read.
        heading: the heading of a section that no table describes, or of a part of its prose.
        blocks: the blocks below it, up to the next heading.
    """
    text = heading_text(heading.text)
    mark = page.mark(text, heading.line, heading.column)
    pair = split(mark) or (_with_value_below(mark, blocks) if names_restriction(text) else None)
    if pair is not None:
        report_restriction(page, pair)


def _with_value_below(mark: Mark, blocks: list[Block]) -> Pair | None:
    """Pair a heading with the only words below it; without any, it stands for yes."""
    match [block for block in blocks if not isinstance(block, Comment)]:
        case []:
            pair = Pair(mark, mark._replace(text="yes"), marked=False)
            found = restriction_of(pair)
            return pair if found is not None and found[1].kind == "boolean" else None
        case [Paragraph() as only]:
            return Pair(mark, only.mark, marked=False)
        case _:
            return None
