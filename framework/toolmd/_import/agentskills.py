"""Import Agent Skills: a public SKILL.md becomes a skill with a prose workflow."""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from toolmd._import.names import (
    brief,
    fence_text,
    first_and_rest,
    one_line,
    plain_line,
    prose,
    title_of,
    tool_name,
    words_of,
)
from toolmd._import.policy import Policy, restricting
from toolmd._import.report import ImportReport, known_title
from toolmd._parse.blocks import Node, Part, with_headings
from toolmd._parse.blocks import prose as written
from toolmd._parse.document.front_matter import read_front_matter
from toolmd._parse.fields.table import section_of
from toolmd._parse.outline import outline, source_lines
from toolmd._parse.page import Page
from toolmd._parse.scalars import boolean, split_outside, split_words
from toolmd._parse.words import fold, heading_text
from toolmd._parse.writing.fields import word, words_text
from toolmd._types.diagnostic import Severity
from toolmd._types.imported import Imported

_WORKFLOW = {"workflow", "steps", "instructions", "process", "procedure", "howitworks"}
_INPUTS = {"inputs", "input", "inputschema", "parameters", "arguments"}
_RESULT = {"result", "output", "outputs", "outputschema", "returns"}
_READ = {
    *("name", "description", "version", "category", "tags", "metadata", "tools"),
    *("allowed-tools", "allowedtools", "disallowed-tools", "disallowedtools"),
    *("disable-model-invocation", "user-invocable", "inputs"),
}
"""The keys of the front matter that have a place of their own."""
_INVOCATION = ("disable-model-invocation", "user-invocable")
_MARK = re.compile(r"^\s*(?:(?:[-*+>|#]+|\d+[.)])\s+)+")
_PROMPTS = (".prompty", ".prompt")
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
    tags: str = ""
    policy: dict[str, str] = field(default_factory=dict)
    """Who may start it and what it may use: the name and the text of each field."""
    unread: list[Policy] = field(default_factory=list)
    """Keys that restrict in the source, with their values."""
    workflow: str = ""
    inputs: str = ""
    result: str = ""
    sections: dict[str, str] = field(default_factory=dict)


def read(text: str, name: str) -> Imported:
    """Read one SKILL.md; `name` is its path, for a name that is missing in the text."""
    report = ImportReport()
    page = Page(name, source_lines(text))
    front = read_front_matter(page)
    named = [(_key(entry.name), _value(entry)) for entry in front.entries]
    named += [(_key(mark.text), data) for mark, data in front.nested]
    said: dict[str, Any] = dict(named)
    unread = [one.message for one in page.diagnostics if one.severity is Severity.ERROR]
    keys = [key for key, _ in named]
    unread += [
        f"the front matter can't be read: {key} stands there twice"
        for key in said
        if keys.count(key) > 1
    ]
    # A prompt's own headings are its text, and no sections.
    prompt = "\n".join(page.lines).strip() if name.lower().endswith(_PROMPTS) else ""
    skill = _skill(said, outline(page), name, prompt, report)
    for diagnostic in page.diagnostics:
        report.note(skill.name if skill else name, "", diagnostic.message, diagnostic.span.line)
    if skill is None:
        return report.close()
    # What it restricts can't be known.
    skill.unread += [("", one) for one in unread]
    made = report.add_skill(skill.name, _candidates(skill), skill.unread)
    if made and not skill.inputs:
        report.note(skill.name, "", "no inputs in the source: the skill has none")
    if made:
        report.note(skill.name, "", "the workflow is prose: write its steps out to make it run")
        known = "\n".join([report.drafts[-1].text, *(note.text for note in report.notes)])
        read = {key for key in _INVOCATION if boolean(str(said.get(key))) is not None}
        for number, line in _lost_lines(text, known, read):
            report.note(skill.name, "", f"not kept: {brief(line)}", number)
    return report.close()


def _key(name: str) -> str:
    """Return a key as this module names it, whatever its capitals and the signs in it."""
    own = "-".join(words_of(name))
    return own if own in _READ else name.lower().replace("_", "-")


