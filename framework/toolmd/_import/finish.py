"""A spec to a draft: written in canonical form, read again, and kept only without an error."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from toolmd._import.imported import Draft, Notebook
from toolmd._import.text import one_line
from toolmd._model.diagnostic import Diagnostic, Severity
from toolmd._model.schema import Parameter, Schema
from toolmd._model.tool import ToolSpec
from toolmd._parse import format_text, parse_skill, parse_tool, tool_text


def add_tool(spec: ToolSpec, book: Notebook, line: int = 0) -> None:
    """Put a tool's draft into the book; what does not survive the writing is told."""
    if _taken(spec.name, "tool", book, line):
        return
    path = f"{spec.name.replace('_', '-')}.tool.md"
    text = tool_text(spec)
    read, found = parse_tool(text, path)
    if read is None or read.input_schema != spec.input_schema:
        # Some prose reads back as something else; on one line it can't.
        text = tool_text(_flat(spec))
        read, found = parse_tool(text, path)
    if read is None:
        _refuse(spec.name, found, book, line)
        return
    for name in _changed(spec, read):
        book.tell(spec.name, name, "could not be written exactly; compare it with the source", line)
    book.drafts.append(Draft("tool", spec.name, format_text(text, path) or text))


def add_skill(name: str, candidates: Iterable[str], book: Notebook) -> bool:
    """Put the first text that reads as a skill without an error into the book, made canonical."""
    if _taken(name, "skill", book, 0):
        return False
    path = f"{name.replace('_', '-')}.skill.md"
    found: tuple[Diagnostic, ...] = ()
    for text in candidates:
        read, found = parse_skill(text, path)
        if read is not None:
            book.drafts.append(Draft("skill", name, format_text(text, path) or text))
            return True
    _refuse(name, found, book, 0)
    return False


def _taken(name: str, kind: str, book: Notebook, line: int) -> bool:
    taken = any(draft.name == name and draft.kind == kind for draft in book.drafts)
    if taken:
        book.refuse(name, f"a second {kind} of this name; the first one was taken", line)
    return taken


def _refuse(name: str, found: tuple[Diagnostic, ...], book: Notebook, line: int) -> None:
    errors = [d.message for d in found if d.severity is Severity.ERROR]
    book.refuse(name, f"no definition can hold it: {'; '.join(errors[:3])}", line)


def _changed(spec: ToolSpec, read: ToolSpec) -> list[str]:
    kept = {p.name: p for p in read.parameters}
    return [
        p.name
        for p in spec.parameters
        if p.name not in kept
        or p.required != kept[p.name].required
        or _said(p.shape) != _said(kept[p.name].shape)
    ]


def _said(shape: Schema) -> Any:
    schema = dict(shape.json_schema)
    schema["description"] = one_line(shape.description)
    return schema


def _flat(spec: ToolSpec) -> ToolSpec:
    """Give the tool with each parameter's description on one line."""
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
    return replace(shape, **update)
