"""Bullets, table rows and lines of a paragraph as entries: a key, a value, what is nested below."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolmark._model.code import Code
from toolmark._parse.blocks.outline import Block, Bullets, Comment, Fence, Item, Paragraph, Table
from toolmark._parse.fields.table import UNSUPPORTED, Field, SectionTable, elsewhere
from toolmark._parse.source.page import Mark, Page, replace
from toolmark._parse.words.flow import flow
from toolmark._parse.words.keys import Pair, fold, nearest, plain, split
from toolmark._parse.words.scalars import boolean


@dataclass(slots=True)
class Entry:
    """A key and its value, as written; the value may continue in nested blocks."""

    key: Mark
    value: Mark
    blocks: list[Block] = field(default_factory=list)
    listed: list[Mark] | None = None
    """The value as a list, where front matter gives one."""
    bare: bool = False
    """Whether only the key stands there, as in `- Required`."""
    known: Field | None = None
    """The field that the key was found to name, where it was looked up before."""
    implied: bool = False
    """Whether a word or a sign stands for it, as in `name?`."""

    @property
    def items(self) -> list[Item]:
        """The bullets nested directly below."""
        return [i for block in self.blocks if isinstance(block, Bullets) for i in block.items]

    @property
    def name(self) -> str:
        """The key without markup."""
        return plain(self.key.text)

    @property
    def text(self) -> str:
        """The value on one line, without comments."""
        return flow(self.value.text)


def implied(key: str, value: str, mark: Mark) -> Entry:
    """Make the entry that a word at `mark` stands for: `(required)` is `Required: yes`."""
    at = Mark(value, mark.line, mark.column)
    return Entry(at._replace(text=key), at, implied=True)


@dataclass(slots=True)
class EntriesRead:
    """The entries of a section, and what of it holds none."""

    entries: list[Entry]
    prose: list[Block]


def read_entries(page: Page, blocks: list[Block], table: SectionTable) -> EntriesRead:
    """Find the entries in a section's blocks; a paragraph counts where each line is a field."""
    read = EntriesRead([], [])
    for block in blocks:
        match block:
            case Bullets():
                _from_bullets(page, block, table, read)
            case Table() if (rows := table_entries(block, table)) is not None:
                read.entries += rows
            case Table() if table.restricts:
                page.error(
                    Code.UNREADABLE_VALUE,
                    block.head[0],
                    f"a table in {table.name} that names none of its fields restricts nothing",
                    f"write `- **Field**: value`; {table.name} has {_names(table)}",
                )
            case Paragraph() if entries := [*lines_as_entries(page, block.mark, table)]:
                read.entries += entries
            case Comment():
                pass
            case _:
                read.prose.append(block)
    return read


def _from_bullets(page: Page, block: Bullets, table: SectionTable, read: EntriesRead) -> None:
    left: list[Item] = []
    for item in block.items:
        entries = item_entries(page, item, table)
        if not entries and table.field(plain(item.mark.text)):
            entries = [bare_entry(item)]
        if not entries and item.mark.text and (table.restricts or table.fields):
            _refuse_bare(page, item, table)
        if entries:
            read.entries += entries
        else:
            left.append(item)
    if left:
        read.prose.append(Bullets(left, block.ordered))


def _refuse_bare(page: Page, item: Item, table: SectionTable) -> None:
    if table.restricts:
        page.error(
            Code.UNREADABLE_VALUE,
            item.mark,
            f"'{_short(item.mark.text)}' in {table.name} is no field, so what it restricts is lost",
            f"write `- **Field**: value`; {table.name} has {_names(table)}",
        )


def item_entry(item: Item) -> Entry | None:
    """Read a bullet as `key: value`, or None where it is not one."""
    pair = split(item.mark)
    return None if pair is None else Entry(pair.key, pair.value, item.blocks)


def bare_entry(item: Item) -> Entry:
    """Read a bullet that is a key alone, such as `- Required`."""
    return Entry(item.mark, Mark("", item.line, item.mark.column), item.blocks, bare=True)


def item_entries(page: Page, item: Item, table: SectionTable) -> list[Entry]:
    """Read a bullet as `key: value`; a line below that names a field is a field of its own."""
    if "\n" not in item.mark.text:
        entry = item_entry(item)
        return [] if entry is None else [entry]
    entries = [*lines_as_entries(page, item.mark, table, any_first=True)]
    if entries:
        entries[-1].blocks = item.blocks
    return entries


def lines_as_entries(
    page: Page, mark: Mark, table: SectionTable, *, any_first: bool = False
) -> Iterator[Entry]:
    """Read `**Key**: value` lines; the first names a field, or with `any_first` any key."""
    last: Entry | None = None
    for number, line in enumerate(mark.text.split("\n")):
        column = mark.column if number == 0 else 0
        pair = split(page.mark(line.strip(), mark.line + number, column))
        taken = any_first if last is None else pair is not None and pair.marked
        if pair is not None and (taken or _is_field(table, pair)):
            if last is not None:
                yield last
            last = Entry(pair.key, pair.value)
        elif last is None:
            return
        else:
            last.value = Mark(f"{last.value.text}\n{line}", last.value.line, last.value.column)
    if last is not None:
        yield last


