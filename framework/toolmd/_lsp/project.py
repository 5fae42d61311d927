"""The project of an editor's documents: its tools, its skills, and its diagnostics."""

import logging
from collections.abc import Mapping
from pathlib import Path

from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.identity import Identity
from toolmd._types.registry import BoundSkill, BoundTool
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import FileSpec, ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.reader import reader_of
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

    @property
    def definitions(self) -> list[Path]:
        """The markdown files below the root, in the folders of definitions."""
        if self._workspace is None or self.root is None:
            return []
        root = self.root.resolve()
        folders = [one for one in self._workspace.watched.folders if one.is_relative_to(root)]
        return list(dict.fromkeys(file for one in folders for file in sorted(one.rglob("*.md"))))

    def python_of(self, name: str) -> tuple[Path, str] | None:
        """Return the file and the function of a tool or a skill; None without own Python."""
        bound = self._bound(name)
        path, _, function = bound.target.rpartition(":") if bound is not None else ("", "", "")
        if self.root is None or not path.endswith(".py"):
            return None
        return (self.root / path).resolve(), function

    def _bound(self, name: str) -> BoundTool | BoundSkill | None:
        if self._workspace is None:
            return None
        return self._workspace.tools.get(name) or self._workspace.skills.get(name)

    def definition(self, name: str) -> FileSpec | None:
        """Find a tool or a skill by its name."""
        folded = name.replace("-", "_")
        return self.tools.get(folded) or self.skills.get(folded)

    def reload(self) -> None:
        """Reload the files."""
        if self._workspace is not None:
            self._workspace.reload()

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
        """Return the diagnostics of an unsaved text; a skill is checked against the tools.

        Args:
            kind: `tool` or `skill`.
            text: The text.
            path: The path of its file.
        """
        data = text.encode("utf-8", "surrogatepass")
        reader = reader_of(self._workspace and Identity.of(self._workspace.settings))
        spec, found = reader.parse(kind, data, path)
        if isinstance(spec, SkillSpec) and not any(d.severity is Severity.ERROR for d in found):
            bound = self._workspace.skills.get(spec.name) if self._workspace is not None else None
            implemented = bound is not None and bound.binding.kind != "none"
            skills = {name: one for name, one in self.skills.items() if name != spec.name}
            found = (*found, *reader.check_skill(spec, self.tools, skills, implemented=implemented))
        return tuple(dict.fromkeys(found))

    def file_of(self, spec: FileSpec) -> Path | None:
        """Return the file of a definition."""
        return None if self.root is None else self.root / spec.source.path
