"""Report a field within the value of another one, where it would be a part of the value."""

import re
from collections.abc import Iterator, Sequence

from toolmd._parse.blocks.block import Block
from toolmd._parse.blocks.prose_lines import lines
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.field import Field, SectionTable
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import SEPARATORS, Pair, split
from toolmd._parse.words.scalars import boolean, listed
from toolmd._types.code import Code

_BOLD = re.compile(r"(\*\*|__)(?P<key>[^*_`:]{2,40})(?::\1|\1\s*:)(?P<value>[^*_;,)]*)")
_QUOTES = frozenset("`\"'*_")
_MAY_SPLIT = frozenset(SEPARATORS)
_SPAN = re.compile(r"`[^`]*`")
_LISTS = frozenset(("list", "names", "context", "patterns", "enum", "hosts", "text"))


def report_hidden(page: Page, table: SectionTable, known: Field, entry: Entry) -> None:
    """Report `- **Tags**: a, **Read Only**: yes`, where a part of the value names a field.

    Args:
        page: the page that is being read.
        table: the fields of the place.
        known: the field that the entry names.
        entry: the entry with the value.
    """
    items = _items(page, entry) if known.kind in _LISTS else ()
    below = coded(page, entry.blocks) if entry.blocks and known.kind != "prose" else ()
    for pair in (*_bold(page, entry), *items, *below):
        hidden = table.field(pair.key.text)
        if hidden is None or not _sets(pair, known, hidden):
            continue
        page.error(
            Code.MISPLACED_FIELD,
            pair.key,
            f"'{hidden.name}' is within the value of '{known.name}', so it would set nothing",
            f"write `- **{hidden.name}**: …` as a bullet of its own",
        )


def coded(page: Page, blocks: Sequence[Block]) -> Iterator[Pair]:
    """Yield the bullets of bold keys that are indented so far that markdown makes them code."""
    for line in lines(blocks):
        bullet = line.text.strip()
        pair = split(page.mark(bullet[2:], line.line)) if bullet.startswith(("- ", "* ")) else None
        if pair is not None and pair.marked:
            yield pair


def _sets(pair: Pair, known: Field, hidden: Field) -> bool:
    """Return whether the words set a field; in prose and lists, only those of a restriction do."""
    free = known.kind == "prose" or not pair.marked
    if free and not hidden.restricts:
        return False
    return hidden.kind != "boolean" or boolean(pair.value.text) is not None


def _bold(page: Page, entry: Entry) -> Iterator[Pair]:
    if "**" not in entry.value.text and "__" not in entry.value.text:
        return
    text = _SPAN.sub(lambda span: " " * len(span[0]), entry.value.text)
    for found in _BOLD.finditer(text):
        yield Pair(
            page.mark(found["key"].strip(), entry.value.line, entry.value.column),
            Mark(found["value"].strip(), entry.value.line, 1),
            marked=True,
        )


def _items(page: Page, entry: Entry) -> Iterator[Pair]:
    marks = [
        page.mark(text, entry.value.line, entry.value.column)
        for text in listed(entry.text)
        if text[:1] not in _QUOTES and "**" not in text and not _MAY_SPLIT.isdisjoint(text)
    ]
    for mark in (*marks, *(item.mark for item in entry.items)):
        pair = split(mark)
        if pair is not None:
            yield pair._replace(marked=False)
