"""Read bullets, table rows and lines of a paragraph as entries: a key, a value, nested blocks."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from toolmd._parse.blocks.block import Block, Bullets, Comment, Fence, Item, Paragraph, Table
from toolmd._parse.fields.table import SectionTable
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import Pair, flow, fold, plain, says_none, split
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code
from toolmd._types.field import Row


class Unread(Exception):  # noqa: N818 - a finding, not an error
    """The value can't be read as its kind; the message says what to write instead.

    Args:
        remedy: the message.
        instead: the text that replaces the value, if it is known.
    """

    def __init__(self, remedy: str, instead: str = "") -> None:
        super().__init__(remedy)
        self.instead = instead


@dataclass(slots=True)
class Entry:
    """A key and its value as written; the value may continue in nested blocks."""

    key: Mark
    value: Mark
    blocks: list[Block] = field(default_factory=list)
    listed: list[Mark] | None = None
    """The value as a list, if front matter has one."""
    bare: bool = False
    """Whether the key is alone, as in `- Required`."""
    known: Row | None = None
    """The field that the key names, if it was already found."""
    checked: bool | None = None
    """Whether the checkbox before it is ticked; None without a checkbox."""
    implied: bool = False
    """Whether a word or a sign implies the entry, as in `name?`."""

    @property
    def items(self) -> list[Item]:
        """Return the bullets nested directly below."""
        return [i for block in self.blocks if isinstance(block, Bullets) for i in block.items]

    @property
    def mark(self) -> Mark:
        """Return the value, or the key where there is none."""
        return self.value if self.value.text else self.key

    @property
    def name(self) -> str:
        """Return the key without markup."""
        return plain(self.key.text)

    @property
    def text(self) -> str:
        """Return the value on one line, without comments."""
        return flow(self.value.text)


def implied(key: str, value: str, mark: Mark) -> Entry:
    """Build the entry that a word at `mark` implies: `(required)` is `Required: yes`."""
    at = Mark(value, mark.line, mark.column)
    return Entry(at._replace(text=key), at, implied=True)


@dataclass(slots=True)
class EntriesRead:
    """The entries of a section, and its other blocks."""

    entries: list[Entry]
    prose: list[Block]


def read_entries(page: Page, blocks: list[Block], table: SectionTable) -> EntriesRead:
    """Read the entries in a section's blocks; a paragraph counts if its lines are fields."""
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
                    f"this table in {table.name} is not read, so it restricts nothing",
                    "write two columns, Field and Value, or `- **Field**: value`; "
                    f"{table.name} has {names(table)}",
                )
            case Paragraph() if entries := [*lines_as_entries(page, block.mark, table)]:
                read.entries += entries
            case Comment():
                pass
            case Paragraph() if says_none(block.mark.text):
                pass
            case _:
                read.prose.append(block)
    restricts = table.restricts or any(field.restricts for field in table.fields)
    if restricts and not read.entries and (code := fences(read.prose)):
        page.error(
            Code.UNREADABLE_VALUE,
            code[0].mark,
            f"a code fence is not read, so {table.name} sets nothing",
            f"write `- **Field**: value`, one on each line; {table.name} has {names(table)}",
        )
    return read


def _from_bullets(page: Page, block: Bullets, table: SectionTable, read: EntriesRead) -> None:
    left: list[Item] = []
    for item in block.items:
        entries = item_entries(page, item, table)
        words = plain(item.mark.text)
        if not entries and table.field(words):
            entries = [bare_entry(item)]
        if not entries and not item.blocks and says_none(item.mark.text):
            continue
        if not entries and item.mark.text and table.restricts:
            _report_bare(page, item, table)
        if entries:
            read.entries += entries
        else:
            left.append(item)
    if left:
        read.prose.append(Bullets(left, block.ordered))


def _report_bare(page: Page, item: Item, table: SectionTable) -> None:
    page.error(
        Code.UNREADABLE_VALUE,
        item.mark,
        f"'{_short(item.mark.text)}' in {table.name} is not a field, so its restriction is lost",
        f"write `- **Field**: value`; {table.name} has {names(table)}",
    )


def item_entry(item: Item) -> Entry | None:
    """Read a bullet as `key: value`; return None for any other bullet."""
    pair = split(item.mark)
    if pair is None:
        return None
    return Entry(pair.key, pair.value, item.blocks, checked=item.checked)


def bare_entry(item: Item) -> Entry:
    """Read a bullet that is only a key, such as `- Required`."""
    end = Mark("", item.line, item.mark.column)
    return Entry(item.mark, end, item.blocks, bare=True, checked=item.checked)


def item_entries(page: Page, item: Item, table: SectionTable) -> list[Entry]:
    """Read a bullet as `key: value`; a later line that names a field is an entry of its own."""
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
    """Read `**Key**: value` lines; the first must name a field, or any key with `any_first`."""
    last: Entry | None = None
    for number, line in enumerate(mark.text.split("\n")):
        column = mark.column if number == 0 else 0
        pair = split(page.mark(line.strip(), mark.line + number, column))
        taken = any_first if last is None else pair is not None and pair.marked
        if pair is not None and (taken or _is_field(table, pair)):
            if last is not None:
                yield unbroken(last)
            last = Entry(pair.key, pair.value)
        elif last is None:
            return
        else:
            last.value = Mark(f"{last.value.text}\n{line}", last.value.line, last.value.column)
    if last is not None:
        yield last


def unbroken(entry: Entry) -> Entry:
    """Remove the backslash that breaks the line at the end of a value."""
    text = entry.value.text
    if text.endswith("\\"):
        entry.value = entry.value._replace(text=text[:-1].rstrip())
    return entry


def _is_field(table: SectionTable, pair: Pair) -> bool:
    """Return whether a line begins with a field's name or a misspelling of one."""
    key = pair.key.text
    if table.field(key) is not None:
        return True
    return nearest(plain(pair.key.text), [f.name for f in table.fields]) is not None


_HEADS = {"field", "key", "name", "property", "setting", "item", "aspect", "attribute"}


def table_entries(block: Table, table: SectionTable) -> list[Entry] | None:
    """Read a table of keys and values; return None if its rows do not name fields."""
    if len(block.head) != 2:  # noqa: PLR2004 - a key and a value
        return None
    rows = [row for row in block.rows if any(cell.text for cell in row)]
    if any(len(row) > 2 for row in rows):  # noqa: PLR2004 - cells without a column
        return None
    if table.field(plain(block.head[0].text)):
        rows.insert(0, block.head)
    keys = [plain(row[0].text) for row in rows]
    known = [table.field(key) is not None for key in keys]
    head = fold(block.head[0].text)
    if not any(known) or not (all(known) or not head or head in _HEADS):
        return None
    return [Entry(row[0], row[1]) for row in rows]


def fences(blocks: list[Block]) -> list[Fence]:
    """Return the fences among blocks."""
    return [block for block in blocks if isinstance(block, Fence)]


def names(table: SectionTable) -> str:
    return ", ".join(f.name for f in table.fields) if table.fields else "no fields"


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 40 else line[:39] + "…"  # noqa: PLR2004
