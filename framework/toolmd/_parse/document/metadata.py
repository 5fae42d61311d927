"""The head and the Metadata section: a definition's name and its requirements on the caller."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from toolmd._parse.blocks import Node, Paragraph, prose
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Fields, name_fields, read_entries
from toolmd._parse.fields.table import TABLES, SectionTable, section_of
from toolmd._parse.fields.values import is_same, read_values
from toolmd._parse.page import Mark, Page, insert_below, replace
from toolmd._parse.unread import DECIDE, report_kept, report_pair, report_unknown
from toolmd._parse.words import Pair, definition_name, fold, nearest, plain, repair_name
from toolmd._types.code import Code
from toolmd._types.diagnostic import Edit
from toolmd._types.imported import NOT_ENFORCED


def read_metadata(definition: Definition) -> dict[str, Any]:
    """Read the head and Metadata; return the values of the spec's fields, and report defaults."""
    entries, table = _metadata_entries(definition)
    fields = name_fields(definition.page, entries, table)
    values = read_values(definition.page, fields)
    for attribute, (_, entry) in fields.known.items():
        definition.record(attribute, entry)
    _older_forms(definition, values, fields)
    values["title"] = definition.document.title
    values["description"] = _description(definition, fields)
    values["notes"] = definition.document.notes
    values["extra"] = _extra(definition, fields)
    _defaults(definition, values, fields)
    return values


def _older_forms(definition: Definition, values: dict[str, Any], fields: Fields) -> None:
    """Convert fields of older files and of other programs into the fields that they mean."""
    if values.pop("requires_patient_context", False):
        facts = values.get("requires_context", ())
        values["requires_context"] = tuple(dict.fromkeys((*facts, "patient")))
    if values.pop("disable_model_invocation", False):
        values["model_invocation"] = False
    if values.get("allowed_roles"):
        auth = fields.entry("requires_auth")
        if auth is not None and values.get("requires_auth") is False:
            what = "Allowed Roles need a user, and Requires Auth is no"
            definition.page.error(Code.CONFLICT, auth.written, what, "remove **Requires Auth**")
        values["requires_auth"] = True
    named, entry = values.pop("patient_from", None), fields.entry("patient_from")
    if named is None or entry is None:
        return
    given = values.setdefault("context", {}).setdefault("patient", named)
    definition.places.setdefault("context", definition.places["patient_from"])
    if given != named:
        what = f"Context reads the patient from {given}, and Patient From from {named}"
        help_ = "keep **Context**, and remove **Patient From**"
        definition.page.error(Code.CONFLICT, entry.value, what, help_)


def _metadata_entries(definition: Definition) -> tuple[list[Node], SectionTable]:
    """Return the entries of the front matter and of Metadata; report where the two differ."""
    page, table = definition.page, TABLES[definition.kind][0]
    head = {table.field(e.key.text): e for e in definition.front.entries}
    entries = list(definition.front.entries)
    section = definition.document.known.get("Metadata")
    if section is None and not entries:
        definition.section("Metadata")
    if section is not None:
        read = read_entries(page, section.blocks, table)
        definition.document.keep(section, read.prose, section.parts)
        for entry in read.entries:
            known = table.field(entry.key.text)
            twin = head.get(known)
            if known is None or twin is None:
                entries.append(entry)
            elif not is_same((table.field(twin.key.text) or known, twin), (known, entry)):
                what = (
                    f"'{entry.name}' is '{entry.text}' here and '{twin.text}' in the front matter"
                )
                page.error(Code.CONFLICT, entry.value, what, "keep one of the two")
    return entries, table


def _description(definition: Definition, fields: Fields) -> str:
    """Return the first paragraph, or the front matter's description."""
    page, document = definition.page, definition.document
    for entry in list(fields.unknown):
        attribute = fold(entry.name)
        if attribute not in {"description", "title"}:
            continue
        written = getattr(document, attribute)
        if attribute == "title" and written not in {"", entry.text}:
            continue  # another title is kept as an unknown key
        fields.unknown.remove(entry)
        setattr(document, attribute, written or entry.text)
        if written not in {"", entry.text}:
            what = "the description in the metadata differs from the paragraph below the title"
            page.error(Code.CONFLICT, entry.value, what, "keep one of the two")
    if not document.description:
        help_ = "write a paragraph below the title that says what the definition does"
        page.error(Code.MISSING_DESCRIPTION, document.mark, "the description is missing", help_)
    return document.description


