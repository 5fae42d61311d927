"""Import Agent Skills: a public SKILL.md becomes a skill with a prose workflow."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from toolmd._import.finish import known_title
from toolmd._import.names import title_of, tool_name, words
from toolmd._import.report import ImportReport
from toolmd._import.text import first_and_rest, plain_line, prose
from toolmd._parse.blocks.block import Part
from toolmd._parse.blocks.outline import outline
from toolmd._parse.blocks.prose import prose as written
from toolmd._parse.blocks.prose import with_headings
from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.document.front_matter import read_front_matter
from toolmd._parse.fields.table import section_of
from toolmd._parse.source.page import Page
from toolmd._parse.words.keys import fold, heading_text
from toolmd._types.imported import Imported

_WORKFLOW = {"workflow", "steps", "instructions", "process", "procedure", "howitworks"}
_INPUTS = {"inputs", "input", "inputschema", "parameters", "arguments"}
_RESULT = {"result", "output", "outputs", "outputschema", "returns"}
_ABOUT = ("license", "compatibility", "author", "homepage")
_EMPTY_WORKFLOW = "Follow the instructions below."


@dataclass(slots=True)
class _Skill:
    """The parts of a SKILL.md, before they are written as a definition."""

    name: str
    title: str
    description: str
    when_to_use: str
    version: str = "1.0.0"
    category: str = "general"
    tools: str = ""
    skills: str = ""
    workflow: str = ""
    inputs: str = ""
    result: str = ""
    sections: dict[str, str] = field(default_factory=dict)


def read(text: str, name: str) -> Imported:
    """Read one SKILL.md; `name` is its path, for a name that is missing in the text."""
    report = ImportReport()
    page = Page(name, source_lines(text))
    front = read_front_matter(page)
    said: dict[str, Any] = {entry.name.lower(): entry.text for entry in front.entries}
    said |= {mark.text.lower(): data for mark, data in front.nested}
    for diagnostic in page.diagnostics:
        report.note("", "", diagnostic.message, diagnostic.span.line)
    skill = _skill(said, outline(page), name, report)
    if skill is None:
        return report.close()
    made = report.add_skill(skill.name, _candidates(skill))
    if made and not skill.inputs:
        report.note(skill.name, "", "no inputs in the source: the skill has none")
    if made:
        report.note(skill.name, "", "the workflow is prose: write its steps out to make it run")
    return report.close()


def _skill(
    said: dict[str, Any], parts: list[Part], path: str, report: ImportReport
) -> _Skill | None:
    metadata = said["metadata"] if isinstance(said.get("metadata"), dict) else {}
    rest = parts[1:]
    heading = heading_text(rest[0].heading.text) if rest and rest[0].level == 1 else ""
    called = metadata.get("toolmd-name") or said.get("name") or heading or _folder(path)
    name = tool_name(str(called))
    if not name:
        report.reject(str(called), "the name contains no letter that a skill's name may have")
        return None
    head = parts[0].blocks + (rest[0].blocks if heading else [])
    body = written(head)
    if not said.get("name"):
        report.note(name, "", "no name in the front matter: taken from the title or the folder")
    first, more = first_and_rest(str(said.get("description") or ""))
    if not first:
        first, body = first_and_rest(body)
        report.note(name, "", "no description in the front matter: the first paragraph")
    body = _without(body, first)
    skill = _Skill(name, heading or title_of(name), first or f"{title_of(name)}.", prose(more))
    _metadata(skill, said, metadata, report)
    _sections(skill, body, rest[1:] if heading else rest)
    return skill


def _folder(path: str) -> str:
    pure = PurePath(path)
    return pure.parent.name if pure.stem.upper() == "SKILL" and pure.parent.name else pure.stem


def _without(body: str, description: str) -> str:
    """Drop a first paragraph that only repeats the description."""
    first, _, rest = body.partition("\n\n")
    return rest if " ".join(first.split()) == description else body


def _metadata(
    skill: _Skill, said: dict[str, Any], metadata: dict[str, Any], report: ImportReport
) -> None:
    known = {**metadata, **{k: v for k, v in said.items() if k in {"version", "category"}}}
    for key in ("version", "category"):
        if isinstance(known.get(key), str) and known[key].strip():
            setattr(skill, key, plain_line(known[key]))
        else:
            report.note(skill.name, "", f"no {key} in the source: `{getattr(skill, key)}`")
    skill.tools = _names(metadata.get("required-tools"))
    skill.skills = _names(metadata.get("required-skills"))
    if allowed := said.get("allowed-tools"):
        report.note(
            skill.name, "", f"allowed-tools grants the host's own tools: not kept: {allowed}"
        )
    about = [f"- {k}: {plain_line(str(said[k]))}" for k in _ABOUT if said.get(k)]
    kept = {"toolmd-name", "version", "category", "required-tools", "required-skills"}
    about += [f"- {k}: {plain_line(str(v))}" for k, v in metadata.items() if k not in kept]
    if about:
        skill.sections["About"] = "\n".join(about)


def _names(listed: Any) -> str:
    names = listed.split(",") if isinstance(listed, str) else listed or ()
    return ", ".join(name for item in names if (name := tool_name(str(item))))


def _sections(skill: _Skill, body: str, parts: list[Part]) -> None:
    for title, text in _groups(parts):
        key = fold(title)
        if key in _WORKFLOW and not skill.workflow:
            skill.workflow = text
        elif key in _INPUTS and not skill.inputs:
            skill.inputs = text
        elif key in _RESULT and not skill.result:
            skill.result = text
        elif (table := section_of("skill", key)) is not None and table.name == "When to use":
            skill.when_to_use = "\n\n".join(t for t in (skill.when_to_use, text) if t)
        else:
            known = known_title("skill", title)
            before = skill.sections.get(known)
            skill.sections[known] = f"{before}\n\n{text}" if before else text
    if skill.workflow:
        skill.workflow = "\n\n".join(t for t in (body, skill.workflow) if t)
    else:
        skill.workflow = body


def _groups(parts: list[Part]) -> Iterator[tuple[str, str]]:
    """Return the text of each top heading, and everything below it as markdown."""
    top = min((part.level for part in parts), default=0)
    at = 0
    while at < len(parts):
        end = at + 1
        while end < len(parts) and parts[end].level > top:
            end += 1
        texts = (written(parts[at].blocks), with_headings(parts[at + 1 : end], top))
        title = heading_text(parts[at].heading.text) or "Notes"
        yield title, "\n\n".join(text for text in texts if text)
        at = end


def _candidates(skill: _Skill) -> Iterator[str]:
    """Return the texts to try: first unchanged, then with non-step lists moved out."""
    yield _text(skill, skill.workflow, skill.inputs, skill.result, skill.sections)
    apart = {"Inputs notes": skill.inputs, "Result notes": skill.result}
    kept = {title: text for title, text in apart.items() if text}
    yield _text(skill, skill.workflow, "", "", {**kept, **skill.sections})
    kept = {"Instructions": prose(skill.workflow), **kept}
    safe = {title: prose(text) for title, text in skill.sections.items()}
    yield _text(skill, _EMPTY_WORKFLOW, skill.inputs, "", {**kept, **safe})
    yield _text(skill, _EMPTY_WORKFLOW, "", "", {**kept, **safe})


def _text(skill: _Skill, workflow: str, inputs: str, result: str, sections: dict[str, str]) -> str:
    metadata = [
        f"- **Name**: {skill.name}",
        f"- **Version**: {skill.version}",
        f"- **Category**: {skill.category}",
        f"- **Required Tools**: {skill.tools}" if skill.tools else "",
        f"- **Required Skills**: {skill.skills}" if skill.skills else "",
    ]
    output = ["- **Type**: object (SkillResult)", result if result.startswith("- **") else ""]
    blocks = [
        f"# {plain_line(skill.title)}",
        skill.description,
        "## Metadata",
        "\n".join(filter(None, metadata)),
        *(["## When to use", skill.when_to_use] if skill.when_to_use else []),
        "## Workflow",
        workflow or _EMPTY_WORKFLOW,
        "## Input Schema",
        inputs or "None",
        "## Output Schema",
        "\n".join(filter(None, output)),
    ]
    if result and not output[1]:
        blocks += ["## Result notes", result]
    for title, text in sections.items():
        blocks += [f"## {_heading(title)}", text]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _heading(title: str) -> str:
    return plain_line(title) if words(title) else "Notes"
