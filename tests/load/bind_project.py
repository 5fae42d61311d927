"""A project on disk, written file by file, and what the binder makes of it."""

from pathlib import Path

from toolmd._load.build import Snapshot, build
from toolmd._load.definitions.cache import Cache
from toolmd._types.diagnostic import Diagnostic
from toolmd._workspace.snapshot.reader import READER, FileReader
from toolmd.config import load_settings


def tool(name: str, parameters: str = "None", extra: str = "") -> str:
    """Give the markdown of a tool whose parameters are `### name` blocks, or none."""
    return (
        f"# {name.replace('_', ' ').title()}\n\nDoes {name}.\n\n## Metadata\n\n"
        f"- **Name**: {name}\n- **Version**: 1.0.0\n- **Category**: test\n\n"
        f"## Parameters\n\n{parameters}\n\n## Returns\n\n- **Type**: object\n"
        f"- **Description**: What came of it\n{extra}"
    )


def parameter(name: str, type_: str = "string", *, required: bool = True, extra: str = "") -> str:
    return (
        f"### {name}\n\n- **Type**: {type_}\n- **Required**: {str(required).lower()}\n"
        f"- **Description**: The {name}\n{extra}\n"
    )


class Project:
    """A folder with definitions, and the ways to read it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.reader: FileReader = READER
        (root / "tools_md").mkdir()

    def write(self, path: str, content: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def tool(self, name: str, parameters: str = "None", python: str | None = None) -> None:
        self.write(f"tools_md/{name.replace('_', '-')}.tool.md", tool(name, parameters))
        if python is not None:
            self.write(f"tools_md/{name}.py", python)

    def build(self, *, cached: bool = False, given: dict[str, object] | None = None) -> Snapshot:
        settings = load_settings(self.root, environ={"TOOLMD_LOAD_PLUGINS": ""})
        cache = Cache.load(settings.state, self.reader.fingerprint) if cached else None
        return build(settings, self.reader, cache=cache, given=given)

    def inspect(self, name: str, given: dict[str, object] | None = None) -> list[Diagnostic]:
        """Give what there is to say of one tool and its Python."""
        look = self.build(given=given).registry.tools[name].binding.inspect
        assert look is not None
        return list(look())
