"""Names that a project does not know: similar ones, or the reason that a definition is missing."""

from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, NoReturn

from toolmd._cli.frame import ExitCode, open_workspace, stop
from toolmd._types.code import Code
from toolmd._types.diagnostic import SUFFIXES, Severity
from toolmd.errors import SEE_NAMES, ToolmdError, did_you_mean, is_a_tool, near_words

if TYPE_CHECKING:
    # `--help` must not import the workspace.
    from toolmd._types.registry import BoundSkill


def complete_names(incomplete: str) -> list[str]:
    """Return the project's tools and skills that begin with `incomplete`, for the shell."""
    try:
        with open_workspace(None) as workspace:
            names = (*workspace.tools, *workspace.skills)
    except (ToolmdError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def unknown(
    name: str, names: Iterable[str], workspace: Any, kind: str = "tool or skill"
) -> NoReturn:
    """Stop: report the unknown name, with similar names or the reason that it did not load."""
    folded = name.replace("-", "_")
    if kind == "skill" and folded in workspace.tools:
        stop(ExitCode.NOT_FOUND, is_a_tool(folded))
    near = did_you_mean(folded, names, 3)
    help_ = not_loaded(name, workspace) or near or SEE_NAMES
    stop(ExitCode.NOT_FOUND, f"no {kind} {name!r}", help_)


def known_skill(workspace: Any, name: str) -> "BoundSkill":
    """Return a skill by its name in snake_case or kebab-case; stop if there is none."""
    bound = workspace.skills.get(name) or workspace.skills.get(name.replace("-", "_"))
    if bound is None:
        unknown(name, workspace.skills, workspace, "skill")
    found: BoundSkill = bound
    return found


def same_names(workspace: Any) -> list[str]:
    """Return which definitions do not load because their name is taken, and by which."""
    found = workspace.registry.diagnostics
    return [diagnostic.message for diagnostic in found if diagnostic.code is Code.DUPLICATE_NAME]


def not_loaded(name: str, workspace: Any) -> str:
    """Return why no definition of this name was loaded, if its file or plugin has errors."""
    folded = name.replace("-", "_")
    for diagnostic in workspace.registry.diagnostics:
        path: str = diagnostic.span.path
        stem = PurePath(path).name.partition(".")[0].replace("-", "_")
        if stem == folded and diagnostic.severity is Severity.ERROR:
            if path.endswith(tuple(SUFFIXES)):
                return f"its file has errors: toolmd check {path}"
            return f"{diagnostic.message}; `toolmd check` shows more"
    return ""


def suggest_python(name: str, file: Path, root: Path) -> str:
    """Return which file would be a tool's Python, or which existing file to rename.

    Args:
        name: The tool's name, which is also the function's name.
        file: The tool's definition, relative to `root`; its Python has the same stem.
        root: The project's folder.
    """
    stem = file.name.partition(".")[0].replace("-", "_")
    wanted = file.with_name(f"{stem}.py")
    there = [python.stem for python in (root / file).parent.glob("*.py")]
    near = near_words(stem, there, alike=0.8)
    holds = "" if stem == name else f", with a function {name}"
    what = f"rename {file.with_name(near[0])}.py to {wanted.name}" if near else f"write {wanted}"
    return what + holds
