"""`graph`: draw a skill's steps."""

from typing import Annotated

import typer

from toolmd._cli.project.opening import known_skill, named, open_workspace
from toolmd._cli.reports.drawing import drawable, drawn
from toolmd._cli.terminal.options import (
    JsonOption,
    OutputOption,
    ProjectOption,
    SvgOption,
)


def graph(
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill.", autocompletion=named)],
    *,
    svg: SvgOption = False,
    output: OutputOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Draw a skill's steps and the paths between them. Exit code 5: unknown skill."""
    with open_workspace(project) as workspace:
        bound = known_skill(workspace, skill)
        spec = bound.spec
    drawable(spec)
    drawn(spec, {}, svg=svg, output=output, json={"skill": spec.name} if json else None)
