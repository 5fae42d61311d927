"""The head and the Metadata section: a definition's name and its requirements on the caller."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from toolmd._parse.blocks import Paragraph, prose
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import Entry, Fields, Unread, name_fields, read_entries
from toolmd._parse.fields.table import TABLES, TOOL_METADATA, SectionTable, section_of
from toolmd._parse.fields.values import READERS, read_values
from toolmd._parse.page import Mark, Page, insert_below, replace
from toolmd._parse.unread import report_kept, report_pair, report_unknown
from toolmd._parse.words import Pair, definition_name, fold, mended_name, nearest, plain
from toolmd._types.code import Code
from toolmd._types.diagnostic import Edit
from toolmd._types.field import Row


def read_metadata(definition: Definition) -> dict[str, Any]:
    """Read the head and Metadata; return the values of the spec's fields, and report defaults."""
    entries, table = _metadata_entries(definition)
    fields = name_fields(definition.page, entries, table, definition.kind)
    values = read_values(definition.page, fields)
    for attribute, (_, entry) in fields.known.items():
        definition.record(attribute, entry)
    _older_forms(definition, values)
    values["title"] = definition.document.title
    values["description"] = _description(definition, fields)
    values["notes"] = definition.document.notes
    values["extra"] = _extra(definition, fields)
    _defaults(definition, values, fields)
    return values


def _older_forms(definition: Definition, values: dict[str, Any]) -> None:
    """Convert fields of older files and of other programs into the fields that they mean."""
    if values.pop("requires_patient_context", False):
        facts = values.get("requires_context", ())
        values["requires_context"] = tuple(dict.fromkeys((*facts, "patient")))
    if values.pop("disable_model_invocation", False):
        values["model_invocation"] = False
    if values.get("allowed_roles"):
        if values.get("requires_auth") is False:
            definition.page.error(
                Code.CONFLICT,
                definition.document.mark,
                "Allowed Roles need a user, and Requires Auth is no",
                "remove **Requires Auth**",
            )
        values["requires_auth"] = True
    named = values.pop("patient_from", None)
    if named is None:
        return
    given = values.setdefault("context", {}).setdefault("patient", named)
    definition.places.setdefault("context", definition.places["patient_from"])
    if given != named:
        definition.page.error(
            Code.CONFLICT,
            definition.document.mark,
            f"Context reads the patient from {given}, and Patient From from {named}",
            "keep **Context**, and remove **Patient From**",
        )


def _metadata_entries(definition: Definition) -> tuple[list[Entry], SectionTable]:
    table = TABLES[definition.kind][0]
    head = {fold(e.name): e for e in definition.front.entries}
    entries = list(definition.front.entries)
    section = definition.document.known.get("Metadata")
    if section is None and not entries:
        definition.section("Metadata")
    if section is not None and section.table is not None:
        read = read_entries(definition.page, section.blocks, section.table)
        definition.document.keep(section, read.prose, section.parts)
        for entry in read.entries:
            entry.known = known = table.field(entry.key.text)
            twin = next(
                (e for e in head.values() if known and table.field(e.key.text) is known), None
            )
            if twin is None or known is None:
                entries.append(entry)
            elif not _same(known, twin, entry):
                definition.page.error(
                    Code.CONFLICT,
                    entry.value,
                    f"'{entry.name}' is '{entry.text}' here and '{twin.text}' in the front matter",
                    "keep one of the two",
                )
    return entries, table


def _description(definition: Definition, fields: Fields) -> str:
    """Return the first paragraph, or the front matter's description."""
    for entry in list(fields.unknown):
        if fold(entry.name) not in {"description", "title"}:
            continue
        attribute = fold(entry.name)
        said = getattr(definition.document, attribute)
        if attribute == "title" and said not in {"", entry.text}:
            continue  # another title is kept as an unknown key
        fields.unknown.remove(entry)
        if not said:
            setattr(definition.document, attribute, entry.text)
        elif said != entry.text:
            definition.page.error(
                Code.CONFLICT,
                entry.value,
                "the description in the metadata differs from the paragraph below the title",
                "keep one of the two",
            )
    if not definition.document.description:
        definition.page.error(
            Code.MISSING_DESCRIPTION,
            definition.document.mark,
            "the description is missing",
            "write a paragraph below the title that says what the definition does",
        )
    return definition.document.description


def _extra(definition: Definition, fields: Fields) -> dict[str, Any]:
    extra: dict[str, Any] = {}
    for entry in fields.unknown:
        if _of_a_tool(definition, entry):
            continue
        if entry.blocks and _is_section(definition, entry.key, "Metadata"):
            continue
        if report_unknown(definition.page, entry, TABLES[definition.kind][0]):
            continue
        report_kept(definition.page, [Paragraph(entry.value), *entry.blocks])
        key = "_".join("".join(c if c.isalnum() else " " for c in entry.name.lower()).split())
        nested = prose(entry.blocks)
        extra[key] = (
            [m.text for m in entry.listed]
            if entry.listed is not None
            else "\n\n".join(t for t in (plain(entry.text), nested) if t)
        )
        _extra_warning(definition, entry.key, entry.name)
    for mark, data in definition.front.nested:
        if _one_value(definition, mark):
            continue
        extra[mark.text] = data
        _report_nested(definition, mark, data)
    return extra


