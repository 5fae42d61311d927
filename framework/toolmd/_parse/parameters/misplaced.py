"""Report fields of a parameter that stand where nothing would read them."""

from toolmd._parse.document.strays import pairs
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.source.page import Page
from toolmd._parse.words.keys import plain
from toolmd._parse.words.scalars import number
from toolmd._types.code import Code


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
