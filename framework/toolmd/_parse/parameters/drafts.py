"""Drafts of parameters from headings, bullets, bold lines or table rows, before types are read."""

from dataclasses import dataclass, field

from toolmd._parse.blocks.block import Block, Bullets, Comment, Item, Paragraph, Part, Table
from toolmd._parse.blocks.prose import prose
from toolmd._parse.document.strays import report_stray
from toolmd._parse.fields.entries import Entry, bare_entry, item_entry, table_entries, unbroken
from toolmd._parse.fields.naming import translated
from toolmd._parse.fields.parameter import PARAMETER, in_other_words, names_field, near_field
from toolmd._parse.parameters.columns import columns_of
from toolmd._parse.parameters.details import Inline, names_type
from toolmd._parse.parameters.inline import read_inline
from toolmd._parse.parameters.misplaced import report_nested
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import DASHES, Pair, flow, plain, says_none, section_title, split
from toolmd._parse.words.limiting import limiting
from toolmd._types.code import Code


@dataclass(slots=True)
class ParameterDraft:
    """A parameter's name with its entries, fields and prose."""

    name: Mark
    entries: list[Entry] = field(default_factory=list)
    drafts: "list[ParameterDraft]" = field(default_factory=list)
    """The fields of an object that are written below it like parameters."""
    shapes: "list[ParameterDraft]" = field(default_factory=list)
    """The shapes of a One Of that are written as headings."""
    notes: list[Mark] = field(default_factory=list)
    """Words next to a type that are not a field."""
    prose: list[Block] = field(default_factory=list)
    questioned: bool = False
    """Whether its name is marked as optional, as in `name?`."""
    doubled: bool = False
    """Whether another name follows on its line."""
    written: bool = True
    """Whether the file declares it, instead of only the dotted names of its fields."""
    part: Part | None = None
    """The heading that it comes from, with the blocks below."""

    @classmethod
    def of(cls, inline: Inline) -> "ParameterDraft":
        """Build a draft from one line."""
        draft = cls(inline.name, list(inline.entries), notes=list(inline.notes))
        draft.questioned, draft.doubled = inline.questioned, inline.doubled
        return draft


def from_heading(page: Page, part: Part) -> ParameterDraft:
    """Read `### date` or `### date (string, required)` and the blocks below it."""
    text = section_title(part.heading.text)
    mark = page.mark(text, part.heading.line)
    words = mark._replace(text=text.replace(" *", "*"))
    inline = None if text.isidentifier() else read_inline(words)
    said = inline is not None and (inline.typed or inline.separated or inline.flagged)
    if inline is None or (inline.name.text != text.rstrip("?* \\") and not said):
        draft = ParameterDraft(mark)
    else:
        draft = ParameterDraft.of(inline)
    draft.part = part
    fill(page, draft, part.blocks)
    return draft


def fill(page: Page, draft: ParameterDraft, blocks: list[Block]) -> None:
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
                draft.drafts += from_table(page, block, columns)
            case Paragraph() if lines := _field_lines(page, block.mark):
                draft.entries += lines
            case Comment():
                pass
            case Paragraph() if _is_type_alone(block.mark.text) and not draft.entries:
                draft.entries.append(Entry(block.mark._replace(text="Type"), block.mark))
            case Paragraph() if block.mark.text.strip("*_: ") in {"Properties", "Fields"}:
                pass  # a label such as `**Properties**` above nested fields
            case _:
                draft.prose.append(block)


def _is_type_alone(text: str) -> bool:
    """Return whether a paragraph is only a type in a code span, as in API references."""
    return text.startswith("`") and text.endswith(("`", "[]")) and names_type(text.replace("`", ""))


def _take(page: Page, draft: ParameterDraft, item: Item) -> bool:
    """Read a bullet as a field or as a nested parameter; return whether it is one."""
    entry = item_entry(item)
    if entry is not None and (known := PARAMETER.field(entry.key.text)):
        entry.known = known
        if "\n" in item.mark.text:
            entries = _field_lines(page, item.mark, below=entry)
            if entries[-1] is not entry:
                entries[-1].blocks, entry.blocks = entry.blocks, []
            draft.entries += entries
        else:
            draft.entries.append(entry)
        return True
    words = plain(item.mark.text)
    if entry is None and (PARAMETER.field(words) or in_other_words(words)):
        draft.entries.append(bare_entry(item))
        return True
    inline = read_inline(item.mark)
    nested = any((e := item_entry(i)) and names_field(e.key.text) for i in item.items)
    if inline is not None and (
        nested or (inline.typed and not (entry and near_field(entry.key.text)))
    ):
        draft.drafts.append(from_item(page, item, inline))
        return True
    if entry is not None:
        draft.entries.append(entry)
        return True
    return False


def from_item(page: Page, item: Item, inline: Inline) -> ParameterDraft:
    """Read a bullet that names a parameter, and the blocks nested below it."""
    draft = ParameterDraft.of(inline)
    fill(page, draft, item.blocks)
    return draft


def is_stray(page: Page, item: Item, inline: Inline | None) -> bool:
    """Report a restriction among names, `- Requires Confirmation: yes`, unless it has a type."""
    pair = split(item.mark)
    if pair is None or (inline is not None and inline.typed) or item.items:
        return False
    return report_stray(page, pair)


