"""Format a SkillSpec as the canonical `.skill.md` text."""

from collections.abc import Iterator

from toolmd._parse.fields.table import SKILL, SKILL_METADATA
from toolmd._parse.writing.fields import code, fields_text, indented, parameters_text
from toolmd._parse.writing.tool_text import extra_lines, head, others, section
from toolmd._types.call_spec import seconds
from toolmd._types.skill import (
    Argument,
    SkillSpec,
    Step,
    Use,
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
    said["durable"] = None if spec.durable else False
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
        if key == step.title and key in ("Use", "Choose", "Ask", "Return", "Stop"):
            return f"**{key}**:{lines[0]}"
    return None


def _keys(step: Step) -> Iterator[tuple[str, list[str]]]:
    """Yield each key with the text after its colon and the lines below it."""
    if step.when:
        yield "When", [f" {code(step.when.cel)}"]
    if step.for_each:
        yield "For each", [f" {step.for_each.name} in {code(step.for_each.over.cel)}"]
        if step.for_each.at_once != 1:
            yield "At Once", [f" {step.for_each.at_once}"]
    if step.ask:
        yield "Ask", [f" {value_text(step.ask)}"]
    if step.if_no:
        yield "If no", [f" {way_json(step.if_no)}"]
    if step.use:
        yield "Use", [f" {step.use.name}"]
        if step.use.arguments:
            yield "With", ["", *_arguments(step.use.arguments)]
    if step.choose:
        yield "Choose", [f" {code(step.choose.cel)}"]
    if step.or_else:
        yield "Or else", [f" {way_json(step.or_else)}"]
    if step.returns is not None:
        message = f" {value_text(step.message)}" if step.message else ""
        yield "Return", [message, *_arguments(step.returns)]
    if step.stop:
        yield "Stop", [f" {value_text(step.stop)}"]
    yield from _after(step)


def _after(step: Step) -> Iterator[tuple[str, list[str]]]:
    if step.save_as:
        yield "Save as", [f" {step.save_as}"]
    if step.if_empty:
        yield "If empty", [f" {way_json(step.if_empty)}"]
    if step.check:
        yield "Check", [f" {code(step.check.cel)}"]
    if step.on_error:
        retry = f"retry {step.on_error.retries} times, then " if step.on_error.retries else ""
        yield "On error", [f" {retry}{way_json(step.on_error.then)}"]
    if step.undo:
        yield "Undo", [f" {step.undo.name}", *_call(step.undo)]
    if step.timeout_s:
        yield "Timeout", [f" {seconds(step.timeout_s)}"]


def _call(call: Use) -> list[str]:
    return _arguments(call.arguments)


def _arguments(arguments: tuple[Argument, ...]) -> list[str]:
    return [line for a in arguments for line in _value_lines(f"- {a.name}:", a.value)]


def _value_lines(lead: str, value: Value) -> list[str]:
    if not isinstance(value, Values):
        return [f"{lead} {value_text(value)}".rstrip()]
    below = _arguments(value.fields) + [f"- {value_text(item)}" for item in value.items]
    return [lead, *(f"  {line}" for line in below)]