def _value(entry: Node) -> Any:
    return entry.text if entry.listed is None else [mark.text for mark in entry.listed]


def _skill(
    said: dict[str, Any], parts: list[Part], path: str, prompt: str, report: ImportReport
) -> _Skill | None:
    metadata = said["metadata"] if isinstance(said.get("metadata"), dict) else {}
    rest = parts[1:]
    # A heading within the text belongs to the prompt.
    first = rest[0] if rest and not parts[0].blocks else None
    is_title = first is not None and first.level == 1 and not prompt
    heading = heading_text(first.heading.text) if first and is_title else ""
    file, folder = _file_names(path)
    names = (metadata.get("toolmd-name"), said.get("name"), file, heading, folder)
    called = [str(one) for one in names if one]
    name = next(filter(None, map(tool_name, called)), "")
    if not name:
        report.reject(called[0], "the name contains no letter that a skill's name may have")
        return None
    head = parts[0].blocks + (rest[0].blocks if heading else [])
    body = written(head)
    if not said.get("name"):
        report.note(name, "", "no name in the front matter: taken from the file or the title")
    about, more = first_and_rest(str(said.get("description") or ""))
    if not about and not prompt:
        about, body = first_and_rest(body)
        report.note(name, "", "no description in the front matter: the first paragraph")
    body = _without(body, about)
    skill = _Skill(name, heading or title_of(name), about or f"{title_of(name)}.", prose(more))
    _metadata(skill, said, metadata, report)
    if prompt:
        skill.workflow = fence_text(prompt)
    else:
        _sections(skill, body, rest[1:] if heading else rest)
    return skill


def _file_names(path: str) -> tuple[str, str]:
    """Return the names of the file, by which people start it, and of the folder of a SKILL.md."""
    pure = PurePath(path)
    own = pure.name.partition(".")[0]
    return ("", pure.parent.name or own) if own.upper() == "SKILL" else (own, "")


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
    skill.tags = ", ".join(_words(said.get("tags")))
    _policy(skill, said)
    skill.inputs = _inputs(said.get("inputs"))
    kept = {"toolmd-name", "version", "category", "required-tools", "required-skills"}
    about = {k: v for k, v in said.items() if k not in _READ}
    about |= {k: v for k, v in metadata.items() if k not in kept}
    skill.unread += restricting(about, "skill")
    if "hooks" in about:
        report.note(skill.name, "", "hooks are kept as prose: Toolmd does not run them")
    if about:
        lines = (f"- {key}: {_one_value(value)}" for key, value in about.items())
        skill.sections["About"] = "\n".join(lines)


def _policy(skill: _Skill, said: dict[str, Any]) -> None:
    """Read who may start the skill, and which tools it may use."""
    for key, name, restricts in (
        ("disable-model-invocation", "Model Invocation", True),
        ("user-invocable", "User Invocable", False),
    ):
        if key not in said:
            continue
        value = boolean(str(said[key]))
        if value is None:
            skill.unread.append((name, said[key]))
        elif value is restricts:
            skill.policy[name] = "false"
    for keys, name in (
        (("allowed-tools", "allowedtools", "tools"), "Allowed Tools"),
        (("disallowed-tools", "disallowedtools"), "Disallowed Tools"),
    ):
        listed = [word for key in keys for word in _words(said.get(key))]
        if name == "Allowed Tools" and not listed and any(said.get(key) == [] for key in keys):
            skill.unread.append(("", "the list of tools is empty: no tool may be used"))
        if listed:
            skill.policy[name] = words_text([word(one) for one in dict.fromkeys(listed)])


