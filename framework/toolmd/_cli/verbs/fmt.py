"""`fmt`: write definitions in canonical form, in place."""

from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.files import STDIN
from toolmd._cli.frame import JsonOption, ProjectOption
from toolmd.config import find_project, load_settings


def fmt(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files or folders; `-` reads stdin, writes stdout."),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a file would change.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show the changes.")] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write definitions in canonical form, with the same meaning.

    Files with errors are not changed. Exit code 1: a file has errors, or would change (--check).
    """
    from toolmd._cli.authoring.formatting import format_paths, format_stdin

    if paths and project is None and find_project(Path.cwd().resolve()) is None:
        style, folders = "keep", []
    else:
        settings = load_settings(project)
        style, folders = settings.format.style, _folders(settings)
    if paths == [STDIN]:
        raise typer.Exit(format_stdin(style, check=check, diff=diff, json=json))
    raise typer.Exit(format_paths(paths or folders, style, check=check, diff=diff, json=json))


def _folders(settings: Any) -> list[str]:
    folders = [settings.root / name for name in dict.fromkeys((*settings.tools, *settings.skills))]
    here = Path.cwd()
    return [
        str(folder.relative_to(here) if folder.is_relative_to(here) else folder)
        for folder in folders
        if folder.is_dir()
    ]
