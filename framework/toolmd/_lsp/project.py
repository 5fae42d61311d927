"""The project of an editor's documents: its tools, its skills, and its diagnostics."""

import logging
from collections.abc import Mapping
from pathlib import Path

from toolmd._types.definition import FileSpec
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.snapshot.reader import READER
from toolmd.config import find_project
from toolmd.errors import ToolmdError

_log = logging.getLogger(__name__)


class EditorProject:
    """The saved files of one project; without a project (`root` is None), nothing."""

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._workspace: Workspace | None = None
        if root is None:
            return
        try:
            self._workspace = Workspace.open(root)
        except ToolmdError as error:
            _log.warning("%s can't be opened: %s", root, error)

    @staticmethod
    def root_of(file: Path) -> Path | None:
        """Return the folder of the project that a file belongs to."""
        return find_project(file.parent)

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools, by name."""
        bound = self._workspace.tools if self._workspace is not None else {}
        return {name: tool.spec for name, tool in bound.items()}

    @property
    def skills(self) -> Mapping[str, SkillSpec]:
        """The skills, by name."""
        bound = self._workspace.skills if self._workspace is not None else {}
        return {name: skill.spec for name, skill in bound.items()}

    def definition(self, name: str) -> FileSpec | None:
        """Find a tool or a skill by its name."""
        folded = name.replace("-", "_")
        return self.tools.get(folded) or self.skills.get(folded)

    def reload(self) -> None:
        """Reload the files."""
        if self._workspace is not None:
            self._workspace.reload(wait=False)

    def close(self) -> None:
        """Close the project."""
        if self._workspace is not None:
            self._workspace.close()

    def saved(self) -> dict[Path, tuple[Diagnostic, ...]]:
        """Return the diagnostics of the saved files and their Python, by file."""
        found: dict[Path, list[Diagnostic]] = {}
        if self._workspace is not None and self.root is not None:
            for diagnostic in self._workspace.diagnostics:
                file = (self.root / diagnostic.span.path).resolve()
                found.setdefault(file, []).append(diagnostic)
        return {file: tuple(diagnostics) for file, diagnostics in found.items()}

    def typed(self, kind: str, text: str, path: str) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of an unsaved text; a skill is checked against the tools."""
        data = text.encode("utf-8", "surrogatepass")
        if kind == "tool":
            return READER.parse("tool", data, path)[1]
        spec, found = READER.parse("skill", data, path)
        if isinstance(spec, SkillSpec) and not any(d.severity is Severity.ERROR for d in found):
            others = {name: skill for name, skill in self.skills.items() if name != spec.name}
            bound = self._workspace.skills.get(spec.name) if self._workspace is not None else None
            implemented = bound is not None and bound.binding.kind != "none"
            found = (
                *found,
                *READER.check_skill(spec, self.tools, others, implemented=implemented),
            )
        return found

    def file_of(self, spec: FileSpec) -> Path | None:
        """Return the file of a definition."""
        return None if self.root is None else self.root / spec.source.path
