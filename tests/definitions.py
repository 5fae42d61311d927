"""Write the definitions of a project: the text of a tool, and files in a folder."""

import json
from pathlib import Path
from typing import Any

from toolmd._types.call_spec import Limits, ToolCallSpec
from toolmd._types.diagnostic import Source
from toolmd._types.quota import EVER, Quota
from toolmd._types.schema import Schema


def records(file: Path) -> list[Any]:
    """Return the records, a line of JSON each, that stand whole in a file others write to."""
    text = file.read_text("utf-8") if file.exists() else ""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def tool(
    name: str,
    parameters: str = "None",
    extra: str = "",
    *,
    metadata: str = "",
    returns: str = "object",
) -> str:
    """Return the markdown of a tool with these parameters, further sections and metadata."""
    return (
        f"# {name.replace('_', ' ').title()}\n\nDoes {name}.\n\n## Metadata\n\n"
        f"- **Name**: {name}\n- **Version**: 1.0.0\n- **Category**: test\n{metadata}\n"
        f"## Parameters\n\n{parameters}\n\n## Returns\n\n- **Type**: {returns}\n"
        f"- **Description**: What came of it\n{extra}"
    )


def skill(name: str, tools: str, steps: str, inputs: str = "None") -> str:
    """Return the markdown of a skill that requires these tools."""
    return (
        f"# {name.replace('_', ' ').title()}\n\nDoes {name}.\n\n## Metadata\n\n"
        f"- **Name**: {name}\n- **Version**: 1.0.0\n- **Category**: test\n"
        f"- **Required Tools**: {tools}\n\n## Workflow\n\n{steps}\n\n"
        f"## Input Schema\n\n{inputs}\n\n## Output Schema\n\n- **Type**: object (SkillResult)\n"
    )


class Folder:
    """A project's folder, in which files are written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "tools_md").mkdir()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file


def few(most: int) -> tuple[Quota, ...]:
    """Return the quota of so many calls in each conversation."""
    return (Quota(most, ("conversation",), EVER),)


def limited(limits: Limits) -> ToolCallSpec:
    """Return a tool `act` with these limits."""
    return ToolCallSpec(
        name="act", source=Source("act.tool.md", 1), returns=Schema(), limits=limits
    )
