"""The Type field: a type, and the flags next to it."""

from typing import Any

from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.naming import Fields, name_fields, report_duplicate
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.parameters.details import Inline, read_details
from toolmd._parse.parameters.drafts import ParameterDraft
from toolmd._parse.parameters.types import TypeProblem, read_type
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.words.keys import flow, fold
from toolmd._types.code import Code
from toolmd._types.schema import JSON_TYPES

UNREADABLE: dict[str, Any] = {"types": ()}
"""The attributes of an unreadable Type: any type, so that no second error follows from it."""


def read_type_field(
    page: Page, where: str, fields: Fields, draft: ParameterDraft
) -> dict[str, Any]:
    """Return the attributes that Type sets; flags next to it (`string, required`) join `fields`."""
    entry = fields.entry("types")
    if entry is None:
        return {}
    mark = Mark(flow(entry.value.text), entry.value.line, entry.value.column)
    if mark.text in JSON_TYPES:
        return {"types": (mark.text,)}
    try:
        return read_type(mark.text).fields()
    except TypeProblem as problem:
        inline = _beside(mark)
        typed = next((e for e in inline.entries if e.key.text == "Type"), None)
        if typed is None and not any(e.key.text == "Enum" for e in inline.entries):
            _unknown_type(page, where, entry, problem)
            return UNREADABLE
        draft.notes += inline.notes
        beside = [e for e in inline.entries if e is not typed]
        for attribute, (known, found) in name_fields(page, beside, PARAMETER).known.items():
            if attribute in fields.known:
                report_duplicate(page, known, found, fields.known[attribute][1])
            else:
                fields.known[attribute] = known, found
        if typed is not None:
            return read_type(typed.value.text).fields()
        del fields.known["types"]  # these are the values of an enum
        return {}


def _beside(mark: Mark) -> Inline:
    """Read `string (optional)` or `string, required`."""
    inline = Inline(mark)
    group = mark.text.find("(")
    if group > 0 and mark.text.endswith(")") and fold(mark.text[:group]) in {"enum", "oneof"}:
        inside = mark.at(group + 1, len(mark.text) - group - 2)
        inline.entries.append(Entry(Mark("Enum", inside.line, inside.column), inside))
    elif group > 0 and mark.text.endswith(")"):
        read_details(inline, mark.at(0, group).strip())
        if inline.typed:
            read_details(inline, mark.at(group + 1, len(mark.text) - group - 2))
    else:
        read_details(inline, mark)
    return inline


def _unknown_type(page: Page, where: str, entry: Entry, problem: TypeProblem) -> None:
    word = problem.word or entry.text
    if not word:
        page.error(Code.UNKNOWN_TYPE, entry.key, f"no type for {where}", "write `string`")
        return
    place = page.mark(word, entry.value.line, entry.value.column + problem.offset)
    what = "unknown type" if str(problem) == "is not a type" else "unreadable type"
    near = problem.suggestion
    page.error(
        Code.UNKNOWN_TYPE,
        place,
        f"{what} '{word}' for {where}",
        f"did you mean '{near}'?"
        if near
        else "write string, number, integer, boolean, object or array",
        replace(place, near) if near else (),
    )
