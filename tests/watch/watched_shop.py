"""A project on disk whose files are edited while it is open."""

from pathlib import Path
from typing import Any

from tests.definitions import Folder, tool

from toolmd import Workspace

GUARDED = """
## Safety

- **Min Confidence**: 0.7
- **Requires Confirmation**: true

## Limits

- **Max Calls**: 3
"""


def skill(name: str, uses: str, extra: str = "") -> str:
    return (
        f"# {name.title()}\n\nDoes {name}.\n\n## Metadata\n\n- **Name**: {name}\n"
        f"- **Version**: 1.0.0\n- **Category**: test\n- **Required Tools**: {uses}\n\n"
        f"## Workflow\n\n1. **Do** it.\n{extra}   - **Use**: {uses}\n\n## Input Schema\n\nNone\n\n"
        "## Output Schema\n\n- **Type**: object (SkillResult)\n"
    )


class Shop(Folder):
    """A project on disk, and the workspaces that are open on it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.opened: list[Workspace] = []
        (root / "toolmd.toml").write_text("plugins = []\n")

    def tool(self, name: str, extra: str = "", python: str | None = None) -> Path:
        """Write a tool and, where it is told, its Python."""
        if python is not None:
            self.write(f"tools_md/{name}.py", python)
        return self.write(f"tools_md/{name.replace('_', '-')}.tool.md", tool(name, extra=extra))

    def open(self, **overrides: Any) -> Workspace:
        self.opened.append(Workspace.open(self.root, overrides=overrides))
        return self.opened[-1]

    def close(self) -> None:
        for workspace in self.opened:
            workspace.close()


def codes(workspace: Workspace) -> set[str]:
    return {str(found.code) for found in workspace.registry.diagnostics}
