"""List tools, skills and broken files, each with its state and its findings."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._http.console.findings import FileFindings, FileLines, by_file
from toolmd._http.console.policy import chips
from toolmd._types.diagnostic import Severity
from toolmd._types.pending_change import PendingChange
from toolmd._types.registry import Bound, BoundTool
from toolmd._types.settings import Settings
from toolmd._types.tool import ToolSpec
from toolmd._workspace import Workspace
from toolmd._workspace.names import can_run

Status = Literal["live", "stale", "pending", "broken", "idle"]
STATUS_WORDS: Mapping[Status, str] = {
    "live": "live",
    "stale": "last good version",
    "pending": "stricter version live",
    "broken": "not loaded",
    "idle": "no implementation",
}


class CatalogueLine(NamedTuple):
    """A line of the catalogue."""

    name: str
    """The name of the tool or skill; for a file without one, its path."""
    kind: Literal["tool", "skill", "file"]
    title: str
    description: str
    category: str
    status: Status
    chips: tuple[tuple[str, str], ...] = ()
    files: tuple[FileFindings, ...] = ()
    """The findings in its markdown and its Python."""

    @property
    def status_words(self) -> str:
        """The state in words."""
        return STATUS_WORDS[self.status]

    def count(self, severity: str) -> int:
        """Count the findings of one severity."""
        return sum(file.count(severity) for file in self.files)


class Catalogue(NamedTuple):
    """The whole catalogue at one moment."""

    groups: Mapping[str, tuple[CatalogueLine, ...]]
    """By category, broken files first."""
    pending_changes: tuple[PendingChange, ...]
    files: Mapping[str, FileFindings]
    tools: int
    skills: int

    def count(self, severity: str) -> int:
        """Count the findings of one severity."""
        return sum(file.count(severity) for file in self.files.values())


def catalogue(workspace: Workspace) -> Catalogue:
    """Read the workspace; the first read of a snapshot imports all Python, so it may take long."""
    registry, settings = workspace.registry, workspace.settings
    files = by_file(workspace.diagnostics, FileLines(settings.root))
    changing = {edit.name for edit in registry.pending_changes}
    everything: tuple[Bound[Any], ...] = (*registry.tools.values(), *registry.skills.values())
    entries = [entry_of(one, settings, files, changing=one.name in changing) for one in everything]
    spoken = {file.path for entry in entries for file in entry.files}
    groups: dict[str, list[CatalogueLine]] = {}
    for broken in _broken(files, spoken):
        groups.setdefault("Not loaded", []).append(broken)
    for entry in sorted(entries, key=lambda e: (e.kind == "skill", e.category, e.name)):
        group = "Skills" if entry.kind == "skill" else entry.category
        groups.setdefault(group, []).append(entry)
    return Catalogue(
        {group: tuple(listed) for group, listed in groups.items()},
        registry.pending_changes,
        files,
        len(registry.tools),
        len(registry.skills),
    )


def entry_of(
    bound: Bound[Any], settings: Settings, files: Mapping[str, FileFindings], *, changing: bool
) -> CatalogueLine:
    """Return the line of one tool or skill."""
    spec = bound.spec
    is_tool = isinstance(spec, ToolSpec)
    paths = dict.fromkeys((spec.source.path, bound.binding.target.rpartition(":")[0]))
    runs = bound.binding.kind != "none" if is_tool else can_run(bound)
    return CatalogueLine(
        bound.name,
        "tool" if is_tool else "skill",
        spec.title,
        spec.description,
        spec.category,
        "stale" if bound.stale else "pending" if changing else "live" if runs else "idle",
        chips(bound, settings) if is_tool else _steps(bound),
        tuple(files[path] for path in paths if path in files),
    )


def find_tool(workspace: Workspace, name: str) -> BoundTool | None:
    """Return a tool by its name, in kebab-case or snake_case."""
    return workspace.tools.get(name) or workspace.tools.get(name.replace("-", "_"))


def _steps(bound: Bound[Any]) -> tuple[tuple[str, str], ...]:
    if bound.binding.kind != "none":
        return (("python", "plain"),)
    number = sum(len(section.steps) for section in bound.spec.workflow_sections)
    counted = "1 step" if number == 1 else f"{number} steps"
    words = [(counted, "plain")] if bound.spec.executable else []
    return (*words, ("durable", "calm")) if bound.spec.durable and words else tuple(words)


def _broken(files: Mapping[str, FileFindings], spoken: Iterable[str]) -> list[CatalogueLine]:
    """Return the files with errors that belong to no tool or skill."""
    return [
        CatalogueLine(
            file.path, "file", file.path.rpartition("/")[2], "", "", "broken", (), (file,)
        )
        for file in files.values()
        if file.worst == Severity.ERROR and file.path not in set(spoken)
    ]
