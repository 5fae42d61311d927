"""Restrictions that stand where nothing would enforce them: found, and the door closed."""

from collections.abc import Iterator, Sequence

from toolmark._model.code import Code
from toolmark._parse.blocks.outline import Block, Bullets, Paragraph, Part, Raw, Table
from toolmark._parse.fields.entries import Entry
from toolmark._parse.fields.table import TABLES, Field, SectionTable
from toolmark._parse.fields.values import READERS, Unread
from toolmark._parse.source.page import Mark, Page, replace
from toolmark._parse.words import scalars
from toolmark._parse.words.keys import Pair, fold, nearest, plain, split

_RESTRICTING = {
    fold(name): (table, field)
    for table in TABLES["tool"]
    if not table.children
    for field in table.fields
    if field.restricts
    for name in (field.name, field.attribute, *field.aliases)
}
"""The folded names of every field that keeps calls from being made."""


def refuse_strays(
    page: Page, blocks: Sequence[Block], parts: Sequence[Part], here: SectionTable | None
) -> None:
    """Report each restriction in prose that is kept; `here` is the section that it was left in.

    What a known section did not read is held against its fields, near misses too; elsewhere a
    line counts where its key names a restriction and its value could be one.
    """
    for pair in _pairs([*blocks, *(block for part in parts for block in part.blocks)]):
        if here is None or not _refused_left(page, pair, here):
            refuse_stray(page, pair)
    if here is None or not here.restricts:
        return
    for part in parts:
        known = here.field(plain(part.heading.text))
        if known is not None:
            _lost(page, part.heading, known.name, here)


def refuse_stray(page: Page, pair: Pair) -> bool:
    """Report `key: value` where nothing reads it, if it says a restriction that could be held."""
    found = restriction_of(pair)
    if found is None:
        return False
    table, known = found
    page.error(
        Code.MISPLACED_FIELD,
        pair.key,
        f"'{plain(pair.key.text)}' restricts nothing here",
        f"write `- **{known.name}**: …` below `## {table.name}`, or reword it",
    )
    return True


def restriction_of(pair: Pair) -> tuple[SectionTable, Field] | None:
    """Find the restriction that `key: value` names, where the value could be one of it."""
    found = _RESTRICTING.get(fold(pair.key.text))
    return found if found is not None and _reads(found[1], pair) else None


def _refused_left(page: Page, pair: Pair, here: SectionTable) -> bool:
    """Report what a section with restrictions left unread and that was meant as one."""
    guarded = [f for f in here.fields if f.restricts or here.restricts]
    known = here.field(pair.key.text)
    if known in guarded and known is not None:
        _lost(page, pair.key, known.name, here)
        return True
    near = nearest(plain(pair.key.text), [f.name for f in guarded])
    if near is not None:
        key = page.mark(plain(pair.key.text), pair.key.line, pair.key.column)
        page.error(
            Code.UNKNOWN_FIELD,
            key,
            f"unknown field '{key.text}'; a restriction is never guessed",
            f"did you mean '{near}'?",
            replace(key, near),
        )
        return True
    if here.restricts and pair.marked and _is_setting(pair.value.text):
        _lost(page, pair.key, plain(pair.key.text), here)
        return True
    return False


def _lost(page: Page, mark: Mark, name: str, here: SectionTable) -> None:
    page.error(
        Code.UNREADABLE_VALUE,
        mark,
        f"'{name}' is not read here, so what it restricts is lost",
        f"write `- **{name}**: …` as a bullet directly below `## {here.name}`",
    )


def _is_setting(text: str) -> bool:
    """Whether a value is one that a field takes, and no sentence."""
    readers = (scalars.boolean, scalars.number, scalars.duration, scalars.size, scalars.rate)
    return any(read(text) is not None for read in readers)


def _reads(known: Field, pair: Pair) -> bool:
    nowhere = Page("", [])
    try:
        READERS[known.kind](nowhere, known, Entry(pair.key, pair.value))
    except Unread:
        return False
    return True


def _pairs(blocks: Sequence[Block]) -> Iterator[Pair]:
    """Give what reads as `key: value` in prose; code fences and comments are opaque."""
    for block in blocks:
        match block:
            case Paragraph() | Raw():
                yield from _pairs_of_lines(block.mark)
            case Bullets():
                for item in block.items:
                    yield from _pairs_of_lines(item.mark)
                    yield from _pairs(item.blocks)
            case Table():
                yield from _pairs_of_table(block)
            case _:
                pass


def _pairs_of_lines(mark: Mark) -> Iterator[Pair]:
    for number, line in enumerate(mark.text.split("\n")):
        column = mark.column if number == 0 else 1
        pair = split(Mark(line, mark.line + number, column))
        if pair is not None:
            yield pair


def _pairs_of_table(table: Table) -> Iterator[Pair]:
    """Give each row's first cell with each other one, and each head with what stands below it."""
    for row in [table.head, *table.rows]:
        for cell in row[1:]:
            yield Pair(row[0], cell, marked=False)
    for row in table.rows:
        for head, cell in zip(table.head, row, strict=False):
            yield Pair(head, cell, marked=False)
