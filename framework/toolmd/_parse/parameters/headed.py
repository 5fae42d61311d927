"""Read headings as parameters, and the headings below them as their fields."""

from dataclasses import replace

from toolmd._parse.blocks.block import Comment, Paragraph, Part
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.field import Field
from toolmd._parse.fields.parameter import PARAMETER, near_field
from toolmd._parse.parameters.details import names_type
from toolmd._parse.parameters.drafts import ParameterDraft, from_heading
from toolmd._parse.parameters.type_words import WORDS
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import fold, section_title, split

_ITEM_NAMES = {"items": "[]", "values": "{}"}
"""The names of the drafts that describe each item or each value."""
_NESTING = frozenset(("properties", "one_of"))
_OF_TYPES = frozenset(("types", *_ITEM_NAMES))
_SCALARS = frozenset(("string", "integer", "number", "boolean"))
_NO_ITEMS = {"items": ("object",), "values": ("array",)}
"""The types that have no such field, so that `#### Items` below an object is one of its own."""


def from_headings(
    page: Page, parts: list[Part], owner: ParameterDraft | None = None
) -> list[ParameterDraft]:
    """Build a draft from each heading; a deeper heading is a field of the one above.

    Args:
        page: the page with the headings.
        parts: the headings of a section, with their blocks.
        owner: the value that the headings describe; without it, each is a parameter.

    Returns:
        The drafts of the parameters, or of the owner's fields.
    """
    top = owner or ParameterDraft(Mark("", 1, 1))
    stack: list[tuple[int, ParameterDraft]] = [(0, top)]
    for part, after in zip(parts, [*parts[1:], None], strict=False):
        draft = _with_value(page, part) or from_heading(page, part)
        leads = after is not None and after.level > part.level
        while len(stack) > 1 and (
            stack[-1][0] >= part.level or not _may_own(stack[-1][1], draft, leads=leads)
        ):
            stack.pop()
        stack[-1][1].drafts.append(draft)
        stack.append((part.level, draft))
    for draft in [owner] if owner else top.drafts:
        _take_headed(draft)
    return top.drafts


def _with_value(page: Page, part: Part) -> ParameterDraft | None:
    """Read `#### Max Length: 5`, a field with its value; `#### Format: string` is a parameter."""
    pair = split(page.mark(section_title(part.heading.text), part.heading.line))
    if pair is None or not pair.value.text or not _may_name(pair.key.text):
        return None
    known = PARAMETER.field(pair.key.text)
    if known is None or (known.attribute not in _OF_TYPES and names_type(pair.value.text)):
        return None
    said = Paragraph(pair.value)
    return ParameterDraft(pair.key, prose=[said], part=replace(part, blocks=[said, *part.blocks]))


def _may_name(name: str) -> bool:
    """Return whether a heading may name a field; `#### items` is a field of an object."""
    known = PARAMETER.field(name)
    return name[:1].isupper() or " " in name or (known is not None and known.restricts)


def _may_own(owner: ParameterDraft, draft: ParameterDraft, *, leads: bool) -> bool:
    """Return whether a deeper heading is a part of the owner, not a parameter one level too deep.

    A text or a number has no fields of an object, so other words below it are a note on it.
    """
    if _type_of(owner) not in _SCALARS:
        return True
    if leads or draft.drafts or not _may_name(draft.name.text):
        return False
    return _field(draft, owner) is not None or not _fields_of(draft) & {"types", "required"}


def _type_of(draft: ParameterDraft) -> str:
    """Return the kind of the draft's Type, such as `string`; empty without a plain type."""
    said = next((e for e in draft.entries if fold(e.key.text) == "type"), None)
    kind, _ = WORDS.get(fold(said.text) if said else "", ("", ""))
    return kind or ""


def _fields_of(draft: ParameterDraft) -> set[str]:
    found = (PARAMETER.field(entry.key.text) for entry in draft.entries)
    return {known.attribute for known in found if known is not None}


def _field(draft: ParameterDraft, owner: ParameterDraft) -> Field | None:
    """Return the field of a parameter that a heading names, and not a field of an object."""
    name = draft.name.text
    if draft.part is None or not _may_name(name):
        return None
    known = PARAMETER.field(name) or PARAMETER.field(near_field(name) or "")
    if known is None or _type_of(owner) in _NO_ITEMS.get(known.attribute, ()):
        return None
    if known.attribute in _ITEM_NAMES:
        return known
    return (
        None if _fields_of(draft) or (draft.drafts and known.attribute not in _NESTING) else known
    )


def _take_headed(draft: ParameterDraft) -> None:
    """Convert `#### Items` and similar headings into fields of the parameter above them."""
    nested, draft.drafts = draft.drafts, []
    for below in nested:
        known = _field(below, draft)
        if known is not None and known.attribute in _NESTING:
            _take_nested(draft, below, known)
            continue
        _take_headed(below)
        known = _field(below, draft)
        noted = below.part is not None and _type_of(draft) in _SCALARS
        if known is None and not (noted and _may_own(draft, below, leads=False)):
            draft.drafts.append(below)
        elif known is not None and known.attribute in _ITEM_NAMES and not _is_type(below):
            below.name = below.name._replace(text=_ITEM_NAMES[known.attribute])
            draft.drafts.append(below)
        else:
            draft.entries.append(_entry(below))


def _is_type(draft: ParameterDraft) -> bool:
    """Return whether only a type is below a heading: `#### Items` and `string`."""
    match draft.prose:
        case [Paragraph(mark=said)]:
            return not (draft.entries or draft.drafts) and names_type(said.text)
        case _:
            return False


def _take_nested(draft: ParameterDraft, below: ParameterDraft, known: Field) -> None:
    """Move the fields or shapes below `#### Properties` or `#### One Of` to their owner."""
    headed = [each for each in below.drafts if each.part is not None]
    for each in headed:
        _take_headed(each)
    entry = _entry(below)
    if entry.text or entry.blocks or not headed:
        draft.entries.append(entry)
    if known.attribute == "one_of":
        draft.shapes += headed
    else:
        draft.drafts += headed


def _entry(draft: ParameterDraft) -> Entry:
    """Build the entry of a heading: the first paragraph below it is the value."""
    name, blocks = draft.name, draft.part.blocks if draft.part else []
    blocks = [block for block in blocks if not isinstance(block, Comment)]
    match blocks:
        case [Paragraph(mark=said), *rest]:
            return Entry(name, said, rest)
        case _:
            return Entry(name, Mark("", name.line, 1), blocks, bare=not blocks)