def _is_field(table: SectionTable, pair: Pair) -> bool:
    """Whether a line begins with a field's name, or with a slip of one."""
    if table.field(pair.key.text) is not None:
        return True
    return nearest(plain(pair.key.text), [f.name for f in table.fields]) is not None


_HEADS = {"field", "key", "name", "property", "setting", "item", "aspect", "attribute"}


def table_entries(block: Table, table: SectionTable) -> list[Entry] | None:
    """Read a table of keys and values; None where its rows name no fields."""
    if len(block.head) != 2:  # noqa: PLR2004 - a key and a value
        return None
    rows = [row for row in block.rows if any(cell.text for cell in row)]
    if any(len(row) > 2 for row in rows):  # noqa: PLR2004 - cells that no column has
        return None
    if table.field(plain(block.head[0].text)):
        rows.insert(0, block.head)
    elif fold(block.head[0].text) not in _HEADS:
        return None
    if not any(table.field(plain(row[0].text)) for row in rows):
        return None
    return [Entry(row[0], row[1]) for row in rows]


@dataclass(slots=True)
class Fields:
    """The entries that named a field of a table, and those that named none."""

    known: dict[str, tuple[Field, Entry]]
    unknown: list[Entry]

    def entry(self, attribute: str) -> Entry | None:
        """The entry of a field."""
        found = self.known.get(attribute)
        return found[1] if found else None


def name_fields(
    page: Page, entries: list[Entry], table: SectionTable, kind: str | None = None
) -> Fields:
    """Hold entries against a table: known, repaired, refused, or left as unknown."""
    fields = Fields({}, [])
    for entry in entries:
        known = entry.known or table.field(entry.key.text) or _repaired(page, entry, table)
        if known is None:
            if not _refused(page, entry, table, kind):
                fields.unknown.append(entry)
            continue
        if known.attribute in fields.known:
            _twice(page, known, entry, fields.known[known.attribute][1])
            continue
        fields.known[known.attribute] = (known, entry)
    return fields


def _repaired(page: Page, entry: Entry, table: SectionTable) -> Field | None:
    near = nearest(entry.name, [f.name for f in table.fields])
    known = table.field(near) if near else None
    if near is None or known is None:
        return None
    key = page.mark(entry.name, entry.key.line, entry.key.column)
    if table.restricts or known.restricts:
        page.error(
            Code.UNKNOWN_FIELD,
            key,
            f"unknown field '{entry.name}'; a restriction is never guessed",
            f"did you mean '{near}'?",
            replace(key, near),
        )
        return known
    page.warn(
        Code.MISSPELT_FIELD,
        key,
        f"'{entry.name}' was read as '{near}'",
        f"write '{near}'",
        replace(key, near),
    )
    return known


def _refused(page: Page, entry: Entry, table: SectionTable, kind: str | None) -> bool:
    folded = fold(entry.name)
    if table.restricts:
        page.error(
            Code.UNKNOWN_FIELD,
            entry.key,
            f"unknown field '{entry.name}' in {table.name}; a restriction that can't be read "
            "keeps the tool from loading",
            f"{table.name} has {_names(table)}",
        )
        return True
    if table.field("types") and folded in UNSUPPORTED:
        page.error(
            Code.UNSUPPORTED_FIELD,
            entry.key,
            f"'{entry.name}' is a constraint that Toolmark can't hold",
            "say it with Minimum, Maximum, Min Length, Enum or a rule under `## Rules`",
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


def _twice(page: Page, known: Field, entry: Entry, first: Entry) -> None:
    if (entry.implied or first.implied) and boolean(entry.text) is boolean(first.text) is not None:
        return  # `name?` and `Required: no` say the same in two usual ways
    if entry.text == first.text and not entry.blocks and not first.blocks:
        page.warn(
            Code.DUPLICATE_FIELD,
            entry.key,
            f"'{known.name}' stands twice here",
            f"keep the one in line {first.key.line}",
        )
        return
    code = Code.DUPLICATE_FIELD
    page.error(
        code,
        entry.key,
        f"'{known.name}' stands twice here, and differently",
        f"keep one; the other stands in line {first.key.line}",
    )


def fences(blocks: list[Block]) -> list[Fence]:
    """Give the fences among blocks."""
    return [block for block in blocks if isinstance(block, Fence)]


def _names(table: SectionTable) -> str:
    return ", ".join(f.name for f in table.fields) if table.fields else "no fields"


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 40 else line[:39] + "…"  # noqa: PLR2004
