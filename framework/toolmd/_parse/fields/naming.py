"""Match entries to the fields of a table: known, repaired, reported, or unknown."""

import re
from dataclasses import dataclass

from toolmd._parse.blocks.block import Raw
from toolmd._parse.fields.entries import Entry, names
from toolmd._parse.fields.table import UNSUPPORTED, SectionTable, elsewhere
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import fold, plain
from toolmd._parse.words.scalars import boolean
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.schema import KEYWORDS

_SURE = 6
"""Another name of a restriction with this many letters is also found if it is misspelt."""


@dataclass(slots=True)
class Fields:
    """The entries that name a field of a table, and the others."""

    known: dict[str, tuple[Row, Entry]]
    unknown: list[Entry]

    def entry(self, attribute: str) -> Entry | None:
        """Return the entry of a field."""
        found = self.known.get(attribute)
        return found[1] if found else None


def name_fields(
    page: Page, entries: list[Entry], table: SectionTable, kind: str | None = None
) -> Fields:
    """Match entries to a table's fields; repair or report names that are not in it."""
    fields = Fields({}, [])
    for entry in entries:
        known = entry.known or table.field(entry.key.text)
        if known is None:
            known = _repaired(page, entry, table)
        elif known.synonyms and fold(entry.name) in map(fold, known.synonyms):
            _read_as(page, entry.key, known.name)
        if known is None:
            if not _reported(page, entry, table, kind):
                fields.unknown.append(entry)
            continue
        if known.attribute in fields.known:
            report_duplicate(page, known, entry, fields.known[known.attribute][1])
            continue
        fields.known[known.attribute] = (known, entry)
        report_within(page, table, known, entry)
    return fields


_LISTS = frozenset(("list", "names", "context", "patterns", "enum", "hosts", "text"))


def report_within(page: Page, table: SectionTable, known: Row, entry: Entry) -> None:
    """Report `- **Tags**: a, **Read Only**: yes`, where a part of the value names a field."""
    texts = [entry.value, *(item.mark for item in entry.items if known.kind in _LISTS)]
    texts += [
        block.mark for block in entry.blocks if isinstance(block, Raw) and known.kind != "prose"
    ]
    for mark in texts:
        bare = re.sub(r"`[^`]*`", "", mark.text)
        for found in re.finditer(r"(\*\*|__)([^*_:]{2,40})(?::\1|\1\s*:)\s*([^,;)]*)", bare):
            hidden = table.field(found[2])
            if hidden is not None and (hidden.restricts or known.kind != "prose"):
                what = f"'{hidden.name}' is within the value of '{known.name}', so it sets nothing"
                help_ = f"write `- **{hidden.name}**: …` as a bullet of its own"
                page.error(Code.MISPLACED_FIELD, page.mark(found[2], mark.line), what, help_)


def _repaired(page: Page, entry: Entry, table: SectionTable) -> Row | None:
    names = [name for f in table.fields for name in _names(f, table)]
    known = table.field(near) if (near := nearest(entry.name, names)) else None
    if near is None or known is None:
        return None
    near = near if near in known.aliases else known.name
    key = page.mark(entry.name, entry.key.line, entry.key.column)
    if table.restricts or known.restricts or (known.fits and known.attribute in KEYWORDS):
        page.error(
            Code.UNKNOWN_FIELD,
            key,
            f"unknown field '{entry.name}'; restrictions are never guessed",
            f"did you mean '{near}'?",
            replace(key, near),
        )
        return known
    _read_as(page, entry.key, near)
    return known


def _names(row: Row, table: SectionTable) -> tuple[str, ...]:
    """Return the names that a slip is compared with: where keys are open, long aliases too."""
    others = (*row.aliases, *row.synonyms) if row.restricts and not table.restricts else ()
    return (row.name, *(name for name in others if len(fold(name)) >= _SURE))


def _read_as(page: Page, written: Mark, name: str) -> None:
    key = page.mark(plain(written.text), written.line, written.column)
    page.warn(
        Code.MISSPELT_FIELD,
        key,
        f"'{key.text}' was read as '{name}'",
        f"write '{name}'",
        replace(key, name),
    )


def _reported(page: Page, entry: Entry, table: SectionTable, kind: str | None) -> bool:
    folded = fold(entry.name)
    if table.restricts:
        page.error(
            Code.UNKNOWN_FIELD,
            entry.key,
            f"unknown field '{entry.name}' in {table.name}; a restriction that can't be read "
            "keeps the tool from loading",
            f"{table.name} has {names(table)}",
        )
        return True
    if table.field("types") and folded in UNSUPPORTED:
        page.error(
            Code.UNSUPPORTED_FIELD,
            entry.key,
            f"'{entry.name}' is a constraint that Toolmd can't enforce",
            "write it as Minimum, Maximum, Min Length, Enum or a rule under `## Rules`",
        )
        return True
    misplaced = elsewhere(kind, entry.name, table) if kind else None
    if misplaced is not None and (misplaced[0].restricts or misplaced[1].restricts):
        page.error(
            Code.MISPLACED_FIELD,
            entry.key,
            f"'{entry.name}' restricts nothing here",
            f"move it to `## {misplaced[0].name}`",
        )
        return True
    return False


def report_duplicate(page: Page, known: Row, entry: Entry, first: Entry) -> None:
    """Report a field that is written twice, unless an implied entry agrees with the other."""
    if (entry.implied or first.implied) and boolean(entry.text) is boolean(first.text) is not None:
        return  # as `name?` and `Required: no` do
    if entry.text == first.text and not entry.blocks and not first.blocks:
        page.warn(
            Code.DUPLICATE_FIELD,
            entry.key,
            f"'{known.name}' is written twice here",
            f"keep the one in line {first.key.line}",
        )
        return
    page.error(
        Code.DUPLICATE_FIELD,
        entry.key,
        f"'{known.name}' is written twice here, with different values",
        f"keep one; the other is in line {first.key.line}",
    )
