"""Read bullets, rows and lines as entries, and match entries to the fields of a section."""

import re
from dataclasses import dataclass, field
from dataclasses import replace as replaced

from toolmd._parse.blocks import Block, Bullets, Comment, Fence, Node, Paragraph, Raw, Table
from toolmd._parse.fields.table import PARAMETER, UNSUPPORTED, SectionTable
from toolmd._parse.page import Mark, Page, replace
from toolmd._parse.words import Pair, fold, nearest, plain, says_none, split
from toolmd._types.code import Code
from toolmd._types.field import Row
from toolmd._types.schema import KEYWORDS


class Unread(Exception):  # noqa: N818 - a finding, not an error
    """The value can't be read as its kind; the message says what to write instead.

    Args:
        remedy: the message.
        instead: the text that replaces the value, if it is known.
    """

    def __init__(self, remedy: str, instead: str = "") -> None:
        super().__init__(remedy)
        self.instead = instead


def imply(key: str, value: str, mark: Mark) -> Node:
    """Build the entry that a word at `mark` implies: `(required)` is `Required: yes`."""
    at = Mark(value, mark.line, mark.column)
    return Node(at._replace(text=key), at, implied=True)


@dataclass(slots=True)
class EntriesRead:
    """The entries of a section, and its other blocks."""

    entries: list[Node]
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
                what = f"this table in {table.name} is not read, so it restricts nothing"
                help_ = "write two columns, Field and Value, or `- **Field**: value`; "
                help_ += f"{table.name} has {names(table)}"
                page.error(Code.UNREADABLE_VALUE, block.head[0], what, help_)
            case Paragraph() if entries := lines_as_entries(page, block.mark, table):
                read.entries += entries
            case Comment():
                pass
            case Paragraph() if says_none(block.mark.text):
                pass
            case _:
                read.prose.append(block)
    restricts = table.restricts or any(field.restricts for field in table.fields)
    if restricts and not read.entries and (code := fences(read.prose)):
        what = f"a code fence is not read, so {table.name} sets nothing"
        help_ = f"write `- **Field**: value`, one on each line; {table.name} has {names(table)}"
        page.error(Code.UNREADABLE_VALUE, code[0].mark, what, help_)
    return read


def _from_bullets(page: Page, block: Bullets, table: SectionTable, read: EntriesRead) -> None:
    left: list[Node] = []
    for item in block.items:
        entries = item_entries(page, item, table)
        words = plain(item.mark.text)
        if not entries and table.field(words):
            entries = [item]
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


def _report_bare(page: Page, item: Node, table: SectionTable) -> None:
    what = f"'{_short(item.mark.text)}' in {table.name} is not a field, so its restriction is lost"
    help_ = f"write `- **Field**: value`; {table.name} has {names(table)}"
    page.error(Code.UNREADABLE_VALUE, item.mark, what, help_)


def item_entries(page: Page, item: Node, table: SectionTable) -> list[Node]:
    """Read a bullet as `key: value`; a later line that names a field is an entry of its own."""
    if not item.keyed or "\n" not in item.mark.text:
        return [item] if item.keyed else []
    entries = lines_as_entries(page, item.mark, table, below=item)
    item.blocks, entries[-1].blocks = [], item.blocks
    return entries


def lines_as_entries(
    page: Page, mark: Mark, table: SectionTable, *, below: Node | None = None
) -> list[Node]:
    """Read `**Key**: value` lines; the first names a field, or is that of the entry `below`."""
    entries = [] if below is None else [below]
    for number, text in enumerate(mark.text.split("\n")):
        column = mark.column if number == 0 else 0
        pair = split(page.mark(text.strip(), mark.line + number, column))
        if number == 0 and below is not None:
            below.value = below.value if pair is None else pair.value
        elif pair is not None and _begins(
            table, pair, later=bool(entries), of_bullet=below is not None
        ):
            entries.append(Node(pair.key, pair.value))
        elif entries:
            last = entries[-1]
            last.value = last.value._replace(text=f"{last.value.text}\n{text}")
        else:
            return []
    for entry in entries[:-1]:
        entry.value = entry.value._replace(text=entry.value.text.removesuffix("\\").rstrip())
    return entries


def _begins(table: SectionTable, pair: Pair, *, later: bool, of_bullet: bool) -> bool:
    """Return whether a line begins with a field's name, or a misspelling of one.

    A later line of a parameter's bullet must be marked or restrict: it may be a sentence.
    A later line of a section may have any marked key.
    """
    is_parameter = table.name == PARAMETER.name
    sure = pair.marked or not (is_parameter and of_bullet)
    known = table.field(pair.key.text)
    if known is not None:
        return sure or known.restricts
    near = nearest(plain(pair.key.text), [f.name for f in table.fields]) if sure else None
    return near is not None or (later and pair.marked and not is_parameter)


_HEADS = {"field", "key", "name", "property", "setting", "item", "aspect", "attribute"}


