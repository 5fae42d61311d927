"""Collect diagnostics: of a project, of single files, or of stdin."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._cli.diagnostics import LinesOf
from toolmd._cli.files import STDIN, definitions_among, files_within, state_problem
from toolmd._cli.frame import open_workspace
from toolmd._cli.screen import plural
from toolmd._store import STORE_FILE
from toolmd._types.code import Code
from toolmd._types.diagnostic import SUFFIXES, Diagnostic, Severity, Span
from toolmd._types.settings import Settings
from toolmd.config import find_project, load_settings
from toolmd.errors import ToolmdError


class Findings(NamedTuple):
    """Diagnostics, and the files that they are about."""

    root: Path
    """The folder that the paths of the diagnostics are relative to."""
    diagnostics: tuple[Diagnostic, ...]
    looked_at: str
    """Such as `14 tools, 3 skills`."""
    lines: LinesOf | None = None
    """The source lines, if they are in no file."""
    notes: tuple[str, ...] = ()
    """Remarks that are not findings, but may surprise."""
    without_python: Mapping[str, Path] = {}
    """The tools that nothing implements yet, with their files relative to `root`."""


def find(paths: Sequence[str], folder: Path | None) -> Findings:
    """Check the whole project, or only these paths.

    A path within the project's folders of definitions is checked together with its project. Any
    other file is parsed alone, without its Python: importing it would run it.

    Raises:
        NotFoundError: A path does not exist.
        ConfigError: There is no project, and one is needed.
    """
    if list(paths) == [STDIN]:
        return _stdin()
    if not paths:
        return _project(folder)[0]
    here = folder or find_project(Path.cwd())
    settings = load_settings(here) if here else None
    inside = [path for path in paths if settings and _belongs(Path(path), settings)]
    alone = [path for path in paths if path not in inside]
    found = _alone(alone)
    if not inside:
        return found
    project, named = _project(here, [Path(path).resolve() for path in inside])
    kept = tuple(d for d in project.diagnostics if _about(project.root / d.span.path, named))
    looked_at = plural(len([*definitions_among(paths)]), "file")
    moved = tuple(_make_absolute(d) for d in found.diagnostics)
    notes = [f"{path} is not loaded: rename it to NAME.tool.md or NAME.skill.md"
             for path in inside if not kept and _is_stray(Path(path))]  # fmt: skip
    bare = {n: p for n, p in project.without_python.items() if _about(project.root / p, named)}
    return project._replace(
        diagnostics=(*kept, *moved), looked_at=looked_at, notes=tuple(notes), without_python=bare
    )


def _project(folder: Path | None, named: Sequence[Path] = ()) -> tuple[Findings, list[Path]]:
    """Check a project, or these files of it; return the files with their Python, too."""
    with open_workspace(folder) as workspace:
        at = workspace.python_at([str(path) for path in named])
        python = [Path(place).resolve() for place in at.values() if place]
        # Python that no definition names may be imported by any.
        alone = all(path.suffix != ".py" or path in python for path in named) and named
        tools = plural(len(workspace.tools), "tool")
        skills = plural(len(workspace.skills), "skill")
        root = workspace.settings.root
        found = workspace.diagnostics_of(tuple(at) if alone else None)
        # A read-only state folder, as in CI, is not a problem of the definitions.
        state = [d for d in found if d.code is Code.UNREADABLE_STATE and d.span.path == "settings"]
        if state and state_problem(workspace.settings.state) is None:
            state = []
        kept = tuple(d for d in found if d not in state)
        misnamed, nothing = ([], ()) if named else _find_misnamed(workspace)
        kept += tuple(misnamed)
        notes = (*(d.message for d in state), *_note_changed_python(workspace), *nothing)
        bare = _without_python(workspace, at if alone else workspace.tools)
        looked_at = f"{tools}, {skills}"
        return Findings(root, kept, looked_at, None, notes, bare), [*named, *python]


def _find_misnamed(workspace: Any) -> tuple[list[Diagnostic], tuple[str, ...]]:
    """Return a warning for each definition with another name, and a note if nothing is loaded.

    A markdown file counts as one if it has a tool's Parameters, or if no definition is there.
    """
    settings: Settings = workspace.settings
    folders = {settings.root / name: ".tool.md" for name in settings.tools}
    folders |= {settings.root / name: ".skill.md" for name in settings.skills}
    there = {folder: suffix for folder, suffix in folders.items() if folder.is_dir()}
    nothing = not any(True for _ in definitions_among(map(str, there)))
    found = []
    for folder, suffix in there.items():
        for path in files_within(folder, "*.md"):
            is_tool = suffix == ".tool.md" and "\n## Parameters" in _text_of(path)
            if path.name.endswith(tuple(SUFFIXES)) or path.stem.casefold() == "readme":
                continue
            if nothing or is_tool:
                shown = path.relative_to(settings.root).as_posix()
                message = f"{path.name} is not read, because its name does not end with {suffix}"
                help_ = f"rename it to {path.stem}{suffix}"
                found.append(Diagnostic(Span(shown, 1, 1, 1, 1), Code.MISNAMED_FILE,
                                        Severity.WARNING, message, help_))  # fmt: skip
    if not nothing or (not found and (workspace.tools or workspace.skills)):
        return found, ()
    places = ", ".join(map(str, folders))
    return found, (f"no `*.tool.md` and no `*.skill.md` is in {places}",)


def _text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _note_changed_python(workspace: Any) -> list[str]:
    """Return a note for each skill whose runs wait, and began with other Python than today's."""
    settings = workspace.settings
    if not workspace.skills or not (settings.state / STORE_FILE).exists():
        return []
    try:
        changed = workspace.runs.changed_python()
    except ToolmdError:
        return []  # Each use of the store reports what is wrong.
    return [
        f"{plural(number, 'run')} of {skill} will go on with today's Python, which changed since "
        f"the run began; `toolmd runs` lists the runs"
        for skill, number in changed.items()
    ]


