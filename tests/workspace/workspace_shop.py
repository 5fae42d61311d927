"""Definitions to open workspaces of."""

from pathlib import Path
from typing import Any

from tests.definitions import Folder, tool

from toolmd import Workspace


def word(name: str, *, required: bool = True) -> str:
    return (
        f"### {name}\n\n- **Type**: string\n- **Required**: {str(required).lower()}\n"
        f"- **Description**: The {name}\n\n"
    )


def skill(name: str, tools: str, steps: str, inputs: str = "None") -> str:
    return (
        f"# {name.replace('_', ' ').title()}\n\nDoes {name}.\n\n## Metadata\n\n"
        f"- **Name**: {name}\n- **Version**: 1.0.0\n- **Category**: test\n"
        f"- **Required Tools**: {tools}\n\n## Workflow\n\n{steps}\n\n"
        f"## Input Schema\n\n{inputs}\n\n## Output Schema\n\n- **Type**: object (SkillResult)\n"
    )


class Shop(Folder):
    """A project on disk that is written while it runs."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.opened: list[Workspace] = []

    def tool(self, name: str, python: str, parameters: str = "None", extra: str = "") -> None:
        self.write(f"tools_md/{name.replace('_', '-')}.tool.md", tool(name, parameters, extra))
        self.write(f"tools_md/{name}.py", python)

    def open(self, *, overrides: dict[str, Any] | None = None) -> Workspace:
        """Open it without the plugins that happen to be installed."""
        chosen = {"plugins": [], **(overrides or {})}
        self.opened.append(Workspace.open(self.root, overrides=chosen))
        return self.opened[-1]
