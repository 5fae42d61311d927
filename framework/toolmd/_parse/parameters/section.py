"""Read the sections that contain parameters or the schema of a result."""

from toolmd._parse.blocks.block import Block, Bullets, Paragraph, Raw, Table, mark_of
from toolmd._parse.document.definition import Definition
from toolmd._parse.document.sections import Section
from toolmd._parse.fields.entries import fences, implied
from toolmd._parse.parameters.drafts import ParameterDraft, fill
from toolmd._parse.parameters.gathering import read_drafts
from toolmd._parse.parameters.headed import from_headings
from toolmd._parse.parameters.inline import read_inline
from toolmd._parse.parameters.shapes import ShapeReader, read_parameters
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import says_none
from toolmd._types.code import Code
from toolmd._types.schema import Parameter, Schema
from toolmd._validation.strict_json import JsonError, read_json


def read_section(definition: Definition, name: str) -> tuple[Parameter, ...]:
    """Read a section of parameters; an empty section or `None` means that there are none."""
    section = definition.section(name)
    if section is None:
        return ()
    page = definition.page
    found = read_drafts(page, section.blocks, section.parts)
    if found.drafts or found.none_said:
        pass
    elif fence := next((f for f in fences(found.prose) if not _says_none(f.content)), None):
        page.error(
            Code.NO_PARAMETERS_READ,
            fence.mark,
            f"a code fence is not read, so '{section.title}' has no parameters",
            "write `### name` for each, with `- **Type**: …`, `- **Required**: …` and the other "
            "details of the code below it; or `None` above the fence",
        )
    elif unread := next((block for block in found.prose if _may_hold(block)), None):
        columns = "a table's columns are `Name`, `Type`, `Required`, `Default` and `Description`; "
        page.error(
            Code.NO_PARAMETERS_READ,
            mark_of(unread),
            f"no parameter could be read here, so '{section.title}' has none",
            (columns if isinstance(unread, Table) else "")
            + "write `### name` for each, or `` - `name` (string, required): description ``; "
            "or `None` above text that is not a parameter",
        )
    elif found.prose:
        page.warn(
            Code.NO_PARAMETERS_READ,
            section.mark,
            f"'{section.title}' contains text, but no parameter was found in it",
            "write `### name` for each parameter, or `None`",
        )
    definition.document.keep(section, found.prose, [])
    page.places.parameters = read_parameters(page, found.drafts)
    return page.places.parameters


def _may_hold(block: Block) -> bool:
    """Return whether an unread block may have been meant as parameters."""
    match block:
        case Table() | Bullets():
            return True
        case Raw():
            return block.mark.text.startswith(("<", "    ", "\t"))
        case Paragraph():
            lines = block.mark.text.split("\n")
            return any(_defines(block.mark._replace(text=line.strip())) for line in lines)
        case _:
            return False


def _defines(line: Mark) -> bool:
    """Return whether a line defines a parameter in the style of a docstring: `name (str): …`."""
    inline = read_inline(line)
    return line.text.startswith((":", "@")) or (inline is not None and inline.typed)


def _says_none(code: str) -> bool:
    """Return whether code has no parameters: `{}`, or a schema without properties."""
    if not code.strip() or says_none(code):
        return True
    try:
        said = read_json(code)
    except JsonError:
        return False
    return not said or (isinstance(said, dict) and "type" in said and not said.get("properties"))


def read_returns(definition: Definition) -> Schema:
    """Read a tool's result: fields, parameters as its fields, or only prose."""
    section = definition.section("Returns")
    if section is None or section.table is None:
        return Schema()
    page = definition.page
    draft = ParameterDraft(section.mark)
    fill(page, draft, section.blocks)
    prose, draft.prose = draft.prose, []
    if not (draft.entries or draft.drafts or section.parts):
        _plain_returns(page, section, draft, prose)
        prose = []
    from_headings(page, section.parts, draft)
    definition.document.keep(section, prose, [])
    shape, _ = ShapeReader(page, "the result", role="result").read(draft)
    return shape


def _plain_returns(page: Page, section: Section, draft: ParameterDraft, prose: list[Block]) -> None:
    """Read a Returns section of only prose: its text is the description; any type is allowed."""
    draft.prose = prose
    draft.entries += [implied("Type", "any", section.mark)]
    if not prose:
        page.error(
            Code.MISSING_FIELD,
            section.mark,
            "'Returns' is empty",
            "add `- **Type**: object` and `- **Description**: …`",
        )
