"""Format specs as canonical markdown."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields as fields_of
from typing import Any

from toolmd._parse.fields.table import (
    APPROVAL,
    LIMITS,
    SAFETY,
    SKILL,
    TABLES,
)
from toolmd._parse.page import Mark
from toolmd._parse.steps.workflow import read_title
from toolmd._parse.writing.fields import (
    begins_block,
    behind,
    code,
    fields_text,
    indent_lines,
    parameters_text,
    shape_lines,
)
from toolmd._types.approval import Approval, lasting
from toolmd._types.call_spec import Given, Limits, Safety, seconds
from toolmd._types.skill import (
    STEP_KEYS,
    Argument,
    Expression,
    OnError,
    SkillSpec,
    Step,
    Value,
    Values,
    value_text,
    way_json,
)
from toolmd._types.tool import Example, ToolSpec

_LINE = 88
_KNOWN = (
    "Metadata",
    "When to use",
    "Parameters",
    "Returns",
    "Rules",
    "Safety",
    "Approval",
    "Limits",
    "Errors",
    "Examples",
)


def tool_text(spec: ToolSpec) -> str:
    """Return the canonical text; it parses to the same spec."""
    blocks = [*head(spec)]
    blocks += section("Parameters", spec, *parameters_text(spec.parameters))
    if not spec.parameters:
        blocks.append("None")
    blocks += section("Returns", spec, "\n".join(shape_lines(spec.returns)))
    rules = [line for one in spec.given for line in _given(one)]
    rules += [f"- {code(rule.expression)}: {rule.message}" for rule in spec.rules]
    blocks += optional_section("Rules", spec, "\n".join(rules))
    blocks += optional_section("Safety", spec, "\n".join(_lines(spec.safety, SAFETY)))
    blocks += optional_section("Approval", spec, *map(_approval, spec.approvals))
    blocks += optional_section("Limits", spec, "\n".join(_lines(spec.limits, LIMITS)))
    errors = [f"- {code(one.exception)}: {one.code}: {one.message}" for one in spec.errors]
    blocks += optional_section("Errors", spec, "\n".join(errors))
    blocks += optional_section("Examples", spec, *map(_example, spec.examples))
    blocks += others(spec, _KNOWN)
    return "\n\n".join(blocks) + "\n"


def head(spec: ToolSpec | SkillSpec) -> Iterator[str]:
    """Yield what both kinds begin with: all from the title to When to use."""
    foreign = {k: v for k, v in spec.extra.items() if not isinstance(v, str)}
    if foreign:
        lines = [
            f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in foreign.items()
        ]
        yield "\n".join(["---", *lines, "---"])
    yield f"# {spec.title}"
    yield spec.description
    if spec.notes:
        yield spec.notes
    yield from section("Metadata", spec, "\n".join([*_metadata(spec), *_extra_lines(spec)]))
    if spec.when_to_use:
        yield from ("## When to use", spec.when_to_use)


def _metadata(spec: ToolSpec | SkillSpec) -> Iterator[str]:
    """Yield the fields of Metadata; one with its default is left out."""
    fields = type(spec).model_fields.items()
    values = {name: getattr(spec, name) for name, _ in fields}
    values |= {name: None for name, field in fields if values[name] == field.default}
    return fields_text(values, TABLES[spec.kind][0])


def _extra_lines(spec: ToolSpec | SkillSpec) -> Iterator[str]:
    """Yield the metadata with unknown names."""
    for key, value in spec.extra.items():
        if isinstance(value, str):
            yield f"- **{key.replace('_', ' ').title()}**:{behind(value)}"


def section(title: str, spec: ToolSpec | SkillSpec, *blocks: str) -> list[str]:
    """Return a section's heading, its prose and its blocks."""
    return [b for b in (f"## {title}", spec.sections.get(title, ""), *blocks) if b]


def optional_section(title: str, spec: ToolSpec | SkillSpec, *blocks: str) -> list[str]:
    """Return a section, or an empty list if it has no content."""
    found = section(title, spec, *blocks)
    return found if len(found) > 1 else []


def others(spec: ToolSpec | SkillSpec, known: tuple[str, ...]) -> Iterator[str]:
    """Yield the sections of prose."""
    for title, prose in spec.sections.items():
        if title not in known:
            yield f"## {title}".rstrip()
            if prose:
                yield prose


def _given(one: Given) -> Iterator[str]:
    yield f"- **Given**: {one.name} from {one.tool}"
    yield from (f"  - {name}: {code(cel)}" for name, cel in one.arguments.items())


def _approval(one: Approval) -> str:
    lines = "\n".join(_lines(one, APPROVAL))
    return f"### {one.title}\n\n{lines}" if one.title else lines


def _lines(part: Safety | Limits | Approval, table: Any) -> list[str]:
    values = {field.name: getattr(part, field.name) for field in fields_of(part)}
    return [*fields_text(values, table)]


def _example(example: Example) -> str:
    blocks = [f"### {example.title}", _json(example.arguments)]
    if example.has_result:
        blocks.append(_json(example.result))
    if example.error is not None:
        blocks.append(f"- **Error**: {example.error}")
    return "\n\n".join(blocks)


def _json(value: Any) -> str:
    return f"```json\n{_pretty(value, 0)}\n```"


