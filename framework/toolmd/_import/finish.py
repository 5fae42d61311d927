"""Convert a spec to a draft: write it in canonical form, parse it, and keep it if valid."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from toolmd._import.differences import differences
from toolmd._import.escaping import one_line, plain_line, prose
from toolmd._import.names import title_of
from toolmd._parse import format_text, parse_skill, parse_tool, tool_text
from toolmd._parse.fields.table import section_of
from toolmd._types.call_spec import Rule
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.imported import Draft
from toolmd._types.schema import Parameter, Schema, object_schema
from toolmd._types.tool import ToolSpec


def finished_tool(
    spec: ToolSpec,
) -> tuple[Draft | None, list[tuple[str, str]], tuple[Diagnostic, ...]]:
    """Return a tool's draft, what changed in writing with its path, and the diagnostics.

    The draft is None where reading the text finds an error.
    """
    spec = _escaped(spec)
    path = f"{spec.name.replace('_', '-')}.tool.md"
    text = tool_text(spec)
    read, found = parse_tool(text, path)
    if read is None or read.input_schema != spec.input_schema:
        # Some prose parses as something else; on one line it can't.
        text = tool_text(_flat(spec))
        read, found = parse_tool(text, path)
    if read is None:
        return None, [], found
    draft = Draft("tool", spec.name, format_text(text, path) or text)
    return draft, _changed(spec, read), found


def finished_skill(
    name: str, candidates: Iterable[str]
) -> tuple[Draft | None, tuple[Diagnostic, ...]]:
    """Return the first text that reads as a skill without an error, made canonical."""
    path = f"{name.replace('_', '-')}.skill.md"
    found: tuple[Diagnostic, ...] = ()
    for text in candidates:
        read, found = parse_skill(text, path)
        if read is not None:
            return Draft("skill", name, format_text(text, path) or text), found
    return None, found


def known_title(kind: str, title: str) -> str:
    """Return a title for prose: one that the format reads as fields becomes `… notes`."""
    known = section_of(kind, title)
    return f"{title} notes" if known else title


def _escaped(spec: ToolSpec) -> ToolSpec:
    """Return the tool with prose that cannot be read as headings, bullets or restrictions."""
    title = plain_line(spec.title) or title_of(spec.name)
    update: dict[str, Any] = {
        "title": title,
        "description": plain_line(spec.description) or f"{title}.",
        "notes": prose(spec.notes),
        "when_to_use": prose(spec.when_to_use),
        "version": plain_line(spec.version),
        "category": plain_line(spec.category),
        "tags": tuple(map(plain_line, spec.tags)),
    }
    update["sections"] = {
        known_title("tool", plain_line(title)): prose(text) for title, text in spec.sections.items()
    }
    update["rules"] = tuple(
        Rule(one_line(rule.expression), one_line(rule.message)) for rule in spec.rules
    )
    update["examples"] = tuple(
        one.model_copy(update={"title": plain_line(one.title)}) for one in spec.examples
    )
    return spec.model_copy(update=update)


def _changed(spec: ToolSpec, read: ToolSpec) -> list[tuple[str, str]]:
    """Return the path and a description of what the text says otherwise than the source."""
    before = object_schema(_flat(spec).parameters)
    return [*differences(before, object_schema(_flat(read).parameters))]


def _flat(spec: ToolSpec) -> ToolSpec:
    """Return the tool with each parameter's description on one line."""
    return spec.model_copy(update={"parameters": tuple(map(_flat_parameter, spec.parameters))})


def _flat_parameter(parameter: Parameter) -> Parameter:
    return replace(parameter, shape=_flat_shape(parameter.shape))


def _flat_shape(shape: Schema) -> Schema:
    update: dict[str, Any] = {"description": one_line(shape.description)}
    if shape.items is not None:
        update["items"] = _flat_shape(shape.items)
    if shape.values is not None:
        update["values"] = _flat_shape(shape.values)
    if shape.properties is not None:
        update["properties"] = tuple(map(_flat_parameter, shape.properties))
    if shape.one_of is not None:
        update["one_of"] = tuple(map(_flat_parameter, shape.one_of))
    return replace(shape, **update)
