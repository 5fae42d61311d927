"""A project on disk, written file by file, and what the binder makes of it."""

from pathlib import Path
from typing import Any

from tests.definitions import Folder, tool

from toolmd._load.build import Snapshot, build
from toolmd._load.cache import Cache
from toolmd._types.diagnostic import Diagnostic
from toolmd._workspace.reader import FileReader, reader_of
from toolmd.config import load_settings


def parameter(name: str, type_: str = "string", *, required: bool = True, extra: str = "") -> str:
    return (
        f"### {name}\n\n- **Type**: {type_}\n- **Required**: {str(required).lower()}\n"
        f"- **Description**: The {name}\n{extra}\n"
    )


def load(snapshot: Snapshot, name: str) -> Any:
    """Return the loaded Python of a tool."""
    binding = snapshot.registry.tools[name].binding
    assert binding.load is not None
    return binding.load()


class Project(Folder):
    """A folder with definitions, and the ways to read it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.reader: FileReader = reader_of(None)

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