def table_entries(block: Table, table: SectionTable) -> list[Node] | None:
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
    return [Node(row[0], row[1]) for row in rows]


def fences(blocks: list[Block]) -> list[Fence]:
    """Return the fences among blocks."""
    return [block for block in blocks if isinstance(block, Fence)]


def names(table: SectionTable) -> str:
    return ", ".join(f.name for f in table.fields) if table.fields else "no fields"


def _short(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 40 else line[:39] + "…"  # noqa: PLR2004


_SURE = 6
"""Another name of a restriction with this many letters is also found if it is misspelt."""


def with_repeated(first: Node, entry: Node) -> Node:
    """Return an entry with the value of a further one of the same key as a bullet below it."""
    value = [Bullets([Node.bullet(entry.value)], ordered=False)] if entry.text else []
    return replaced(first, blocks=[*first.blocks, *value, *entry.blocks])


@dataclass(slots=True)
class Fields:
    """The entries that name a field of a table, and the others."""

    known: dict[str, tuple[Row, Node]]
    unknown: list[Node]
    twice: list[tuple[Row, Node]] = field(default_factory=list)
    """The further entries of fields in `known`."""

    def entry(self, attribute: str) -> Node | None:
        """Return the entry of a field."""
        found = self.known.get(attribute)
        return found[1] if found else None


def name_fields(page: Page, entries: list[Node], table: SectionTable) -> Fields:
    """Match entries to a table's fields; repair or report names that are not in it."""
    fields = Fields({}, [])
    for entry in entries:
        known = entry.known or table.field(entry.key.text)
        if known is None:
            known = _find_repair(page, entry, table)
        if known is None:
            if not _report_unknown(page, entry, table):
                fields.unknown.append(entry)
            continue
        if known.attribute in fields.known:
            fields.twice.append((known, entry))
            continue
        fields.known[known.attribute] = (known, entry)
        report_within(page, table, known, entry)
    return fields


_LISTS = frozenset(("list", "names", "context", "patterns", "hosts", "roles"))
_PROSAIC = frozenset(("text", "phrase", "enum"))


def report_within(page: Page, table: SectionTable, known: Row, entry: Node) -> None:
    """Report `- **Tags**: a, **Read Only**: yes`, where a part of the value names a field."""
    texts = [entry.value, *(i.mark for i in entry.items if known.kind in _LISTS | _PROSAIC)]
    for item in entry.items if known.kind in _LISTS else ():
        if item.keyed and table.field(item.key.text) is not None:
            what = f"'{item.name}' is nested below '{known.name}', so it sets nothing"
            page.error(Code.MISPLACED_FIELD, item.key, what, "unindent it")
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


def mark_of_name(page: Page, entry: Node) -> Mark:
    """Return the mark of an entry's name; of the value where a table's column has the name."""
    if entry.spot is entry.value:
        return entry.value
    return page.mark(entry.name, entry.key.line, entry.key.column)


def _find_repair(page: Page, entry: Node, table: SectionTable) -> Row | None:
    names = [name for f in table.fields for name in _names(f, table)]
    known = table.field(near) if (near := nearest(entry.name, names)) else None
    if near is None or known is None:
        return None
    near = near if near in known.aliases else known.name
    key = mark_of_name(page, entry)
    fix = replace(key, near) if key.text == entry.name else ()
    if table.restricts or known.restricts or (known.fits and known.attribute in KEYWORDS):
        what = f"unknown field '{entry.name}'; restrictions are never guessed"
        page.error(Code.UNKNOWN_FIELD, key, what, f"did you mean '{near}'?", fix)
        return known
    what = f"'{entry.name}' was read as '{near}'"
    page.warn(Code.MISSPELT_FIELD, key, what, f"write '{near}'", fix)
    return known


def _names(row: Row, table: SectionTable) -> tuple[str, ...]:
    """Return the names that a slip is compared with: where keys are open, long aliases too."""
    others = row.aliases if row.restricts and not table.restricts else ()
    return (row.name, *(name for name in others if len(fold(name)) >= _SURE))


def _report_unknown(page: Page, entry: Node, table: SectionTable) -> bool:
    """Report a key of a closed place that no field has; return whether it was reported."""
    folded = fold(entry.name)
    if table.restricts:
        what = f"unknown field '{entry.name}' in {table.name}; a restriction that can't be read "
        what += "keeps the tool from loading"
        page.error(Code.UNKNOWN_FIELD, entry.spot, what, f"{table.name} has {names(table)}")
        return True
    if table.field("types") and folded in UNSUPPORTED:
        what = f"'{entry.name}' is a constraint that Toolmd can't enforce"
        help_ = "write it as Minimum, Maximum, Min Length, Enum or a rule under `## Rules`"
        page.error(Code.UNSUPPORTED_FIELD, entry.spot, what, help_)
        return True
    return False
