"""Read the sections that contain parameters or the schema of a result."""

from toolmd._parse.blocks.block import Block, Bullets, Paragraph, Raw, Table, mark_of
from toolmd._parse.document.definition import Definition
from toolmd._parse.fields.entries import fences, implied
from toolmd._parse.parameters.drafts import Draft, fill, headings, read_drafts
from toolmd._parse.parameters.schema import SchemaReader, read_parameters
from toolmd._parse.parameters.signature import read_signature
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import says_none
from toolmd._types.code import Code
from toolmd._types.schema import Parameter, Schema
from toolmd._validation.strict_json import JsonError, read_json


def read_section(definition: Definition, name: str) -> tuple[Parameter, ...]:
    """Read a section of parameters; an empty section or `None` means that there are none."""
    section = definition.section(name)
    if section is None:
        return ()
    page, title = definition.page, section.title
    found = read_drafts(page, section.blocks, section.parts)
    fence = next((f for f in fences(found.prose) if not _says_none(f.content)), None)
    unread = next((block for block in found.prose if _may_hold(block)), None)
    if found.drafts or found.none_said or not found.prose:
        pass
    elif fence is not None:
        what = f"a code fence is not read, so '{title}' has no parameters"
        help_ = (
            "write `### name` for each, with `- **Type**: …`, `- **Required**: …` and the other "
        )
        help_ += "details of the code below it; or `None` above the fence"
        page.error(Code.NO_PARAMETERS_READ, fence.mark, what, help_)
    elif unread is not None:
        what = f"no parameter could be read here, so '{title}' has none"
        help_ = "write `### name` for each, or `` - `name` (string, required): description ``; "
        help_ += "or `None` above text that is not a parameter"
        if isinstance(unread, Table):
            columns = "`Name`, `Type`, `Required`, `Default` and `Description`"
            help_ = f"a table's columns are {columns}; {help_}"
        page.error(Code.NO_PARAMETERS_READ, mark_of(unread), what, help_)
    else:
        what = f"'{title}' contains text, but no parameter was found in it"
        help_ = "write `### name` for each parameter, or `None`"
        page.warn(Code.NO_PARAMETERS_READ, section.mark, what, help_)
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
            lines = (line.strip() for line in block.mark.text.split("\n"))
            return any(_defines(block.mark._replace(text=line)) for line in lines)
        case _:
            return False


def _defines(line: Mark) -> bool:
    """Return whether a line defines a parameter in the style of a docstring: `name (str): …`."""
    found = read_signature(line)
    return line.text.startswith((":", "@")) or (found is not None and found.typed)


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
    page, draft = definition.page, Draft(section.mark)
    fill(page, draft, section.blocks)
    prose, draft.prose = draft.prose, []
    if not (draft.entries or draft.drafts or section.parts):
        # Only prose: its text is the description; any type is allowed.
        draft.prose, prose = prose, []
        draft.entries = [implied("Type", "any", section.mark)]
        if not draft.prose:
            help_ = "add `- **Type**: object` and `- **Description**: …`"
            page.error(Code.MISSING_FIELD, section.mark, "'Returns' is empty", help_)
    for item in headings(page, section.parts):
        fill(page, draft, [Bullets([item], ordered=False)])
    draft.drafts += draft.siblings
    definition.document.keep(section, prose, [])
    return SchemaReader(page, "the result", role="result").read(draft)[0]