def _of_a_tool(definition: Definition, entry: Entry) -> bool:
    """Report the place of a function that a skill names: nothing would look there."""
    name = "Implemented By"
    known = TOOL_METADATA.field(nearest(entry.name, (name,)) or entry.name)
    if definition.kind != "skill" or known is None or known.name != name:
        return False
    stem = PurePath(definition.page.path).name.split(".")[0].replace("-", "_")
    definition.page.error(
        Code.MISPLACED_FIELD,
        entry.key,
        f"a skill has no '{name}'",
        f"remove it: the Python of a skill is the file of the same stem, {stem}.py",
    )
    return True


def _leaves(data: object) -> Iterator[tuple[str, str]]:
    """Yield each key of nested maps with its text value."""
    for value in data if isinstance(data, list) else ():
        yield from _leaves(value)
    for key, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, str):
            yield key, value
        else:
            yield from _leaves(value)


def _extra_warning(definition: Definition, mark: Mark, name: str) -> None:
    definition.page.warn(
        Code.UNKNOWN_FIELD,
        mark,
        f"Metadata has no field '{name}'; it is kept under `extra`",
        "remove it if it is a slip",
    )


def _report_nested(definition: Definition, mark: Mark, data: object) -> None:
    """Report a map in front matter: an error for a section's name, otherwise a warning."""
    if _is_section(definition, mark, "the front matter"):
        return
    unknown = Entry(mark, mark._replace(text=""))
    if report_unknown(definition.page, unknown, TABLES[definition.kind][0]):
        return
    _extra_warning(definition, mark, mark.text)
    for key, value in _leaves(data):
        pair = Pair(mark._replace(text=key), mark._replace(text=value), marked=False)
        report_pair(definition.page, pair)


def _is_section(definition: Definition, mark: Mark, place: str) -> bool:
    """Report a section that is written as a key with fields below it."""
    name = plain(mark.text)
    table = section_of(definition.kind, name)
    if table is None:
        return False
    definition.page.error(
        Code.MISPLACED_FIELD,
        mark,
        f"'{name}' can't be in {place}",
        f"write it as `## {table.name}`",
    )
    return True


def _one_value(definition: Definition, mark: Mark) -> bool:
    """Report a map for a field, or a near miss of one, that needs a single value."""
    fields = TABLES[definition.kind][0].fields
    near = nearest(mark.text, [f.name for f in fields if f.restricts])
    known = TABLES[definition.kind][0].field(near or mark.text)
    if known is None:
        return False
    definition.page.error(
        Code.UNREADABLE_VALUE,
        mark,
        f"'{known.name}' can't be read from a map",
        f"write `{known.attribute}: value` on one line",
    )
    return True


def _defaults(definition: Definition, values: dict[str, Any], fields: Fields) -> None:
    section = definition.document.known.get("Metadata")
    if "Metadata" in definition.missing:
        values |= {"name": "unnamed", "version": "", "category": ""}
        return
    mark = section.mark if section else Mark("", definition.document.mark.line, 1)
    entry = fields.entry("name")
    if entry is not None and values.get("name"):
        values["name"] = definition_name(
            definition.page,
            definition.page.mark(values["name"], entry.value.line, entry.value.column),
            values["name"],
        )
        definition.page.named("definition", values["name"], entry.value, declares=True)
    else:
        fallback = mended_name(PurePath(definition.page.path).name.split(".")[0] or "tool")
        if definition.kind != "prompt" and (not definition.page.has_errors or entry is None):
            below = section.mark.line + 1 if section else 0
            fix = _filled(definition.page, entry, below, f"**Name**: {fallback}")
            definition.page.warn(
                Code.MISSING_NAME,
                mark,
                f"Name is missing; '{fallback}', from the file's name, is used",
                f"add `- **Name**: {fallback}`",
                fix,
            )
        values.setdefault("name", fallback)
    if definition.kind == "prompt":
        return
    for name, attribute, code, default in (
        ("Version", "version", Code.MISSING_VERSION, "1.0.0"),
        ("Category", "category", Code.MISSING_CATEGORY, "general"),
    ):
        if values.get(attribute):
            continue
        values[attribute] = default
        anchor = section.mark.line + 1 if section is not None else 0
        if anchor and entry is not None and entry.key.line > anchor:
            anchor = entry.key.line
        definition.page.warn(
            code,
            mark,
            f"{name} is missing; '{default}' is used",
            f"add `- **{name}**: {default}`",
            _filled(definition.page, fields.entry(attribute), anchor, f"**{name}**: {default}"),
        )


def _filled(page: Page, entry: Entry | None, below: int, text: str) -> tuple[Edit, ...]:
    """Build the fix that writes a field below a line, or in place of one without a value."""
    if entry is None:
        return insert_below(below, f"- {text}") if below else ()
    line = page.source(entry.key.line)
    bullet = re.match(r"[ \t]*[-*+][ \t]+", line)
    if bullet is None or entry.blocks:
        return ()
    at = bullet.end()
    return replace(Mark(line[at:], entry.key.line, at + 1), text)


def _same(known: Row, a: Entry, b: Entry) -> bool:
    """Return whether two entries mean the same: `true` and `yes` do, `1.1` and `1.10` don't."""

    def said(entry: Entry) -> object:
        value = READERS[known.kind](Page("", []), known, entry)
        return value.replace("-", "_").casefold() if isinstance(value, str) else value

    try:
        return said(a) == said(b)
    except Unread:
        return a.text == b.text  # an unreadable value is reported where fields are read
