"""Parameters as written, heading, bullet, bold line or table row, before their types are known."""

from dataclasses import dataclass, field

from toolmark._model.code import Code
from toolmark._parse.blocks.outline import Block, Bullets, Comment, Item, Paragraph, Part, Table
from toolmark._parse.fields.entries import Entry, item_entry, table_entries
from toolmark._parse.fields.table import PARAMETER
from toolmark._parse.parameters.columns import columns_of
from toolmark._parse.parameters.inline import Inline, read_inline
from toolmark._parse.parameters.type_words import WORDS
from toolmark._parse.source.page import Mark, Page
from toolmark._parse.words.flow import flow
from toolmark._parse.words.keys import fold, heading_text, plain, split

_NO_PARAMETERS = {
    "none",
    "na",
    "no",
    "noparameters",
    "noparams",
    "noarguments",
    "noinputs",
    "noinput",
    "nothing",
    "noparametersrequired",
    "noneparameters",
    "nonerequired",
}
_NO_PARAMETERS_TAILS = ("noparameters", "noarguments", "noinputs", "noinput", "noparams")


@dataclass(slots=True)
class Draft:
    """A parameter's name and everything said of it."""

    name: Mark
    entries: list[Entry] = field(default_factory=list)
    drafts: "list[Draft]" = field(default_factory=list)
    """The fields of an object, where they stand below it as parameters do."""
    notes: list[Mark] = field(default_factory=list)
    """Words beside a type that are no field."""
    prose: list[Block] = field(default_factory=list)

    @classmethod
    def of(cls, inline: Inline) -> "Draft":
        """Begin with what one line says."""
        return cls(inline.name, list(inline.entries), notes=list(inline.notes))


@dataclass(slots=True)
class Drafts:
    """The parameters of a section, and what of it is prose."""

    drafts: list[Draft]
    prose: list[Block]
    none_said: bool = False
    """Whether the section says in words that there are none."""


def read_drafts(page: Page, blocks: list[Block], parts: list[Part]) -> Drafts:
    """Find the parameters of a section: in its own blocks, then below its headings."""
    found = Drafts([], [])
    bold = False  # whether the block above is `**date** (string): the day`
    for block in blocks:
        match block:
            case Comment():
                continue
            case Table() if (columns := columns_of(block)) is not None:
                found.drafts += _from_table(page, block, columns)
            case Bullets() if bold and _all_fields(block):
                fill(page, found.drafts[-1], [block])
            case Bullets():
                _from_bullets(page, block, found)
            case Paragraph():
                before = len(found.drafts)
                _from_paragraph(block, found)
                bold = len(found.drafts) > before
                continue
            case _:
                found.prose.append(block)
        bold = False
    _from_headings(page, parts, found)
    return found


def _all_fields(block: Bullets) -> bool:
    return all((e := item_entry(i)) and PARAMETER.field(e.key.text) for i in block.items)


def _from_headings(page: Page, parts: list[Part], found: Drafts) -> None:
    """Make a draft of each heading; a deeper one below it is a field of it."""
    stack: list[tuple[int, Draft]] = []
    for part in parts:
        draft = from_heading(page, part)
        while stack and (stack[-1][0] >= part.level or not _may_hold_fields(stack[-1][1])):
            stack.pop()
        (stack[-1][1].drafts if stack else found.drafts).append(draft)
        stack.append((part.level, draft))


def _may_hold_fields(draft: Draft) -> bool:
    """Whether a deeper heading can be a field of it, and is no parameter one level too deep."""
    said = next((e for e in draft.entries if fold(e.key.text) == "type"), None)
    return said is None or fold(said.text) not in _SCALARS


_SCALARS = frozenset(
    word for word, (kind, _) in WORDS.items() if kind in {"string", "integer", "number", "boolean"}
)


def from_heading(page: Page, part: Part) -> Draft:
    """Read `### date` or `### date (string, required)` and what stands below it."""
    text = heading_text(part.heading.text)
    mark = page.mark(text, part.heading.line)
    inline = None if text.isidentifier() else read_inline(mark)
    said = inline is not None and (inline.typed or inline.separated)
    if inline is None or (inline.name.text != text.rstrip("?") and not said):
        draft = Draft(mark)
    else:
        draft = Draft.of(inline)
    fill(page, draft, part.blocks)
    return draft


def fill(page: Page, draft: Draft, blocks: list[Block]) -> None:
    """Read fields and nested parameters from the blocks below a parameter."""
    for block in blocks:
        match block:
            case Bullets():
                left = [item for item in block.items if not _take(page, draft, item)]
                if left:
                    draft.prose.append(Bullets(left, block.ordered))
            case Table() if (rows := table_entries(block, PARAMETER)) is not None:
                draft.entries += rows
            case Table() if (columns := columns_of(block)) is not None:
                draft.drafts += _from_table(page, block, columns)
            case Paragraph() if (lines := _field_lines(block)) is not None:
                draft.entries += lines
            case Comment():
                pass
            case _:
                draft.prose.append(block)


