"""Export skills as Agent Skills: one folder with a SKILL.md for each."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from toolmd._export.exported import Loss
from toolmd._export.function import argument_lines, plain
from toolmd._types.skill import SkillSpec, step_json
from toolmd._types.tool import ToolSpec

_LONGEST_NAME = 64
_LONGEST_DESCRIPTION = 1024
_STEP_KEYS = {"return": "Return", "in": "In"}


def items(specs: Sequence[ToolSpec | SkillSpec], losses: list[Loss]) -> list[dict[str, str]]:
    """Return the files of all skills; if two need the same folder, the first one stays."""
    made: dict[str, dict[str, str]] = {}
    tools = [spec.name for spec in specs if isinstance(spec, ToolSpec)]
    if tools:
        names, are = ", ".join(tools), "tools" if len(tools) > 1 else "a tool"
        losses.append(Loss(names, "", f"{are} can't be an Agent Skill: left out"))
    for spec in specs:
        if isinstance(spec, ToolSpec):
            continue
        file = item(spec, losses)
        if file["path"] in made:
            losses.append(Loss(spec.name, "", f"the skill is left out: {file['path']} is taken"))
        made.setdefault(file["path"], file)
    return list(made.values())


def item(spec: SkillSpec, losses: list[Loss]) -> dict[str, str]:
    """Return `{path, text}`, such as `schedule-appointment/SKILL.md` and its text."""
    name = folder(spec.name)
    description = " ".join(f"{spec.description}\n{spec.when_to_use}".split())
    if len(description) > _LONGEST_DESCRIPTION:
        losses.append(Loss(spec.name, "", f"the description's end, after {_LONGEST_DESCRIPTION}"))
        description = description[: _LONGEST_DESCRIPTION - 1].rstrip() + "…"
    front = [
        "---",
        f"name: {name}",
        f"description: {_quote(description)}",
        *(f"{key}: {value}" for key, value in _policy(spec)),
        "metadata:",
        *(f"  {key}: {_quote(value)}" for key, value in _metadata(spec).items()),
        "---",
    ]
    return {"path": f"{name}/SKILL.md", "text": "\n".join(front) + "\n\n" + _body(spec)}


def folder(name: str) -> str:
    """Return the name in the format's characters: `a-z`, digits, single hyphens."""
    kebab = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return kebab[:_LONGEST_NAME].strip("-") or "skill"


def _policy(spec: SkillSpec) -> Iterator[tuple[str, str]]:
    """Yield the keys by which hosts of Agent Skills restrict a skill."""
    if not spec.model_invocation:
        yield "disable-model-invocation", "true"
    if not spec.user_invocable:
        yield "user-invocable", "false"
    if spec.allowed_tools:
        yield "allowed-tools", _quote(" ".join(spec.allowed_tools))
    if spec.disallowed_tools:
        yield "disallowed-tools", _quote(" ".join(spec.disallowed_tools))


def _metadata(spec: SkillSpec) -> dict[str, str]:
    # A required tool is not granted to the host's agent, so it isn't in `allowed-tools`.
    told = {
        "toolmd-name": spec.name,
        "version": spec.version,
        "category": spec.category,
        "required-tools": ", ".join(spec.required_tools),
        "required-skills": ", ".join(spec.required_skills),
        "tags": ", ".join(spec.tags),
        **{key: _text_of(value) for key, value in spec.extra.items()},
    }
    return {key: value for key, value in told.items() if value}


def _body(spec: SkillSpec) -> str:
    parts = [f"# {spec.title}", spec.description, spec.when_to_use, spec.notes]
    if spec.required_tools or spec.required_skills:
        names = ", ".join(f"`{name}`" for name in (*spec.required_tools, *spec.required_skills))
        parts.append(f"Needs {names}.")
    if spec.parameters:
        # Prose can express the whole schema, so nothing is lost.
        said = plain(spec.input_schema, lambda _path, _what: None)
        parts += ["## Inputs", "\n".join(argument_lines(said))]
    parts += ["## Workflow", spec.workflow, *_steps(spec)]
    result = {k: v for k, v in spec.output.model_dump().items() if v}
    if result:
        parts += ["## Result", "\n".join(f"- **{k.title()}**: {v}" for k, v in result.items())]
    for title, text in spec.sections.items():
        parts += [f"## {title}", text]
    return "\n\n".join(part for part in parts if part) + "\n"


def _steps(spec: SkillSpec) -> list[str]:
    parts = []
    for section in spec.workflow_sections:
        if section.name:
            parts.append(f"### {section.name}")
        for number, step in enumerate(section.steps, 1):
            shown = step_json(step)
            title, text = shown.pop("title", ""), shown.pop("text", "")
            shown.pop("id")
            lines = [f"{number}. **{title}**{f' {text}' if text else ''}"]
            lines += [f"   - **{_label(key)}**: {_text_of(value)}" for key, value in shown.items()]
            parts.append("\n".join(lines))
    return parts


def _label(key: str) -> str:
    return _STEP_KEYS.get(key, key.removesuffix("_s").replace("_", " ").capitalize())


def _text_of(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_text_of(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_text_of(item) for item in value)
    return value if isinstance(value, str) else json.dumps(value)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