def _extra(definition: Definition, fields: Fields) -> dict[str, Any]:
    """Return the keys that Toolmd does not know, each with a warning, and their values."""
    page, table = definition.page, TABLES[definition.kind][0]
    extra: dict[str, Any] = {}
    maps = [(Node(key, key._replace(text="")), data) for key, data in definition.front.nested]
    for entry, data in [*((entry, None) for entry in fields.unknown), *maps]:
        is_map = data is not None
        if _is_misplaced(definition, entry, is_map=is_map) or report_unknown(page, entry, table):
            continue
        value = data
        if is_map:
            for key, text in _leaves(data):
                at = entry.key._replace
                report_pair(page, Pair(at(text=key), at(text=text), marked=False))
        elif entry.listed is not None:
            value = [mark.text for mark in entry.listed]
        else:
            report_kept(page, [Paragraph(entry.value), *entry.blocks])
            value = "\n\n".join(t for t in (plain(entry.text), prose(entry.blocks)) if t)
        name = "_".join("".join(c if c.isalnum() else " " for c in entry.name.lower()).split())
        if name in extra:
            report = page.warn if extra[name] == value else page.error
            what = f"'{entry.name}' is written twice here"
            report(Code.DUPLICATE_FIELD, entry.key, what, "keep one, or join the two values")
            continue
        extra[name] = value
        what = f"Metadata has no field '{entry.name}'; it is kept under `extra`"
        help_ = "remove it if it is a slip"
        if name == NOT_ENFORCED:
            what = f"'{entry.name}': the source has restrictions that no field holds: {value}"
            help_ = DECIDE
        page.warn(Code.UNKNOWN_FIELD, entry.key, what, help_)
    return extra


def _is_misplaced(definition: Definition, entry: Node, *, is_map: bool) -> bool:
    """Report a map in place of a field's one value, and a section that is written as a key."""
    page, table = definition.page, TABLES[definition.kind][0]
    near = nearest(entry.name, [f.name for f in table.fields if f.restricts])
    known = table.field(near or entry.name) if is_map else None
    section = section_of(definition.kind, entry.name) if is_map or entry.blocks else None
    if known is not None:
        what = f"'{known.name}' can't be read from a map"
        help_ = f"write `{known.attribute}: value` on one line"
        page.error(Code.UNREADABLE_VALUE, entry.key, what, help_)
    elif section is not None:
        what = f"'{entry.name}' can't be in Metadata"
        page.error(Code.MISPLACED_FIELD, entry.key, what, f"write it as `## {section.name}`")
    return known is not None or section is not None


def _leaves(data: object) -> Iterator[tuple[str, str]]:
    """Yield each key of nested maps with its text value."""
    for value in data if isinstance(data, list) else ():
        yield from _leaves(value)
    for key, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, str):
            yield key, value
        else:
            yield from _leaves(value)


_DEFAULTS = (
    ("Version", Code.MISSING_VERSION, "1.0.0"),
    ("Category", Code.MISSING_CATEGORY, "general"),
)


def _defaults(definition: Definition, values: dict[str, Any], fields: Fields) -> None:
    """Check the name, and fill in what is missing, with a warning and a fix."""
    page, section = definition.page, definition.document.known.get("Metadata")
    if "Metadata" in definition.missing:
        values |= {"name": "unnamed", "version": "", "category": ""}
        return
    below = section.mark.line + 1 if section else 0
    mark = section.mark if section else Mark("", definition.document.mark.line, 1)
    entry = fields.entry("name")
    if entry is not None and values.get("name"):
        written = page.mark(values["name"], entry.value.line, entry.value.column)
        values["name"] = definition_name(page, written, values["name"])
        page.named("definition", values["name"], entry.value, declares=True)
        below = max(below, entry.key.line) if section else 0
    else:
        fallback = repair_name(PurePath(page.path).name.split(".")[0] or "tool")
        values.setdefault("name", fallback)
        if not page.has_errors or entry is None:
            fix = _fill(page, entry, below, f"**Name**: {fallback}")
            what = f"Name is missing; '{fallback}', from the file's name, is used"
            page.warn(Code.MISSING_NAME, mark, what, f"add `- **Name**: {fallback}`", fix)
    for name, code, default in _DEFAULTS:
        if values.get(name.lower()):
            continue
        values[name.lower()] = default
        fix = _fill(page, fields.entry(name.lower()), below, f"**{name}**: {default}")
        what = f"{name} is missing; '{default}' is used"
        page.warn(code, mark, what, f"add `- **{name}**: {default}`", fix)


def _fill(page: Page, entry: Node | None, below: int, text: str) -> tuple[Edit, ...]:
    """Build the fix that writes a field below a line, or in place of one without a value."""
    if entry is None:
        return insert_below(below, f"- {text}") if below else ()
    line = page.source(entry.key.line)
    bullet = re.match(r"[ \t]*[-*+][ \t]+", line)
    if bullet is None or entry.blocks:
        return ()
    at = bullet.end()
    return replace(Mark(line[at:], entry.key.line, at + 1), text)
