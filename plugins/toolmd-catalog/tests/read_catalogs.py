"""Read a catalogue from text: its drafts as specs."""

from typing import Any

from toolmd import ToolSpec, parse_tool
from toolmd.importing import Imported
from toolmd_catalog.reader import read as read_catalog


def read(text: str) -> Imported:
    return read_catalog(text, "tools.md")


def tools(text: str) -> dict[str, ToolSpec]:
    made = {}
    for draft in read(text).drafts:
        spec, found = parse_tool(draft.text, f"{draft.name.replace('_', '-')}.tool.md")
        assert spec is not None, found
        made[spec.name] = spec
    return made


def arguments(spec: ToolSpec) -> dict[str, tuple[bool, dict[str, Any]]]:
    return {p.name: (p.required, p.shape.json_schema) for p in spec.parameters}