def _pretty(value: Any, by: int) -> str:
    """Format JSON with each field on its own line, unless all of it fits on one."""
    short = json.dumps(value, ensure_ascii=False)
    if by + len(short) <= _LINE or not isinstance(value, (dict, list)):
        return short
    inner = " " * (by + 2)
    if isinstance(value, dict):
        lines = [
            f"{inner}{json.dumps(k, ensure_ascii=False)}: {_pretty(v, by + 2)}"
            for k, v in value.items()
        ]
    else:
        lines = [f"{inner}{_pretty(v, by + 2)}" for v in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(lines) + f"\n{' ' * by}{closing}"


_OF_A_SKILL = tuple(table.name for table in SKILL)
_OUTPUT_TYPES = {"success": "boolean", "message": "string", "data": "object", "error": "string"}


def skill_text(spec: SkillSpec) -> str:
    """Return the canonical text; it parses to the same spec."""
    blocks = [*head(spec)]
    blocks += [b for b in ("## Workflow", spec.workflow) if b]
    for part in spec.workflow_sections:
        blocks += [f"### {part.name}"] if part.name else []
        blocks.append(_steps(part.steps))
    blocks += section("Input Schema", spec, *parameters_text(spec.parameters))
    if not spec.parameters:
        blocks.append("None")
    blocks += section("Output Schema", spec, "\n".join(_output(spec)))
    blocks += others(spec, _OF_A_SKILL)
    return "\n\n".join(blocks) + "\n"


def _output(spec: SkillSpec) -> Iterator[str]:
    yield "- **Type**: object (SkillResult)"
    for name, kind in _OUTPUT_TYPES.items():
        first, _, rest = getattr(spec.output, name).partition("\n\n")
        yield f"- **{name.title()}**: {kind}" + (f" - {first}" if first else "")
        if rest:
            yield "\n" + indent_lines(rest, 2) + "\n"


def _steps(steps: tuple[Step, ...]) -> str:
    texts = []
    for number, step in enumerate(steps, 1):
        sign = f"{number}. "
        texts.append(sign + indent_lines("\n".join(_step(step)), len(sign))[len(sign) :])
    loose = any(step.acts for step in steps)
    return ("\n\n" if loose else "\n").join(texts)


def _step(step: Step) -> Iterator[str]:
    first, _, rest = step.text.partition("\n\n")
    if begins_block(first):
        first, rest = "", step.text
    own = _own_action(step)
    bare = step.title + (f". {first}" if first else "")
    is_bare = not begins_block(bare) and read_title(Mark(bare, 1, 1)) == (step.title, first)
    if own is not None:
        yield own
    elif is_bare and (not step.acts or "**" in step.title):
        yield bare
    else:
        joint = "" if first[:1] in ",;" else " " if first[:1].islower() else ". "
        joint = joint if first else "."
        yield f"**{step.title}**{joint}{first}"
    if rest or (own is not None and first):
        yield ""
        yield rest if own is None else step.text
        yield ""
    for key, lines in _keys(step):
        if own is not None and key == step.title:
            yield from lines[1:]
        else:
            yield f"- **{key}**:{lines[0]}"
            yield from (f"  {line}" for line in lines[1:])


def _own_action(step: Step) -> str | None:
    """Return the first line of a step that is itself its action: `**Return**:`."""
    for key, lines in _keys(step):
        if key == step.title and STEP_KEYS[key].acts:
            return f"**{key}**:{lines[0]}"
    return None


def _keys(step: Step) -> Iterator[tuple[str, list[str]]]:
    """Yield each key with the text after its colon and the lines below it."""
    for key in step.keys:
        first, *below = WRITERS[key.kind](key.value(step))
        if key.name == "Return" and step.message:
            first = value_text(step.message)
        yield key.name, [f" {first}" if first else "", *below]


def _arguments(arguments: tuple[Argument, ...]) -> list[str]:
    return [line for a in arguments for line in _value_lines(f"- {a.name}:", a.value)]


def _value_lines(lead: str, value: Value) -> list[str]:
    if not isinstance(value, Values):
        return [f"{lead} {value_text(value)}".rstrip()]
    below = _arguments(value.fields) + [f"- {value_text(item)}" for item in value.items]
    return [lead, *(f"  {line}" for line in below)]


def _failure(value: OnError) -> list[str]:
    retry = f"retry {value.retries} times, then " if value.retries else ""
    return [retry + way_json(value.then)]


WRITERS: Mapping[str, Callable[[Any], list[str]]] = {
    "callee": lambda use: [use.name],
    "arguments": lambda arguments: ["", *_arguments(arguments)],
    "count": lambda number: [str(number)],
    "condition": lambda value: [code(value.cel)],
    "expression": lambda value: [code(value.cel)],
    "question": lambda value: [value_text(value)],
    "data": lambda arguments: ["", *_arguments(arguments)],
    "text": lambda value: [value_text(value)],
    "name": lambda value: [value],
    "loop": lambda loop: [f"{loop.name} in {code(loop.over.cel)}"],
    "way": lambda way: [way_json(way)],
    "choice": lambda way: [way_json(way)],
    "failure": _failure,
    "call": lambda use: [use.name, *_arguments(use.arguments)],
    "duration": lambda value: [seconds(value)],
    "approvers": lambda by: [code(by.cel) if isinstance(by, Expression) else ", ".join(by)],
    "term": lambda value: [lasting(value)],
    "escalations": lambda found: (
        [str(found[0])] if len(found) == 1 else ["", *(f"- {one}" for one in found)]
    ),
    "moment": lambda at: [seconds(at) if isinstance(at, float) else code(at.cel)],
}
"""The kinds of values, each with the text after the colon and the lines below."""