def _take(page: Page, draft: Draft, item: Item) -> bool:
    """Take a bullet as a field, or as a parameter nested in this one."""
    entry = item_entry(item)
    if entry is not None and (known := PARAMETER.field(entry.key.text)):
        entry.known = known
        draft.entries.append(entry)
        return True
    if entry is None and PARAMETER.field(plain(item.mark.text)):
        draft.entries.append(
            Entry(item.mark, Mark("", item.line, item.mark.column), item.blocks, bare=True)
        )
        return True
    inline = read_inline(item.mark)
    nested = any((e := item_entry(i)) and PARAMETER.field(e.key.text) for i in item.items)
    if inline is not None and (inline.typed or nested):
        draft.drafts.append(from_item(page, item, inline))
        return True
    if entry is not None:
        draft.entries.append(entry)
        return True
    return False


def from_item(page: Page, item: Item, inline: Inline) -> Draft:
    """Read a bullet that names a parameter, and what is nested below it."""
    draft = Draft.of(inline)
    fill(page, draft, item.blocks)
    return draft


def _from_bullets(page: Page, block: Bullets, found: Drafts) -> None:
    left: list[Item] = []
    for item in block.items:
        inline = read_inline(item.mark)
        if says_none(item.mark.text):
            found.none_said = True
        elif inline is not None and _names_parameter(inline, item):
            found.drafts.append(from_item(page, item, inline))
        else:
            left.append(item)
    if left:
        found.prose.append(Bullets(left, block.ordered))


def _names_parameter(inline: Inline, item: Item) -> bool:
    """Whether a bullet is a parameter and not a sentence."""
    if inline.typed or inline.marked:
        return True
    if any((e := item_entry(i)) and PARAMETER.field(e.key.text) for i in item.items):
        return True
    said = len(inline.entries) > 0
    alone = inline.name.text == item.mark.text.strip().rstrip("?")
    return ((inline.separated and said) or alone) and not inline.name.text[0].isupper()


def _from_paragraph(block: Paragraph, found: Drafts) -> None:
    """Read `**date** (string, required): the day`, one a line, or keep the prose."""
    if says_none(block.mark.text):
        found.none_said = True
        return
    drafts: list[Draft] = []
    for number, line in enumerate(block.mark.text.split("\n")):
        mark = Mark(line.strip(), block.mark.line + number, block.mark.column)
        inline = read_inline(mark) if mark.text.startswith(("**", "__", "`")) else None
        if inline is not None and inline.marked and (inline.typed or inline.separated):
            drafts.append(Draft.of(inline))
        elif drafts:
            _continue(drafts[-1], mark)
        else:
            found.prose.append(block)
            return
    found.drafts += drafts


def _continue(draft: Draft, mark: Mark) -> None:
    for entry in draft.entries:
        if entry.key.text == "Description":
            entry.value = Mark(
                f"{entry.value.text}\n{mark.text}", entry.value.line, entry.value.column
            )
            return
    draft.entries.append(Entry(Mark("Description", mark.line, mark.column), mark))


def _field_lines(block: Paragraph) -> list[Entry] | None:
    """Read a paragraph of `Key: value` lines, where the first names a field."""
    entries: list[Entry] = []
    for number, line in enumerate(block.mark.text.split("\n")):
        pair = split(Mark(line.strip(), block.mark.line + number, block.mark.column))
        if pair is not None and PARAMETER.field(pair.key.text):
            entries.append(Entry(pair.key, pair.value))
        elif entries:
            last = entries[-1]
            last.value = Mark(f"{last.value.text}\n{line}", last.value.line, last.value.column)
        else:
            return None
    return entries


def says_none(text: str) -> bool:
    """Whether words say that there are no parameters."""
    folded = fold(text)
    return folded in _NO_PARAMETERS or (
        len(folded) < 60 and folded.endswith(_NO_PARAMETERS_TAILS)  # noqa: PLR2004 - a sentence
    )


def _from_table(page: Page, table: Table, columns: list[str]) -> list[Draft]:
    drafts: list[Draft] = []
    for row in table.rows:
        if not any(cell.text.strip() for cell in row):
            continue
        name = row[columns.index("Name")]
        inline = read_inline(name)
        if inline is None:
            if not says_none(name.text):
                page.error(
                    Code.INVALID_NAME,
                    name,
                    "a row of parameters has no name",
                    "write the parameter's name in the first column",
                )
            continue
        draft = Draft.of(inline)
        for title, cell in zip(columns, row, strict=False):
            if title != "Name" and flow(cell.text) not in {"", "-", "–", "—"}:  # noqa: RUF001
                draft.entries.append(Entry(Mark(title, cell.line, cell.column), cell))
        drafts.append(draft)
    return drafts


_OWN_BLOCKS = {"description", "items", "properties", "unit"}
"""Fields whose readers take what is nested below them whole."""


def spread(page: Page, draft: Draft) -> None:
    """Give what is nested below a one-line field, such as Type, to the parameter itself."""
    for entry in [e for e in draft.entries if e.blocks]:
        known = PARAMETER.field(entry.key.text)
        if known is None or known.attribute in _OWN_BLOCKS:
            continue
        if known.attribute == "types":
            fill(page, draft, entry.blocks)
            entry.blocks = []
        elif known.attribute == "enum":
            draft.prose += [b for b in entry.blocks if not isinstance(b, Bullets)]
            entry.blocks = [b for b in entry.blocks if isinstance(b, Bullets)]
        elif known.attribute in {"default", "example", "pattern"} and entry.text:
            draft.prose += entry.blocks
            entry.blocks = []
