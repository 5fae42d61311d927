"""Parse a skill: read its sections in order, report every problem, raise nothing."""

from fnmatch import fnmatchcase
from os import PathLike
from typing import Any

from toolmd._parse.blocks import Bullets, Node, Paragraph, Table, prose
from toolmd._parse.document.definition import Definition, open_definition
from toolmd._parse.document.metadata import read_metadata
from toolmd._parse.fields.entries import name_fields, read_entries
from toolmd._parse.fields.table import SectionTable
from toolmd._parse.fields.values import report_twice
from toolmd._parse.page import Mark, Places
from toolmd._parse.parameters.schema import read_section
from toolmd._parse.parameters.signature import read_signature
from toolmd._parse.parameters.types import known_type
from toolmd._parse.steps.workflow import read_workflow
from toolmd._parse.unread import report_unknown
from toolmd._parse.words import SEPARATORS, fold
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.skill import Output, SkillSpec

_PARTS = tuple(Output.model_fields)


def parse_skill(
    text: str, path: str | PathLike[str], places: Places | None = None
) -> tuple[SkillSpec | None, tuple[Diagnostic, ...]]:
    """Parse the text of a `.skill.md` file (format.md).

    Args:
        text: the content of the file.
        path: the path that the diagnostics name.
        places: receives the names and expressions of the file.

    Returns:
        The spec, or None if any diagnostic is an error; and the diagnostics.
    """
    definition, diagnostics = open_definition(text, path, "skill", places)
    if definition is None:
        return None, diagnostics
    values = read_metadata(definition)
    _allowed(definition, values)
    values["places"] = definition.places
    values["parameters"] = read_section(definition, "Input Schema")
    for one in values["parameters"]:
        if one.shape.from_caller is not None:
            section = definition.section("Input Schema")
            what = f"the Default of {one.name} can't be a fact of the caller"
            help_ = "only a parameter of a tool is filled from the caller"
            mark = definition.document.mark if section is None else section.mark
            definition.page.error(Code.INVALID_DEFAULT, mark, what, help_)
    values["output"] = _output(definition)
    values["when_to_use"] = definition.when_to_use()
    workflow = definition.section("Workflow")
    if workflow is not None:
        values["workflow"], sections = read_workflow(
            definition.page, workflow.blocks, workflow.parts
        )
        values["workflow_sections"] = tuple(sections)
    values["sections"] = definition.keep_prose()
    return definition.finish(SkillSpec, values)


def _allowed(definition: Definition, values: dict[str, Any]) -> None:
    """Report the Required Tools that Allowed Tools or Disallowed Tools exclude."""
    allowed, disallowed = values.get("allowed_tools", ()), values.get("disallowed_tools", ())
    mark = definition.document.mark
    for name in values.get("required_tools", ()):
        if _matches(name, disallowed):
            what = f"Required Tools has '{name}', and Disallowed Tools excludes it"
        elif allowed and not _matches(name, allowed):
            what = f"Required Tools has '{name}', and Allowed Tools does not have it"
        else:
            continue
        definition.page.error(Code.CONFLICT, mark, what, "remove it from one list, or add it")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    """Return whether a pattern, without its part in parentheses, matches a tool's name."""
    tools = (pattern.partition("(")[0].replace("-", "_") for pattern in patterns)
    return any(fnmatchcase(name, tool) for tool in tools)


def _output(definition: Definition) -> Output:
    """Read the description of each part of the SkillResult."""
    section = definition.section("Output Schema")
    if section is None or section.table is None:
        return Output()
    page = definition.page
    tables = [b for b in section.blocks if isinstance(b, Table) and len(b.head) > 2]  # noqa: PLR2004
    blocks = [b for b in section.blocks if b not in tables]
    for item in [item for b in blocks if isinstance(b, Bullets) for item in b.items]:
        _split_type(item, section.table)
    read = read_entries(page, blocks, section.table)
    read.entries += [_row(row) for table in tables for row in table.rows]
    fields = name_fields(page, read.entries, section.table)
    report_twice(page, fields)
    texts = {name: _behind_type(entry) for name, (_, entry) in fields.known.items()}
    for entry in fields.unknown:
        if report_unknown(page, entry, section.table):
            continue
        what = f"the Output Schema has no part '{entry.name}'; it is kept as prose"
        help_ = "the parts are Success, Message, Data and Error"
        page.warn(Code.UNKNOWN_FIELD, entry.key, what, help_)
        read.prose.append(Paragraph(Mark(f"**{entry.name}**: {entry.text}", entry.key.line, 1)))
        read.prose += entry.blocks
    if fold(texts.get("type", "")) not in {"", "skillresult"}:
        read.prose.append(Paragraph(Mark(texts["type"], section.mark.line, 1)))
    definition.document.keep(section, read.prose, section.parts)
    return Output(**{name: texts[name] for name in _PARTS if name in texts})


def _split_type(item: Node, table: SectionTable) -> None:
    """Read `**Success** (boolean): text` as the part Success with that text."""
    line = read_signature(item.mark)
    if line is None or not line.typed or line.notes or table.field(line.name.text) is None:
        return
    if not item.keyed or table.field(item.key.text) is None:
        descriptions = [entry.value for entry in line.entries if entry.key.text == "Description"]
        item.key, item.keyed = line.name, True
        item.value = descriptions[0] if descriptions else line.name._replace(text="")


def _row(row: list[Mark]) -> Node:
    """Build the entry of a table row with a part, a type and a description."""
    text = " - ".join(cell.text for cell in row[1:] if cell.text)
    return Node(row[0], Mark(text, row[1].line, row[1].column))


def _behind_type(entry: Node) -> str:
    """Return the text after the type, as in `boolean - Whether it worked`, and nested blocks."""
    word, _, rest = entry.text.partition(" ")
    text = rest.lstrip(" " + SEPARATORS) if known_type(word) is not None else entry.text
    return "\n\n".join(part for part in (text, prose(entry.blocks)) if part)
