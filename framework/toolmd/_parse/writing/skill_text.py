"""Format a SkillSpec as the canonical `.skill.md` text."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolmd._parse.fields.table import SKILL, SKILL_METADATA
from toolmd._parse.writing.fields import code, fields_text, indented, parameters_text
from toolmd._parse.writing.tool_text import extra_lines, head, others, section
from toolmd._types.call_spec import seconds
from toolmd._types.skill import (
    STEP_KEYS,
    Argument,
    OnError,
    SkillSpec,
    Step,
    Value,
    Values,
    value_text,
    way_json,
)

_KNOWN = tuple(table.name for table in SKILL)
_OUTPUT_TYPES = {"success": "boolean", "message": "string", "data": "object", "error": "string"}


def skill_text(spec: SkillSpec) -> str:
    """Return the canonical text; it parses to the same spec."""
    said = dict(spec)
    for flag in ("durable", "model_invocation", "user_invocable"):
        said[flag] = None if said[flag] else False
    metadata = [*fields_text(said, SKILL_METADATA), *extra_lines(spec)]
    blocks = [*head(spec), *section("Metadata", spec, "\n".join(metadata))]
    if spec.when_to_use:
        blocks += ["## When to use", spec.when_to_use]
    blocks += [b for b in ("## Workflow", spec.workflow) if b]
    for part in spec.workflow_sections:
        blocks += [f"### {part.name}"] if part.name else []
        blocks.append(_steps(part.steps))
    blocks += section("Input Schema", spec, *parameters_text(spec.parameters))
    if not spec.parameters:
        blocks.append("None")
    blocks += section("Output Schema", spec, "\n".join(_output(spec)))
    blocks += others(spec, _KNOWN)
    return "\n\n".join(blocks) + "\n"


def _output(spec: SkillSpec) -> Iterator[str]:
    yield "- **Type**: object (SkillResult)"
    for name, kind in _OUTPUT_TYPES.items():
        first, _, rest = getattr(spec.output, name).partition("\n\n")
        yield f"- **{name.title()}**: {kind}" + (f" - {first}" if first else "")
        if rest:
            yield "\n" + indented(rest, 2) + "\n"


def _steps(steps: tuple[Step, ...]) -> str:
    texts = []
    for number, step in enumerate(steps, 1):
        sign = f"{number}. "
        texts.append(sign + indented("\n".join(_step(step)), len(sign))[len(sign) :])
    loose = any(step.acts for step in steps)
    return ("\n\n" if loose else "\n").join(texts)


def _step(step: Step) -> Iterator[str]:
    first, _, rest = step.text.partition("\n\n")
    own = _own_action(step)
    if own is not None:
        yield own
    elif not step.acts and ". " not in step.title:
        yield step.title + (f". {first}" if first else "")
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


def _retry(value: OnError) -> str:
    return f"retry {value.retries} times, then " if value.retries else ""


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
    "failure": lambda value: [_retry(value) + way_json(value.then)],
    "call": lambda use: [use.name, *_arguments(use.arguments)],
    "duration": lambda value: [seconds(value)],
    "moment": lambda at: [seconds(at) if isinstance(at, float) else code(at.cel)],
}
"""The kinds of values, each with the text after the colon and the lines below."""
