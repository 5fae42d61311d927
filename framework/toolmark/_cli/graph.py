"""`graph`: a skill's steps as a picture."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmark._cli.exits import ExitCode
from toolmark._cli.options import JsonOption, ProjectOption, project_of, stop
from toolmark._cli.projects import named, open_workspace, unknown
from toolmark._cli.screen import err, out, out_json

SvgOption = Annotated[
    bool, typer.Option("--svg/--mermaid", help="A picture, or text that Mermaid draws.")
]
OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write; .svg is a picture."),
]  # fmt: skip


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("graph", rich_help_panel="Look")(graph)


def graph(
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="SKILL", autocompletion=named)],
    *,
    svg: SvgOption = False,
    output: OutputOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Draw a skill's steps and the ways between them."""
    with open_workspace(project_of(ctx, project)) as workspace:
        bound = workspace.skills.get(skill) or workspace.skills.get(skill.replace("-", "_"))
        if bound is None:
            unknown(skill, workspace.skills, workspace, "skill")
        spec = bound.spec
    drawable(spec)
    drawn(spec, {}, svg=svg, output=output, json={"skill": spec.name} if json else None)


def drawable(spec: Any) -> None:
    """End where a skill has no steps."""
    if not spec.executable:
        help_ = "its prose or its Python says what it does: toolmark show " + spec.name
        stop(ExitCode.FINDINGS, f"the skill {spec.name!r} has no steps to draw", help_)


def drawn(
    spec: Any,
    states: Mapping[str, Any],
    *,
    svg: bool,
    output: Path | None,
    json: dict[str, Any] | None,
) -> None:
    """Draw a skill, or one run of it, to a file or to stdout; `json` is what stands beside it."""
    from toolmark._run.graph import chart_of, mermaid
    from toolmark._run.graph import svg as picture

    as_picture = svg or (output is not None and output.suffix == ".svg")
    chart = chart_of(spec)
    text = picture(chart, states) if as_picture else mermaid(chart, states)
    if output is not None:
        output.write_text(text, encoding="utf-8")
        err(f"wrote {output}")
    elif json is None:
        out(text.rstrip("\n"))
    if json is not None:
        out_json({**json, "format": "svg" if as_picture else "mermaid", "text": text})
