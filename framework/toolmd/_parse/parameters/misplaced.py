"""Report fields of a parameter that stand where nothing would read them."""

from collections.abc import Sequence

from toolmd._parse.blocks.block import Block, Item
from toolmd._parse.blocks.prose_lines import bare_items, pairs
from toolmd._parse.fields.entries import Entry, almost, report_almost
from toolmd._parse.fields.field import Field
from toolmd._parse.fields.hidden import coded
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.parameters.details import Inline, read_details
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import plain, split
from toolmd._parse.words.scalars import listed, number
from toolmd._types.code import Code
from toolmd._types.diagnostic import Severity


def report_second_name(page: Page, name: Mark) -> None:
    """Report `` `from`, `to` (date) ``, where the second name would begin a description."""
    page.error(
        Code.INVALID_NAME,
        name,
        "two parameters are on one line; the second would be read as the description of "
        f"'{name.text}'",
        "write a line for each parameter",
    )


def report_nested(page: Page, description: Entry) -> None:
    """Report the parameter's fields that are nested below its Description: they would be prose."""
    for pair in pairs(description.blocks):
        known = PARAMETER.field(pair.key.text)
        told = plain(pair.value.text)
        if known is not None and told and (pair.marked or number(told) is not None):
            page.error(
                Code.MISPLACED_FIELD,
                pair.key,
                f"'{known.name}' is nested below Description, where it would be prose",
                "unindent it",
            )


def report_unmarked(page: Page, where: str, kept: Sequence[Block]) -> None:
    """Report bullets such as `- max length 5` that read as bounds, but are not fields."""
    reported = {d.span.line for d in page.diagnostics if d.severity is Severity.ERROR}
    _report_indented(page, kept, reported)
    for item in bare_items(kept):
        if item.line in reported or split(item.mark) is not None:
            continue
        if (known := almost(item, PARAMETER)) is not None:
            report_almost(page, item, *known)
            continue
        found = Inline(item.mark, typed=True)
        read_details(found, item.mark)
        if found.notes or not all(_is_bound(entry, item) for entry in found.entries):
            continue
        fields = " and ".join(f"`- **{_named(e).name}**: {e.text}`" for e in found.entries)
        page.error(
            Code.UNREADABLE_VALUE,
            item.mark,
            f"'{plain(item.mark.text)}' is kept in the description of {where}, and would restrict "
            "nothing",
            f"write {fields}",
        )


def _report_indented(page: Page, kept: Sequence[Block], reported: set[int]) -> None:
    """Report bullets of fields that are indented so far that markdown makes them code."""
    for pair in coded(page, kept):
        known = PARAMETER.field(pair.key.text)
        if known is not None and pair.key.line not in reported:
            page.error(
                Code.MISPLACED_FIELD,
                pair.key,
                f"'{known.name}' is indented too far, so it would be code in a description",
                "indent it like the fields above it, and the text between them further than both",
            )


def _is_bound(entry: Entry, item: Item) -> bool:
    """Return whether an entry bounds a value; a word such as `values` also begins sentences."""
    in_code = entry.text.startswith("`") and entry.text.endswith("`")
    match _named(entry).kind:
        case "number" | "whole":
            return number(entry.text) is not None
        case "pattern":
            return in_code or entry.text.startswith("^") or entry.text.endswith("$")
        case "enum":
            return plain(item.mark.text).lower().startswith("enum ") and len(listed(entry.text)) > 1
        case _:
            return entry.implied


def _named(entry: Entry) -> Field:
    known = PARAMETER.field(entry.key.text)
    assert known is not None, "read_details names fields of a parameter only"
    return known
