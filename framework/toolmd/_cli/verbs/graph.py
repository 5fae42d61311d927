"""`graph`: draw a skill's steps."""

from typing import Annotated

import typer

from toolmd._cli.project.opening import named, open_workspace, unknown
from toolmd._cli.reports.drawing import drawable, drawn
from toolmd._cli.terminal.options import (
    JsonOption,
    OutputOption,
    ProjectOption,
    SvgOption,
    project_of,
)


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("graph", rich_help_panel="Inspect")(graph)


def graph(
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    *,
    svg: SvgOption = False,
    output: OutputOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Draw a skill's steps and the paths between them. Exit code 5: unknown skill."""
    with open_workspace(project_of(ctx, project)) as workspace:
        bound = workspace.skills.get(skill) or workspace.skills.get(skill.replace("-", "_"))
        if bound is None:
            unknown(skill, workspace.skills, workspace, "skill")
        spec = bound.spec
    drawable(spec)
    drawn(spec, {}, svg=svg, output=output, json={"skill": spec.name} if json else None)