def _inputs(said: Any) -> str:
    """Return bullets for the inputs of a prompty file: a map, or a list of maps with names."""
    if isinstance(said, list):
        said = {one.get("name"): one for one in said if isinstance(one, dict)}
    lines = []
    for name, known in said.items() if isinstance(said, dict) else ():
        given = known if isinstance(known, dict) else {"type": known}
        kind = given.get("type", given.get("kind"))
        kind = kind if isinstance(kind, str) else "any"
        needed = "required" if boolean(str(given.get("required"))) else "optional"
        value = given.get("default")
        if isinstance(value, str) and kind in {"integer", "number", "boolean", "array", "object"}:
            default = f", default {one_line(value)}"
        else:
            default = f", default {json.dumps(value)}" if "default" in given else ""
        about = f": {plain_line(str(given['description']))}" if given.get("description") else ""
        lines.append(f"- `{name}` ({kind}, {needed}{default}){about}")
    return "\n".join(lines)


def _words(listed: Any) -> list[str]:
    """Return the words of a list, or of a text with commas or spaces between them."""
    if isinstance(listed, list):
        named = (one.get("name", next(iter(one), "")) if isinstance(one, dict) else one
                 for one in listed)  # fmt: skip
        return [one_line(str(one)) for one in named]
    text = one_line(str(listed or ""))
    parts = [part.strip() for part in split_outside(text, ",")]
    return [part for part in parts if part] if len(parts) > 1 else split_words(text)


def _one_value(value: Any) -> str:
    """Return a value of the front matter on one line."""
    if isinstance(value, str):
        return plain_line(value)
    return f"`{json.dumps(value, ensure_ascii=False, default=str)}`".replace("<!--", "")


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
        elif (table := section_of("skill", title)) is not None and table.name == "When to use":
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
    """Yield the texts to try: first unchanged, then with non-step lists moved out."""
    yield _text(skill, skill.workflow, skill.inputs, skill.result, skill.sections)
    apart = {"Inputs notes": skill.inputs, "Result notes": skill.result}
    kept = {title: text for title, text in apart.items() if text}
    yield _text(skill, skill.workflow, "", "", {**kept, **skill.sections})
    kept = {"Instructions": prose(skill.workflow), **kept}
    safe = {title: prose(text) for title, text in skill.sections.items()}
    yield _text(skill, _EMPTY_WORKFLOW, skill.inputs, "", {**kept, **safe})
    yield _text(skill, _EMPTY_WORKFLOW, "", "", {**kept, **safe})
    # Lines that look like restrictions are another program's, and stay as they are.
    as_code = {title: fence_text(text) for title, text in (kept | skill.sections).items() if text}
    yield _text(skill, _EMPTY_WORKFLOW, "", "", as_code)


def _text(skill: _Skill, workflow: str, inputs: str, result: str, sections: dict[str, str]) -> str:
    metadata = [
        f"- **Name**: {skill.name}",
        f"- **Version**: {skill.version}",
        f"- **Category**: {skill.category}",
        f"- **Required Tools**: {skill.tools}" if skill.tools else "",
        f"- **Required Skills**: {skill.skills}" if skill.skills else "",
        f"- **Tags**: {skill.tags}" if skill.tags else "",
        *(f"- **{name}**: {text}" for name, text in skill.policy.items()),
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
    return plain_line(title) if words_of(title) else "Notes"


def _lost_lines(text: str, said: str, read: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield each line of a markdown text that another text does not have, with its number.

    Headings are left out: what becomes of them is the reader's business. Of a field of the front
    matter only the value is compared.

    Args:
        text: The source.
        said: All that the draft and the notes say.
        read: The keys of the front matter whose fields have other words than their source.
    """
    known = _letters(said)
    opens = len(text) - len(text.lstrip("\ufeff \r\n\t"))
    ends = text.find("\n---", opens + 3) if text.startswith("---", opens) else 0
    at = 0
    for number, line in enumerate(text.split("\n"), 1):
        own = _MARK.sub("", line).strip()
        if at < ends and not line.lstrip().startswith("#"):
            key, _, value = own.partition(":")
            own = "" if _key(key) in read else value.partition(" #")[0] or key
        elif line.startswith("#"):
            own = "" if at >= ends else own
        if (folded := _letters(own)) and folded not in known:
            yield number, line.strip()
        at += len(line) + 1


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))
