"""Read several fields in one bullet: `- **Rate**: 3/s; **Timeout**: 10s`."""

from collections.abc import Iterator
from dataclasses import replace

from toolmd._parse.blocks.block import Block, Bullets, Item
from toolmd._parse.fields.field import SectionTable
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import Pair, split
from toolmd._parse.words.scalars import split_outside

SIGN = ";"
_SECTIONS = frozenset(("Metadata", "Returns", "Safety", "Limits"))


def separated(page: Page, blocks: list[Block], table: SectionTable | None) -> list[Block]:
    """Return the blocks of a section with one bullet for each field."""
    if table is None or table.name not in _SECTIONS:
        return blocks
    return [
        Bullets([one for item in block.items for one in _fields(page, item, table)], block.ordered)
        if isinstance(block, Bullets) and any(SIGN in item.mark.text for item in block.items)
        else block
        for block in blocks
    ]


def _fields(page: Page, item: Item, table: SectionTable) -> Iterator[Item]:
    """Yield a bullet for each field of a bullet; the first one has the blocks below it."""
    current = item
    for number, line in enumerate(item.mark.text.split("\n")):
        first, *rest = _pieces(page.mark(line, item.mark.line + number, item.mark.column), table)
        if number:
            text = f"{current.mark.text}\n{first.text}"
            current.mark = current.mark._replace(text=text)
        else:
            current = replace(item, mark=first)
        for mark in rest:
            yield current
            current = Item(mark, mark.line, mark.column)
    yield current


def _pieces(mark: Mark, table: SectionTable) -> list[Mark]:
    """Split a line before each `; **Key**:`; in a description, only before a known key."""
    found: list[Mark] = []
    at = 0
    before: Pair | None = None
    for text in split_outside(mark.text, SIGN):
        piece = mark.at(at, len(text)) if text else mark._replace(text="")
        pair = split(piece.strip())
        if before is None or not _begins(pair, before, table):
            start = found.pop() if found else piece
            width = at + len(text) - (start.column - mark.column)
            found.append(mark.at(start.column - mark.column, width))
            before = before or pair
        else:
            found[-1] = found[-1].strip()
            found.append(piece.strip())
            before = pair
        at += len(text) + len(SIGN)
    return found


def _begins(pair: Pair | None, before: Pair, table: SectionTable) -> bool:
    if pair is None or not pair.marked:
        return False
    field = table.field(before.key.text)
    described = field is not None and field.attribute == "description"
    return not described or table.field(pair.key.text) is not None
