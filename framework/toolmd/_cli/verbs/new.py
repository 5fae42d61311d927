"""`new` and `init`: write a canonical file, its Python, and a test that passes."""

import keyword
import os
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.files import definitions_among, write_file, write_files
from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.screen import err, paint
from toolmd.config import OWN_FILE, find_project, load_settings

_ELSE = "choose another name, or move that file away; nothing was written"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="In snake_case or kebab-case.")]


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Created if it does not exist.")] = (
        Path()
    ),
) -> Answer:
    """Create a project, with a first tool that works."""
    from toolmd._cli.templates import FIRST_NAME, first_files

    root = folder.expanduser().resolve()
    if root.exists() and not root.is_dir():
        stop(ExitCode.USAGE, f"{folder}: not a folder", "name a folder")
    if root.exists() and find_project(root) == root:
        stop(ExitCode.USAGE, f"{folder}: already a project", "`toolmd new tool NAME` adds a tool")
    files = {OWN_FILE: 'tools = ["tools_md"]\nskills = ["skills_md"]\n', **first_files()}
    inside = "" if root == Path.cwd() else f"cd {folder} && "
    call = f"{inside}toolmd check && toolmd call {FIRST_NAME} name=Ana"
    # The file that makes it a project comes last, so that a second try starts from the beginning.
    (root / "skills_md").mkdir(parents=True, exist_ok=True)
    ignored = root / ".gitignore"
    known = ignored.read_text("utf-8") if ignored.is_file() else ""
    if ".toolmd/" not in known.splitlines():
        ending = "" if known.endswith("\n") or not known else "\n"
        write_file(ignored, f"{known}{ending}.toolmd/\n")
    return _write(root, files, call)


def new_tool(name: NameArgument, *, project: Path | None) -> Answer:
    """Write a tool: its markdown, its Python and a test.

    Where the folder has a function of that name, only its markdown is written, as a draft of it.
    """
    return _new("tool", name, project)


def new_skill(name: NameArgument, *, project: Path | None) -> Answer:
    """Write a skill with steps, and a test."""
    return _new("skill", name, project)


def new_plugin(
    name: NameArgument,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="The parent folder; default: the current one.")
    ] = None,
) -> Answer:
    """Write an installable package of tools."""
    from toolmd._cli.templates import package_files

    snake = check_name(name)
    if snake in {*sys.stdlib_module_names, "toolmd"}:
        what = f"{name!r} would never be imported: another package has that name"
        stop(ExitCode.USAGE, what, f"choose another name, such as {snake}_tools")
    root = (folder or Path()) / snake.replace("_", "-")
    return _write(root, package_files(snake), f"cd {root} && toolmd check && pip install -e .")


def _new(kind: str, name: str, project: Path | None) -> Answer:
    from toolmd._cli.templates import definition_files

    settings = load_settings(project)
    within = "skill" if kind == "skill" else "tool"
    folders = settings.skills if kind == "skill" else settings.tools
    if not folders:
        help_ = f'set {within}s = ["{within}s_md"]'
        stop(ExitCode.USAGE, f"the project has no folder of {within}s", help_)
    snake, root = check_name(name), settings.root
    folders_there = [str(root / one) for one in (*settings.tools, *settings.skills)
                     if (root / one).is_dir()]  # fmt: skip
    for file in definitions_among(folders_there):
        # Of two files of one name, only one would load.
        if file.name.partition(".")[0].replace("-", "_") == snake:
            stop(ExitCode.USAGE, f"{os.path.relpath(file)} exists already", _ELSE)
    files = definition_files(kind, snake, folders[0])
    definition = next(iter(files))
    if kind == "tool" and (module := _holder(root / folders[0], snake)):
        what = f"the function that {os.path.relpath(module, root / folders[0])} has"
        after = f"review the draft of {what}, then run toolmd check"
        return _write(root, {definition: _draft(module, snake)}, after)
    place = os.path.relpath(root / definition)
    return _write(root, files, f"describe the {kind} in {place}, then run toolmd check")


def _draft(module: str, function: str) -> str:
    """Return the definition of a function that is there; stop if it can't be a tool."""
    from toolmd._import.python import list_functions, read

    read_module = read(list_functions(f"{module}:{function}"), module)
    for note in (*read_module.notes, *read_module.refused):
        err(f"note: {note}")
    if not read_module.drafts:
        stop(ExitCode.FINDINGS, f"{module} has no {function!r} that can be a tool", _ELSE)
    return read_module.drafts[0].text


def _holder(folder: Path, function: str) -> str:
    """Return the path of the folder's module that has a function already; empty if none has."""
    from toolmd._load.binding import read_beside
    from toolmd._load.files import File

    definition = File("", "", (f"{function}.tool.md",), b"")
    found = read_beside(folder).holders(definition, function)
    return str(folder.joinpath(*found[0].parts)) if found else ""


def _write(root: Path, files: dict[str, str], after: str) -> Answer:
    """Write new files, or none if one exists; show them and the next command."""
    for path in files:
        if (root / path).exists():
            stop(ExitCode.USAGE, f"{os.path.relpath(root / path)} exists already", _ELSE)
    write_files({root / path: text for path, text in files.items()}, force=False)
    paths = [os.path.relpath(root / path) for path in files]
    text = "\n".join(f"{paint('made', 'green')} {path}" for path in paths)
    return Answer({"written": paths, "next": after}, text, [f"Next: {after}"])


def check_name(name: str) -> str:
    """Return the name in snake_case; stop if it is not valid for a definition and a function."""
    snake = name.replace("-", "_")
    if not _NAME.fullmatch(snake):
        words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)
        near = "_".join(word.lower() for word in words).lstrip("0123456789_")
        help_ = f"did you mean {near!r}?" if _NAME.fullmatch(near) else "write it like `find_table`"
        stop(
            ExitCode.USAGE, f"{name!r} is not a name: a letter, then letters, digits and `_`", help_
        )
    if keyword.iskeyword(snake):
        stop(ExitCode.USAGE, f"{name!r} is a keyword of Python", "choose another name")
    return snake
