"""`new` and `init`: write a canonical file, its Python, and a test that passes."""

import keyword
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.files import definitions_among, replace_file
from toolmd._cli.frame import ExitCode, JsonOption, ProjectOption, stop
from toolmd._cli.screen import err, out, out_json, paint
from toolmd.config import OWN_FILE, find_project, load_settings

_ELSE = "choose another name, or move that file away; nothing was written"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="In snake_case or kebab-case.")]
GROUP = typer.Typer(help="Write a new tool, skill, prompt or plugin.", no_args_is_help=True)


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Created if it does not exist.")] = (
        Path()
    ),
    *,
    json: JsonOption = False,
) -> None:
    """Create a project, with a first tool that works."""
    from toolmd._cli import templates

    root = folder.expanduser().resolve()
    if root.exists() and not root.is_dir():
        stop(ExitCode.USAGE, f"{folder}: not a folder", "name a folder")
    if root.exists() and find_project(root) == root:
        stop(ExitCode.USAGE, f"{folder}: already a project", "`toolmd new tool NAME` adds a tool")
    files = {OWN_FILE: 'tools = ["tools_md"]\nskills = ["skills_md"]\n'}
    files |= templates.FIRST_TOOL
    _refuse_to_overwrite(root, files)
    (root / "skills_md").mkdir(parents=True, exist_ok=True)
    _ignore(root / ".gitignore", ".toolmd/")
    # Write the settings' file last: it makes the folder a project.
    made = make_files(root, files)
    inside = "" if root == Path.cwd() else f"cd {folder} && "
    _tell(made, f"{inside}toolmd check && toolmd call {templates.FIRST_NAME} name=Ana", json)


def _ignore(file: Path, line: str) -> None:
    known = file.read_text("utf-8") if file.is_file() else ""
    if line not in known.splitlines():
        ending = "" if known.endswith("\n") or not known else "\n"
        replace_file(file, f"{known}{ending}{line}\n")


@GROUP.command("tool")
def new_tool(
    name: NameArgument,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write a tool: its markdown, its Python and a test.

    Where the folder has a function of that name, only its markdown is written, as a draft of it.
    """
    _new("tool", name, project, json)


@GROUP.command("skill")
def new_skill(
    name: NameArgument,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write a skill with steps, and a test."""
    _new("skill", name, project, json)


@GROUP.command("prompt")
def new_prompt(
    name: NameArgument,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write a prompt, which people choose over MCP."""
    _new("prompt", name, project, json)


@GROUP.command("plugin")
def new_plugin(
    name: NameArgument,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="The parent folder; default: the current one.")
    ] = None,
    *,
    json: JsonOption = False,
) -> None:
    """Write an installable package of tools."""
    snake = checked_name(name)
    if snake in {*sys.stdlib_module_names, "toolmd"}:
        what = f"{name!r} would never be imported: another package has that name"
        stop(ExitCode.USAGE, what, f"choose another name, such as {snake}_tools")
    root = (folder or Path()) / snake.replace("_", "-")
    from toolmd._cli.templates import package_files

    made = make_files(root, package_files(snake))
    _tell(made, f"cd {root} && toolmd check && pip install -e .", json)


def _new(
    kind: str,
    name: str,
    project: Path | None,
    json: bool,  # noqa: FBT001 - each verb hands on what was typed
) -> None:
    from toolmd._cli.templates import definition_files

    settings = load_settings(project)
    within = "skill" if kind == "skill" else "tool"
    folders = settings.skills if kind == "skill" else settings.tools
    if not folders:
        help_ = f'set {within}s = ["{within}s_md"]'
        stop(ExitCode.USAGE, f"the project has no folder of {within}s", help_)
    snake = checked_name(name)
    _refuse_a_second(settings.root, (*settings.tools, *settings.skills), snake)
    files = definition_files(kind, snake, folders[0])
    there = _holder(settings.root / folders[0], snake) if kind == "tool" else ""
    if not there:
        made = make_files(settings.root, files)
        _tell(made, f"describe the {kind} in {made[0]}, then run toolmd check", json)
        return
    made = make_files(settings.root, {next(iter(files)): _draft(there, snake)})
    what = f"the function that {os.path.relpath(there, settings.root / folders[0])} has"
    _tell(made, f"review the draft of {what}, then run toolmd check", json)


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


def _refuse_a_second(root: Path, folders: Iterable[str], snake: str) -> None:
    """Stop if another folder has a file of this name: only one of the two would load."""
    there = [str(root / folder) for folder in folders if (root / folder).is_dir()]
    for file in definitions_among(there):
        if file.name.partition(".")[0].replace("-", "_") == snake:
            stop(ExitCode.USAGE, f"{os.path.relpath(file)} exists already", _ELSE)


def checked_name(name: str) -> str:
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


def make_files(root: Path, files: dict[str, str]) -> list[str]:
    """Write new files and return their paths; if one exists, write none."""
    from toolmd._cli.files import write_all

    _refuse_to_overwrite(root, files)
    write_all({root / path: text for path, text in files.items()}, force=False)
    return [os.path.relpath(root / path) for path in files]


def _refuse_to_overwrite(root: Path, files: dict[str, str]) -> None:
    for path in files:
        if (root / path).exists():
            stop(ExitCode.USAGE, f"{os.path.relpath(root / path)} exists already", _ELSE)


def _tell(made: list[str], after: str, json: bool) -> None:  # noqa: FBT001 - as above
    """Show the written files and the next command."""
    if json:
        out_json({"written": made, "next": after})
        return
    for path in made:
        out(f"{paint('made', 'green', sys.stdout)} {path}")
    err(f"Next: {after}")
