"""Definitions to open workspaces of."""

from pathlib import Path
from typing import Any

from tests.definitions import Folder, skill, tool

from toolmd import Workspace


def word(name: str, *, required: bool = True) -> str:
    return (
        f"### {name}\n\n- **Type**: string\n- **Required**: {str(required).lower()}\n"
        f"- **Description**: The {name}\n\n"
    )


__all__ = ["Shop", "skill", "word"]


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
