"""Parse a prompt: its arguments like a tool's parameters, and its text; raise nothing."""

from toolmd._parse.document.definition import Definition, open_definition
from toolmd._parse.document.metadata import read_metadata
from toolmd._parse.fields.table import section_of
from toolmd._parse.page import Mark, Places
from toolmd._parse.parameters.schema import read_section
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.prompt import PromptSpec, places
from toolmd._types.schema import Parameter
from toolmd.errors import did_you_mean


def parse_prompt(
    text: str, path: str, places: Places | None = None
) -> tuple[PromptSpec | None, tuple[Diagnostic, ...]]:
    """Parse the text of a `.prompt.md` file (format.md).

    Args:
        text: the content of the file.
        path: the path that the diagnostics name.
        places: receives the names and expressions of the file.

    Returns:
        The spec, or None if any diagnostic is an error; and the diagnostics.
    """
    definition, diagnostics = open_definition(text, path, "prompt", places)
    if definition is None:
        return None, diagnostics
    said = read_metadata(definition)
    said["parameters"] = read_section(definition, "Arguments")
    definition.section("Prompt")
    said["text"] = definition.prose_of("Prompt")
    _check_fields(definition, said["parameters"])
    _check_text(definition, said["text"], said["parameters"])
    said["sections"] = definition.kept()
    for section in definition.document.others:
        if section_of("prompt", section.title) is None:
            what = f"'{section.title}' is not a section of a prompt, so no model would read it"
            help_ = f"write `### {section.title}` below `## Prompt`, or remove it"
            definition.page.error(Code.MISPLACED_FIELD, section.mark, what, help_)
    return definition.finish(PromptSpec, said)


def _check_fields(definition: Definition, arguments: tuple[Parameter, ...]) -> None:
    """Report fields that have an effect on calls only."""
    section = definition.document.known.get("Arguments")
    for argument in arguments if section is not None else ():
        shape = argument.shape
        found = {
            "Verbatim": shape.holds_verbatim,
            "Accepts Handle": shape.accepts_handle,
            "Sent In": shape.sent_in,
        }
        for name in [name for name, is_set in found.items() if is_set]:
            assert section is not None
            what = f"{name} of {argument.name} has no effect: a prompt is text, not a call"
            help_ = "remove it; a tool may have it"
            definition.page.error(Code.MISPLACED_FIELD, section.mark, what, help_)


def _check_text(definition: Definition, text: str, arguments: tuple[Parameter, ...]) -> None:
    section = definition.document.known.get("Prompt")
    if section is None:
        return
    page = definition.page
    if not text:
        message = "the section 'Prompt' is empty"
        page.error(Code.MISSING_SECTION, section.mark, message, "write the text for the model")
    names = [argument.name for argument in arguments]
    used = set()
    for place in places(text):
        used.add(place.name)
        mark = _mark_of(definition, section.mark, place.written)
        if place.doubled:
            message = f"'{place.written}' is not how a prompt names an argument"
            page.error(Code.PROMPT_ARGUMENT, mark, message, f"write `{{{place.name}}}`")
        elif place.name not in names:
            hint = did_you_mean(place.name, names) or f"add `### {place.name}` below `## Arguments`"
            message = f"the prompt has no argument '{place.name}'"
            page.error(
                Code.PROMPT_ARGUMENT, mark, message, f"{hint}; `\\{place.written}` is plain text"
            )
    for name in [name for name in names if name not in used]:
        what = f"the argument '{name}' is not in the text"
        help_ = f"write `{{{name}}}` where its value belongs, or remove it"
        page.warn(Code.PROMPT_ARGUMENT, section.mark, what, help_)


def _mark_of(definition: Definition, heading: Mark, written: str) -> Mark:
    lines = definition.page.lines
    found = (n for n in range(heading.line, len(lines) + 1) if written in lines[n - 1])
    return definition.page.mark(written, next(found, heading.line))
