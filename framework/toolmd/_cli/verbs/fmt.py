"""`fmt`: canonical form, in place."""

from pathlib import Path
from typing import Annotated

import typer

from toolmd._cli.project.paths import STDIN
from toolmd._cli.terminal.options import JsonOption, ProjectOption, project_of


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("fmt", rich_help_panel="Write")(fmt)


def fmt(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files or folders; `-` is stdin to stdout."),
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; end with 1 where it would.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Write nothing; show what would change.")
    ] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Write definitions in canonical form; what they mean stays the same.

    A file with errors is left alone, and ends with 1.
    """
    from toolmd._cli.authoring.formatting import format_paths, format_stdin

    if paths == [STDIN]:
        raise typer.Exit(format_stdin(check=check, diff=diff, json=json))
    chosen = paths or _folders(project_of(ctx, project))
    raise typer.Exit(format_paths(chosen, check=check, diff=diff, json=json))


def _folders(folder: Path | None) -> list[str]:
    from toolmd.config import load_settings

    settings = load_settings(folder)
    folders = [settings.root / name for name in dict.fromkeys((*settings.tools, *settings.skills))]
    here = Path.cwd()
    return [
        str(folder.relative_to(here) if folder.is_relative_to(here) else folder)
        for folder in folders
        if folder.is_dir()
    ]
