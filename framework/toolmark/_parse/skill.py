"""Text to a SkillSpec: the sections read in order, each mistake reported, none raised."""

from toolmark._model.code import Code
from toolmark._model.diagnostic import Diagnostic
from toolmark._model.skill import Output, SkillSpec
from toolmark._parse.definition import Definition, open_definition
from toolmark._parse.drafts import Draft, fill
from toolmark._parse.entries import Entry, flow
from toolmark._parse.keys import fold
from toolmark._parse.sections import keep
from toolmark._parse.steps import read_workflow
from toolmark._parse.tool import parameters
from toolmark._parse.types import is_type_word

_PARTS = tuple(Output.model_fields)


def parse_skill(text: str, path: str) -> tuple[SkillSpec | None, tuple[Diagnostic, ...]]:
    """Read a `.skill.md` text; the spec is None where any diagnostic is an error (format.md)."""
    definition, refused = open_definition(text, path, "skill")
    if definition is None:
        return None, refused
    said = definition.metadata()
    said["parameters"] = parameters(definition, "Input Schema")
    said["output"] = _output(definition)
    said["when_to_use"] = definition.prose_of("When to use")
    workflow = definition.section("Workflow")
    if workflow is not None:
        said["workflow"], sections = read_workflow(
            definition.page, workflow.blocks, workflow.parts
        )
        said["workflow_sections"] = tuple(sections)
    said["sections"] = definition.document.prose()
    return definition.finish(SkillSpec, said)


def _output(definition: Definition) -> Output:
    """Read what stands behind each part of the SkillResult."""
    section = definition.section("Output Schema")
    if section is None:
        return Output()
    draft = Draft(section.mark)
    fill(definition.page, draft, section.blocks)
    said: dict[str, str] = {}
    for part in draft.drafts:
        described = next((e for e in part.entries if e.key.text == "Description"), None)
        said[fold(part.name.text)] = flow(described.value.text) if described else ""
    for entry in draft.entries:
        said[fold(entry.name)] = _behind_type(entry)
    for name in set(said) - set(_PARTS) - {"type", "description"}:
        definition.page.warn(
            Code.UNKNOWN_FIELD,
            section.mark,
            f"the Output Schema has no part '{name}'; it is not kept",
            "it has Success, Message, Data and Error",
        )
    keep(definition.document, section, draft.prose, section.parts)
    return Output(**{name: said[name] for name in _PARTS if name in said})


def _behind_type(entry: Entry) -> str:
    """Give `boolean - Whether it worked` without the type."""
    word, _, rest = entry.text.partition(" ")
    return rest.lstrip(" -–—:") if is_type_word(word) else entry.text  # noqa: RUF001
