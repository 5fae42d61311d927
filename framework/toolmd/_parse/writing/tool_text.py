"""Format a ToolSpec as the canonical `.tool.md` text."""

import json
from collections.abc import Iterator
from dataclasses import fields as fields_of
from typing import Any

from toolmd._parse.fields.policy import LIMITS, SAFETY
from toolmd._parse.fields.table import TOOL_METADATA
from toolmd._parse.writing.fields import behind, code, fields_text, parameters_text, shape_lines
from toolmd._types.call_spec import Limits, Safety
from toolmd._types.prompt import PromptSpec
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import Example, ToolSpec

_LINE = 88
_KNOWN = (
    "Metadata",
    "When to use",
    "Parameters",
    "Returns",
    "Rules",
    "Safety",
    "Limits",
    "Examples",
)


def tool_text(spec: ToolSpec) -> str:
    """Return the canonical text; it parses to the same spec."""
    blocks = [*head(spec)]
    blocks += section("Metadata", spec, "\n".join([*metadata(spec), *extra_lines(spec)]))
    if spec.when_to_use:
        blocks += ["## When to use", spec.when_to_use]
    blocks += section("Parameters", spec, *parameters_text(spec.parameters))
    if not spec.parameters:
        blocks.append("None")
    blocks += section("Returns", spec, "\n".join(shape_lines(spec.returns)))
    rules = "\n".join(f"- {code(rule.expression)}: {rule.message}" for rule in spec.rules)
    blocks += optional_section("Rules", spec, rules)
    for title, part, table in (("Safety", spec.safety, SAFETY), ("Limits", spec.limits, LIMITS)):
        blocks += optional_section(title, spec, "\n".join(_lines(part, table)))
    blocks += optional_section("Examples", spec, *map(_example, spec.examples))
    blocks += others(spec, _KNOWN)
    return "\n\n".join(blocks) + "\n"


def head(spec: ToolSpec | SkillSpec | PromptSpec) -> Iterator[str]:
    """Yield the front matter if needed, the title, the description and the notes."""
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


def metadata(spec: ToolSpec) -> Iterator[str]:
    """Yield the fields of Metadata; a switch that is off is left out."""
    said = dict(spec)
    for off in ("requires_auth", "read_only"):
        said[off] = said[off] or None
    if spec.idempotent == "no":
        said["idempotent"] = None
    if spec.unknown_parameters == "reject":
        said["unknown_parameters"] = None
    return fields_text(said, TOOL_METADATA)


def extra_lines(spec: ToolSpec | SkillSpec | PromptSpec) -> Iterator[str]:
    """Yield the metadata with unknown names."""
    for key, value in spec.extra.items():
        if isinstance(value, str):
            yield f"- **{key.replace('_', ' ').title()}**:{behind(value)}"


def section(title: str, spec: ToolSpec | SkillSpec | PromptSpec, *blocks: str) -> list[str]:
    """Return a section's heading, its prose and its blocks."""
    return [b for b in (f"## {title}", spec.sections.get(title, ""), *blocks) if b]


def optional_section(
    title: str, spec: ToolSpec | SkillSpec | PromptSpec, *blocks: str
) -> list[str]:
    """Return a section, or an empty list if it has no content."""
    found = section(title, spec, *blocks)
    return found if len(found) > 1 else []


def others(spec: ToolSpec | SkillSpec | PromptSpec, known: tuple[str, ...]) -> Iterator[str]:
    """Yield the sections of prose."""
    for title, prose in spec.sections.items():
        if title not in known:
            yield f"## {title}".rstrip()
            if prose:
                yield prose


def _lines(part: Safety | Limits, table: Any) -> list[str]:
    said = {field.name: getattr(part, field.name) for field in fields_of(part)}
    return [*fields_text(said, table)]


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
