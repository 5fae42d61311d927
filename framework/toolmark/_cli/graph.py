"""`graph`: a skill's steps as a picture."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from toolmark._cli.exits import ExitCode
from toolmark._cli.options import JsonOption, ProjectOption, project_of, stop
from toolmark._cli.projects import named, open_workspace, unknown
from toolmark._cli.screen import out, out_json


class PictureFormat(StrEnum):
    """What draws the picture."""

    MERMAID = "mermaid"
    SVG = "svg"


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("graph", rich_help_panel="Look")(graph)


def graph(
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="SKILL", autocompletion=named)],
    *,
    form: Annotated[
        PictureFormat, typer.Option("--format", help="Text for Mermaid, or a picture.")
    ] = PictureFormat.MERMAID,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Draw a skill's steps and the ways between them."""
    with open_workspace(project_of(ctx, project)) as workspace:
        bound = workspace.skills.get(skill) or workspace.skills.get(skill.replace("-", "_"))
        if bound is None:
            unknown(skill, workspace.skills, workspace, "skill")
        spec = bound.spec
    if not spec.executable:
        help_ = "its prose or its Python says what it does: toolmark show " + spec.name
        stop(ExitCode.FINDINGS, f"the skill {spec.name!r} has no steps to draw", help_)
    drawn = _drawn(spec, form)
    if json:
        out_json({"skill": spec.name, "format": form.value, "text": drawn})
    else:
        out(drawn.rstrip("\n"))


def _drawn(spec: Any, form: PictureFormat) -> str:
    from toolmark._run.graph import chart_of, mermaid, svg

    chart = chart_of(spec)
    return mermaid(chart) if form is PictureFormat.MERMAID else svg(chart)
