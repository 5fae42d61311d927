"""Yield the lines, bullets and `key: value` pairs of prose that no field read."""

from collections.abc import Iterator, Sequence

from toolmd._parse.blocks.block import Block, Bullets, Item, Paragraph, Raw, Table
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import Pair, split


def pairs(blocks: Sequence[Block]) -> Iterator[Pair]:
    """Yield each `key: value` in prose; code fences and comments are skipped."""
    for block in blocks:
        match block:
            case Paragraph() | Raw():
                yield from _pairs_of_lines(block.mark)
            case Bullets():
                for item in block.items:
                    for pair in _pairs_of_lines(item.mark):
                        below = ", ".join(i.mark.text for i in item.items)
                        yield (
                            pair
                            if pair.value.text
                            else pair._replace(value=pair.value._replace(text=below))
                        )
                    yield from pairs(item.blocks)
            case Table():
                yield from _pairs_of_table(block)
            case _:
                pass


def _pairs_of_lines(mark: Mark) -> Iterator[Pair]:
    """Yield the pair of each line; the value may be alone on the line below its key."""
    last: Pair | None = None
    for line in lines_of(mark):
        pair = split(line)
        if last is not None:
            yield last._replace(value=line.strip()) if pair is None else last
        last = None
        if pair is not None and pair.value.text:
            yield pair
        elif pair is not None:
            last = pair
    if last is not None:
        yield last


def lines_of(mark: Mark) -> Iterator[Mark]:
    """Yield each line of a text."""
    for number, line in enumerate(mark.text.split("\n")):
        yield Mark(line, mark.line + number, mark.column if number == 0 else 1)


def lines(blocks: Sequence[Block]) -> Iterator[Mark]:
    """Yield the lines of prose, bullets, quotes and HTML."""
    for block in blocks:
        match block:
            case Paragraph() | Raw():
                yield from lines_of(block.mark)
            case Bullets():
                for item in block.items:
                    yield from lines_of(item.mark)
                    yield from lines(item.blocks)
            case _:
                pass


def bare_items(blocks: Sequence[Block]) -> Iterator[Item]:
    """Yield each bullet, and those nested below it."""
    for block in blocks:
        for item in block.items if isinstance(block, Bullets) else ():
            yield item
            yield from bare_items(item.blocks)


def _pairs_of_table(table: Table) -> Iterator[Pair]:
    """Pair each row's first cell with its other cells, and each column's head with its cells."""
    for row in [table.head, *table.rows]:
        for cell in row[1:]:
            yield Pair(row[0], cell, marked=False)
    for row in table.rows:
        for head, cell in zip(table.head, row, strict=False):
            yield Pair(head, cell, marked=False)
