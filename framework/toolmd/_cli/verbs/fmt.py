"""`fmt`: write definitions in canonical form, in place."""

from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.project.paths import STDIN
from toolmd._cli.terminal.options import JsonOption, ProjectOption, project_of


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fmt", rich_help_panel="Write")(fmt)


def fmt(
    ctx: typer.Context,
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
    from toolmd.config import find_project, load_settings

    folder = project_of(ctx, project)
    if paths and folder is None and find_project(Path.cwd().resolve()) is None:
        style, folders = "keep", []
    else:
        settings = load_settings(folder)
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