def _without_python(workspace: Any, names: Iterable[str]) -> dict[str, Path]:
    wanted = {name: workspace.tools[name] for name in names if name in workspace.tools}
    bare = {name: tool for name, tool in wanted.items() if tool.binding.kind == "none"}
    paths = {name: Path(tool.call_spec.source.path) for name, tool in bare.items()}
    root = workspace.settings.root
    return {
        name: path
        for name, path in paths.items()
        # Python that is there has a diagnostic of its own.
        if bare[name].binding.inspect is None and not (root / path).with_name(f"{name}.py").exists()
    }


def _is_stray(path: Path) -> bool:
    return path.is_file() and not path.name.endswith((*SUFFIXES, ".py"))


def _stdin() -> Findings:
    from toolmd._cli.single_file import check_alone, check_steps, read_alone

    read = read_alone(STDIN)
    lines = (read.text or "").splitlines()
    found = (*check_alone(read), *check_steps(read, [read]))
    return Findings(Path.cwd(), found, "stdin", lambda _: lines)


def _belongs(path: Path, settings: Settings) -> bool:
    real = path.resolve()
    roots = [(settings.root / name).resolve() for name in (*settings.tools, *settings.skills)]
    return any(real.is_relative_to(root) or root.is_relative_to(real) for root in roots)


def _about(file: Path, named: Sequence[Path]) -> bool:
    """Check whether a file is one of those named, or lies within one."""
    real = file.resolve()
    return any(real.is_relative_to(path) for path in named)


def _alone(paths: Sequence[str]) -> Findings:
    from toolmd._cli.single_file import check_alone, check_steps, read_alone

    reads = [read_alone(str(path)) for path in definitions_among(paths)]
    diagnostics = [d for read in reads for d in (*check_alone(read), *check_steps(read, reads))]
    return Findings(Path.cwd(), tuple(diagnostics), plural(len(reads), "file"))


def _make_absolute(diagnostic: Diagnostic) -> Diagnostic:
    span = diagnostic.span
    return diagnostic._replace(span=span._replace(path=str(Path(span.path).resolve())))
