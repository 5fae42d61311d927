"""Collect the parameters of a section from its own blocks and its headings, grouped or not."""

from dataclasses import dataclass

from toolmd._parse.blocks.block import Block, Bullets, Comment, Item, Paragraph, Part, Table
from toolmd._parse.fields.entries import Entry, implied, item_entry
from toolmd._parse.fields.parameter import names_field
from toolmd._parse.parameters.columns import columns_of
from toolmd._parse.parameters.details import Inline
from toolmd._parse.parameters.drafts import (
    ParameterDraft,
    fill,
    from_item,
    from_table,
    is_stray,
)
from toolmd._parse.parameters.headed import from_headings
from toolmd._parse.parameters.inline import read_inline
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import fold, says_none


@dataclass(slots=True)
class Drafts:
    """The parameters of a section, and its prose."""

    drafts: list[ParameterDraft]
    prose: list[Block]
    none_said: bool = False
    """Whether the section states that it has no parameters."""


def read_drafts(page: Page, blocks: list[Block], parts: list[Part]) -> Drafts:
    """Find the parameters of a section: in its own blocks, then below its headings."""
    found = Drafts([], [])
    blocks = [block for block in blocks if not isinstance(block, Comment)]
    owner: ParameterDraft | None = None  # whose line, `**date**`, precedes the fields
    for at, block in enumerate(blocks):
        below = _below(blocks, at)
        match block:
            case Table() if (columns := columns_of(block)) is not None:
                found.drafts += from_table(page, block, columns)
            case Bullets() if owner is not None and _all_fields(block):
                fill(page, owner, [block])
            case Bullets():
                _from_bullets(page, block, found)
            case Paragraph() if owner is not None and _all_fields(below) and not _heads(block):
                owner.prose.append(block)
                continue
            case Paragraph():
                before = len(found.drafts)
                _from_paragraph(page, block, found, fields_below=_all_fields(below))
                owner = found.drafts[-1] if len(found.drafts) > before else None
                continue
            case _:
                found.prose.append(block)
        owner = None
    found.drafts = ungrouped(found, found.drafts, carry=True)
    found.drafts += ungrouped(found, from_headings(page, parts), carry=False)
    return found


def _below(blocks: list[Block], at: int) -> Block | None:
    """Return the next block; a description may come between a name and its fields."""
    for block in blocks[at + 1 : at + 3]:
        if not isinstance(block, Paragraph) or _heads(block):
            return block
    return None


def _all_fields(block: Block | None) -> bool:
    return isinstance(block, Bullets) and all(
        (entry := item_entry(item)) and names_field(entry.key.text) for item in block.items
    )


def _heads(block: Paragraph) -> bool:
    """Return whether a line of a paragraph is a name in bold or a code span: `**date**:`."""
    lines = block.mark.text.split("\n")
    return any(_is_head(Mark(line.strip(), block.mark.line, 1)) for line in lines)


def _is_head(line: Mark) -> bool:
    inline = read_inline(line)
    if inline is None or not inline.marked:
        return False
    return inline.typed or inline.separated or not inline.entries


def ungrouped(found: Drafts, drafts: list[ParameterDraft], *, carry: bool) -> list[ParameterDraft]:
    """Move parameters out of groups such as `### Optional` or a line in bold."""
    out: list[ParameterDraft] = []
    said = ""
    for draft in drafts:
        group = None if draft.entries or draft.notes else _GROUPS.get(fold(draft.name.text))
        if group is None:
            out += _flagged([draft], said)
            continue
        found.prose += draft.prose
        out += _flagged(draft.drafts, group)
        said = group if carry else ""
    return out


def _flagged(drafts: list[ParameterDraft], required: str) -> list[ParameterDraft]:
    for draft in drafts if required else ():
        if not any(fold(entry.key.text) in _REQUIRED for entry in draft.entries):
            draft.entries.append(implied("Required", required, draft.name))
    return drafts


_GROUPS = {
    f"{word}{what}": said
    for word, said in (("required", "yes"), ("optional", "no"))
    for what in ("", "parameters", "params", "arguments", "args", "inputs", "fields")
}


_REQUIRED = {"required", "mandatory", "req", "optional"}


def _from_bullets(page: Page, block: Bullets, found: Drafts) -> None:
    left: list[Item] = []
    for item in block.items:
        inline = read_inline(item.mark)
        if says_none(item.mark.text) and not item.blocks:
            found.none_said = True
        elif is_stray(page, item, inline):
            continue
        elif inline is not None and _names_parameter(inline, item):
            found.drafts.append(from_item(page, item, inline))
        else:
            left.append(item)
    if left:
        found.prose.append(Bullets(left, block.ordered))


def _names_parameter(inline: Inline, item: Item) -> bool:
    """Return whether a bullet is a parameter rather than a sentence."""
    if inline.typed or inline.marked:
        return True
    if any((e := item_entry(i)) and names_field(e.key.text) for i in item.items):
        return True
    said = len(inline.entries) > 0
    alone = inline.name.text == item.mark.text.strip().rstrip("?")
    return ((inline.separated and said) or alone) and not inline.name.text[0].isupper()


def _from_paragraph(page: Page, block: Paragraph, found: Drafts, *, fields_below: bool) -> None:
    """Read lines such as `**date** (string, required): the day`, or keep the prose."""
    if says_none(block.mark.text):
        found.none_said = True
        return
    drafts: list[ParameterDraft] = []
    for number, line in enumerate(block.mark.text.split("\n")):
        mark = Mark(line.strip(), block.mark.line + number, block.mark.column)
        if mark.text.endswith(":") and fold(mark.text) in _GROUPS:
            drafts.append(ParameterDraft(mark))  # `Optional:` above bullets
            continue
        inline = read_inline(mark) if mark.text.startswith(("**", "__", "`")) else None
        if inline is not None and is_stray(page, Item(mark, mark.line, mark.column), inline):
            continue
        if (
            inline is not None
            and inline.marked
            and (inline.typed or inline.separated or (fields_below and not inline.entries))
        ):
            drafts.append(ParameterDraft.of(inline))
        elif drafts:
            _continue(drafts[-1], mark)
        else:
            found.prose.append(block)
            return
    found.drafts += drafts


def _continue(draft: ParameterDraft, mark: Mark) -> None:
    for entry in draft.entries:
        if entry.key.text == "Description":
            entry.value = Mark(
                f"{entry.value.text}\n{mark.text}", entry.value.line, entry.value.column
            )
            return
    draft.entries.append(Entry(Mark("Description", mark.line, mark.column), mark))
