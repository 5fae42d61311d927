"""Read the text after Items and Properties, and the blocks below, as drafts of fields."""

from toolmd._parse.blocks.block import Bullets, Item, Paragraph, Table
from toolmd._parse.fields.entries import Entry, fences
from toolmd._parse.parameters.columns import columns_of
from toolmd._parse.parameters.details import Inline, names_type, read_details
from toolmd._parse.parameters.drafts import ParameterDraft, fill, from_item, from_table, is_stray
from toolmd._parse.parameters.inline import read_inline
from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import SEPARATORS, code_text, plain, says_none, split
from toolmd._types.code import Code
from toolmd._types.schema import Parameter


def item_draft(page: Page, entry: Entry) -> ParameterDraft:
    """Read `Items: string` or `Items: (string): each of them`, and the blocks below."""
    draft = ParameterDraft(entry.key)
    match entry.blocks:
        case [Bullets(items=[item])] if not entry.text and names_type(item.mark.text):
            entry = Entry(entry.key, item.mark, item.blocks)
        case _:
            pass
    if entry.text.startswith("("):
        inside, _, behind = entry.text[1:].partition(")")
        beside = Inline(entry.key)
        read_details(beside, page.mark(inside, entry.value.line, entry.value.column))
        draft.entries += beside.entries
        draft.notes += beside.notes
        key, value = "Description", entry.value._replace(text=behind.strip(" " + SEPARATORS))
    else:
        key, value = "Type", entry.value
    if value.text:
        draft.entries.append(Entry(entry.key._replace(text=key), value))
    fill(page, draft, entry.blocks)
    return draft


def property_drafts(
    page: Page, where: str, entry: Entry, draft: ParameterDraft
) -> list[ParameterDraft]:
    """Read nested bullets, a table or a list of names; other blocks go to the prose."""
    drafts = []
    for block in entry.blocks:
        if isinstance(block, Table) and (columns := columns_of(block)) is not None:
            drafts += from_table(page, block, columns)
        elif not isinstance(block, Bullets):
            draft.prose.append(block)
    for item in entry.items:
        inline = read_inline(item.mark)
        if is_stray(page, item, inline):
            continue
        if inline is None:
            _nameless(page, where, item.mark if item.mark.text else entry.key)
            continue
        drafts.append(from_item(page, item, _whole_name(inline, item)))
    words = scalars.listed(entry.text) if entry.text and not says_none(entry.text) else []
    if not drafts and not words and (code := fences(entry.blocks)):
        page.error(
            Code.NO_PARAMETERS_READ,
            code[0].mark,
            f"a code fence is not read, so the fields of {where} are unknown",
            "write nested bullets, `- **name** (string, required): description`",
        )
    if drafts and not all(word.strip("*_` ?").isidentifier() for word in words):
        draft.prose.append(Paragraph(entry.value))
        return drafts
    for word in words:
        mark = page.mark(word, entry.value.line, entry.value.column)
        inline = read_inline(mark)
        if inline is None:
            _nameless(page, where, mark)
        else:
            drafts.append(ParameterDraft.of(inline))
    return drafts


def _whole_name(inline: Inline, item: Item) -> Inline:
    """Return the line with its whole name, so that `**a/b**:` is not read as `a`."""
    pair = split(item.mark)
    if inline.marked and not (inline.separated or inline.typed) and pair is not None:
        return Inline(pair.key._replace(text=plain(pair.key.text)))
    return inline


def _nameless(page: Page, where: str, mark: Mark) -> None:
    page.error(
        Code.INVALID_NAME,
        mark,
        f"a field of {where} has no name",
        "write `- **name**:` with its fields below",
    )


def literal_properties(entry: Entry) -> tuple[Parameter, ...]:
    """Read `Properties: { total: number, currency?: string }`."""
    text = code_text(entry.text)
    if not text.startswith("{") or entry.blocks:
        return ()
    try:
        properties: tuple[Parameter, ...] = read_type(text).fields()["properties"]
    except TypeProblem:
        return ()
    return properties