def _field_lines(page: Page, mark: Mark, *, below: Entry | None = None) -> list[Entry]:
    """Read `Key: value` lines; the first names a field or continues the entry `below`."""
    entries: list[Entry] = [] if below is None else [below]
    for number, line in enumerate(mark.text.split("\n")):
        if number == 0 and below is not None:
            first = split(Mark(line, mark.line, mark.column))
            below.value = first.value if first else Mark("", mark.line, mark.column)
            continue
        column = mark.column if number == 0 else 0
        pair = split(page.mark(line.strip(), mark.line + number, column))
        if pair is not None and _is_field(pair, sure=below is None, on=bool(entries)):
            if entries:
                unbroken(entries[-1])
            entries.append(Entry(pair.key, pair.value))
        elif entries:
            last = entries[-1]
            last.value = last.value._replace(text=f"{last.value.text}\n{line}")
        else:
            return []
    return entries


def _is_field(pair: Pair, *, sure: bool, on: bool) -> bool:
    """Return whether a line names a field; a continuation line must also be marked.

    A marked key that sounds like a restriction counts too, below other fields (`on`).
    """
    known = PARAMETER.field(pair.key.text)
    if known is None and on and pair.marked and limiting(pair.key.text, of_value=True):
        return True
    if known is None:
        return near_field(pair.key.text) is not None and (sure or pair.marked)
    return sure or pair.marked or known.restricts


def from_table(page: Page, table: Table, columns: list[str]) -> list[ParameterDraft]:
    """Read each row as a parameter."""
    drafts: list[ParameterDraft] = []
    for cell in table.head:
        if PARAMETER.field(plain(cell.text)) is None:
            translated(page, cell, PARAMETER)
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
        draft = ParameterDraft.of(inline)
        if "Type" not in columns and any(
            report_stray(page, Pair(name, cell, marked=False)) for cell in row if cell is not name
        ):
            continue
        for title, cell in zip(columns, row, strict=False):
            if title != "Name" and flow(cell.text) not in {"", *DASHES}:
                draft.entries.append(Entry(Mark(title, cell.line, cell.column), cell))
        for cell in row[len(columns) :]:
            page.error(
                Code.UNREAD_LINE,
                cell,
                "this row has more cells than the table's header; this cell is not read",
                "write `\\|` for a bar within a cell, or add a column header",
            )
        drafts.append(draft)
    return drafts


_OWN_BLOCKS = {"description", "items", "values", "properties", "one_of", "unit"}
"""Fields whose readers use the blocks nested below them."""


def spread(page: Page, draft: ParameterDraft) -> None:
    """Move blocks nested below a one-line field, such as Type, to the parameter itself."""
    fields = [entry.known or PARAMETER.field(entry.key.text) for entry in draft.entries]
    told_apart = any(known is not None and known.attribute == "discriminator" for known in fields)
    for entry, named in zip(list(draft.entries), fields, strict=True):
        known = named
        is_one_of = named is not None and named.attribute == "one_of"
        if is_one_of and not (told_apart or _holds_shapes(entry)):
            entry.known = known = PARAMETER.field("Enum")  # `One Of: a, b`
        if not entry.blocks:
            continue
        if known is not None and known.attribute == "description":
            report_nested(page, entry)
        if known is None or known.attribute in _OWN_BLOCKS:
            continue
        if known.attribute == "types":
            fill(page, draft, entry.blocks)
            entry.blocks = []
        elif known.attribute == "enum":
            draft.prose += [b for b in entry.blocks if not isinstance(b, Bullets)]
            if noted := [item for item in entry.items if prose(item.blocks)]:
                draft.prose.append(Bullets(noted, ordered=False))
            entry.blocks = [b for b in entry.blocks if isinstance(b, Bullets)]
        elif known.attribute in {"default", "example", "pattern"} and entry.text:
            draft.prose += entry.blocks
            entry.blocks = []


def _holds_shapes(entry: Entry) -> bool:
    """Return whether the bullets below a One Of are objects, not values."""
    return any(
        (within := item_entry(inner)) is not None and PARAMETER.field(within.key.text) is not None
        for item in entry.items
        for inner in item.items
    ) or any(
        (inline := read_inline(each.mark)) is not None and inline.typed
        for item in entry.items
        for each in (item, *item.items)
    )


_MAX_DOTS = 32


def nest_dotted(page: Page, drafts: list[ParameterDraft]) -> list[ParameterDraft]:
    """Move `range.start` into `range`, and `rows[].name` into the items of `rows`."""
    roots: list[ParameterDraft] = []
    for draft in drafts:
        draft.drafts = nest_dotted(page, draft.drafts)
        path = draft.name.text.replace("[]", ".[]")
        steps = (path[1:] if path.startswith(".[]") else path).split(".")
        if len(steps) > _MAX_DOTS:
            page.error(
                Code.NESTED_TOO_DEEP,
                draft.name.at(0, 40),
                f"a name with more than {_MAX_DOTS} parts nests too deep",
                "make the object flatter",
            )
            continue
        if len(steps) == 1:
            roots.append(draft)
            continue
        _place(roots, steps, draft)
    return roots


def _place(level: list[ParameterDraft], steps: list[str], draft: ParameterDraft) -> None:
    for step in steps[:-1]:
        owner = next((d for d in level if d.name.text == step), None)
        if owner is None:
            owner = ParameterDraft(Mark(step, draft.name.line, draft.name.column), written=False)
            level.append(owner)
        level = owner.drafts
    draft.name = Mark(steps[-1], draft.name.line, draft.name.column)
    held = next((d for d in level if d.name.text == draft.name.text), None)
    if held is not None and not held.entries:
        held.name, held.entries, held.notes = draft.name, draft.entries, draft.notes
        held.drafts += draft.drafts
        held.questioned, held.written = draft.questioned, True
        return
    level.append(draft)
