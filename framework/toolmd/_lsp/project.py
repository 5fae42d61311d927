"""The project of an editor's documents: its tools, its skills, and its diagnostics."""

import logging
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from toolmd._call.checks import threshold
from toolmd._types.call_spec import DEFAULT_TIMEOUT_S, seconds
from toolmd._types.definition import FileSpec
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import BoundSkill, BoundTool
from toolmd._types.settings import SafetySettings
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.examples import Tried, try_examples
from toolmd._workspace.snapshot.reader import READER
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
    def files(self) -> dict[str, list[Path]]:
        """The files below the root, in the folders of definitions: `md` and `py`."""
        found: dict[str, list[Path]] = {"md": [], "py": []}
        if self._workspace is not None and self.root is not None:
            root = self.root.resolve()
            for folder in self._workspace.watched.folders:
                if folder.is_relative_to(root):
                    for suffix in found:
                        found[suffix] += sorted(folder.rglob(f"*.{suffix}"))
        return {suffix: list(dict.fromkeys(files)) for suffix, files in found.items()}

    def python_of(self, name: str) -> tuple[Path, str] | None:
        """Return the file and the function of a tool or a skill; None without own Python."""
        bound = self._bound(name)
        path, _, function = bound.target.rpartition(":") if bound is not None else ("", "", "")
        if self.root is None or not path.endswith(".py"):
            return None
        return (self.root / path).resolve(), function

    def limits_of(self, spec: ToolSpec) -> str:
        """Return the limits of a tool's calls that are in force, those of the project too."""
        bound, limits = self._bound(spec.name), spec.limits
        safety = self._workspace.settings.safety if self._workspace else SafetySettings()
        preset = bound.default_min if bound is not None else None
        confidence = threshold(spec, preset, safety)
        found = [f"timeout {seconds(limits.timeout_s or DEFAULT_TIMEOUT_S)}"]
        found += [f"{limits.retries} retries"] if limits.retries else []
        found += [f"rate {limits.rate}"] if limits.rate is not None else []
        found += [f"min confidence {confidence:g}"] if confidence is not None else []
        return ", ".join(found)

    def foreign(self, name: str) -> str:
        """Return the place of an implementation that is not the project's own Python."""
        bound = self._bound(name)
        return "" if bound is None or self.python_of(name) is not None else bound.target

    def implemented_at(self, file: Path, function: str) -> FileSpec | None:
        """Find the tool or the skill that a Python function implements."""
        for spec in (*self.tools.values(), *self.skills.values()):
            if self.python_of(spec.name) == (file.resolve(), function):
                return spec
        return None

    def _bound(self, name: str) -> BoundTool | BoundSkill | None:
        if self._workspace is None:
            return None
        return self._workspace.tools.get(name) or self._workspace.skills.get(name)

    def definition(self, name: str) -> FileSpec | None:
        """Find a tool or a skill by its name."""
        folded = name.replace("-", "_")
        return self.tools.get(folded) or self.skills.get(folded)

    @property
    def pending_changes(self) -> tuple[PendingChange, ...]:
        """The policy changes that wait for acceptance."""
        return () if self._workspace is None else self._workspace.changes.list_sync()

    def accept(self, name: str) -> None:
        """Accept a pending policy change; raises ToolmdError."""
        if self._workspace is not None:
            self._workspace.changes.accept_sync(name)

    def try_example(self, tool: str, title: str) -> Tried:
        """Run one example of a saved tool; raises ToolmdError."""
        return next(
            (one for one in try_examples(self.root, [tool], title) if one.example == title),
            Tried(tool, title, passed=False, how="unread", message="save the file first"),
        )

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

    def typed(
        self,
        kind: str,
        text: str,
        path: str,
        changed: Mapping[str, FileSpec] = MappingProxyType({}),
    ) -> tuple[Diagnostic, ...]:
        """Return the diagnostics of an unsaved text; a skill is checked against the tools.

        Args:
            kind: `tool`, `skill` or `prompt`.
            text: The text.
            path: The path of its file.
            changed: What would take the place of a saved tool or skill, by its saved name.
        """
        data = text.encode("utf-8", "surrogatepass")
        if kind == "prompt":
            return READER.parse_prompt(data, path)[1]
        spec, found = READER.parse(kind, data, path)
        if isinstance(spec, SkillSpec) and not any(d.severity is Severity.ERROR for d in found):
            name = next((old for old, new in changed.items() if new.name == spec.name), spec.name)
            bound = self._workspace.skills.get(name) if self._workspace is not None else None
            implemented = bound is not None and bound.binding.kind != "none"
            others = {**self.tools, **self.skills, **changed}
            others.pop(name, None)
            tools = {other.name: other for other in others.values() if isinstance(other, ToolSpec)}
            skills = {o.name: o for o in others.values() if isinstance(o, SkillSpec)}
            found = (*found, *READER.check_skill(spec, tools, skills, implemented=implemented))
        return tuple(dict.fromkeys(found))

    def file_of(self, spec: FileSpec) -> Path | None:
        """Return the file of a definition."""
        return None if self.root is None else self.root / spec.source.path
