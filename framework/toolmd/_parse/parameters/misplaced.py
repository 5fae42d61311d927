"""Report words around a parameter that read as a field, but are none."""

import re
from collections.abc import Sequence
from typing import Any

from toolmd._parse.blocks.block import Block, Bullets
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.fields.table import PARAMETER, UNSUPPORTED
from toolmd._parse.parameters.signature import FLAGS, Signature, read_details
from toolmd._parse.parameters.types import meant_type
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import fold, plain, split
from toolmd._parse.words.scalars import number
from toolmd._parse.words.slips import nearest
from toolmd._types.code import Code

_BOUNDED = re.compile(r"\.\.|…|[<>≤≥=]|^\d+$|^[(\[][\d., ]+[)\]]$")


def report_second_name(page: Page, name: Mark) -> None:
    """Report `` `from`, `to` (date) ``, where the second name would begin a description."""
    what = "two parameters are on one line; the second would be read as the description of "
    page.error(Code.INVALID_NAME, name, f"{what}'{name.text}'", "write a line for each parameter")


def report_nested(page: Page, description: Entry) -> None:
    """Report the parameter's fields that are nested below its Description: they would be prose."""
    for entry in [e for item in description.items if (e := item_entry(item)) is not None]:
        known, told = PARAMETER.field(entry.name), plain(entry.text)
        is_marked = split(entry.key) or entry.key.text[:1] in "*_`"
        if (
            known is not None
            and told
            and (is_marked or known.restricts or number(told) is not None)
        ):
            what = f"'{known.name}' is nested below Description, where it would be prose"
            page.error(Code.MISPLACED_FIELD, entry.key, what, "unindent it")


def report_unmarked(page: Page, where: str, kept: Sequence[Block]) -> None:
    """Report bullets such as `- max length 5` that read as fields, but are none."""
    for item in [i for block in kept if isinstance(block, Bullets) for i in block.items]:
        found = Signature(item.mark, typed=True)
        read_details(found, item.mark)
        values = [e for e in found.entries if e.implied or number(e.text) is not None]
        if values and values == found.entries and not found.notes:
            what = f"'{plain(item.mark.text)}' is kept in the description of {where}, and would "
            fields = " and ".join(f"`- **{e.name.title()}**: {e.text}`" for e in values)
            page.error(
                Code.UNREADABLE_VALUE, item.mark, f"{what}restrict nothing", f"write {fields}"
            )


def report_note(page: Page, where: str, note: Mark, said: dict[str, Any]) -> bool:
    """Report words next to a type that no field reads; return whether they are kept as text."""
    word = note.text.strip("`*_ ")
    near, code, what = nearest(word, FLAGS), Code.UNKNOWN_FIELD, "unknown field"
    if "types" not in said and (kind := meant_type(word)):
        near, code, what = kind, Code.UNKNOWN_TYPE, "unknown type"
        said["types"] = ()  # any, so that no second error follows from it
    first = word.split(" ")[0]
    if near is not None or (" " in word and nearest(first, [f.name for f in PARAMETER.fields])):
        mark = note.at(max(note.text.find(word), 0), len(word))
        fix = replace(mark, near) if near else ()
        help_ = f"did you mean '{near}'?" if near else "write it as a field below"
        page.error(code, mark, f"{what} '{word}' for {where}", help_, fix)
        return False
    if _BOUNDED.search(note.text) or fold(first) in UNSUPPORTED:
        what = f"'{note.text}' next to {where} is no field, and would restrict nothing"
        help_ = "write it as a field: Default, Minimum, Max Length, Pattern; or reword it"
        page.error(Code.UNKNOWN_FIELD, note, what, help_)
    else:
        what = f"'{note.text}' is kept in the description of {where} and enforces nothing"
        help_ = "if it restricts, write it as a field: Format, Minimum, Max Length, Pattern"
        page.warn(Code.UNREAD_DETAIL, note, what, help_)
    return True
