"""`export`: print the tools and skills for other programs."""

from typing import Annotated, Any

import typer

from toolmd._cli.project.opening import named, open_workspace
from toolmd._cli.reports.diagnostics import full
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, project_of, stop
from toolmd._cli.terminal.screen import err, out, out_json
from toolmd._export.targets import TARGETS, find_target
from toolmd._export.targets import export as export_specs

_TARGETS = ", ".join(TARGETS)


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("export", rich_help_panel="Inspect")(export)


def export(
    ctx: typer.Context,
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"{_TARGETS}, or a plugin's.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Only these; default: all.", autocompletion=named),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="PATH", help="A single file, without its project."),
    ] = None,
    no_skills: Annotated[bool, typer.Option("--no-skills", help="Omit the skills.")] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Print tools and skills in the format of another program.

    Restrictions that the format can't express are listed on stderr; `toolmd serve`, `handle` and
    Python's `call` still check them at each call. Exit codes: 1 the file of --file has errors, 5
    unknown name.
    """
    if file is not None:
        if names:
            stop(ExitCode.USAGE, "NAME and --file at once", "use one of the two")
        exported = _export_file(target, file, skills=not no_skills)
    else:
        with open_workspace(project_of(ctx, project)) as workspace:
            named_skills = {name.replace("-", "_") for name in names or ()} & {*workspace.skills}
            if no_skills and named_skills:
                what = f"{', '.join(sorted(named_skills))}: a skill, and --no-skills at once"
                stop(ExitCode.USAGE, what, "use one of the two")
            exported = workspace.exported(target, tuple(names or ()), skills=not no_skills)
    for loss in exported.losses:
        err(f"lost in {exported.target}: {loss}")
    if exported.restrictions:
        fields = ", ".join(exported.restrictions)
        them = "them" if len(exported.restrictions) > 1 else "it"
        enforced = f"`toolmd serve` and `handle` enforce {them}"
        err(f"note: {exported.target} can't hold {fields}; {enforced}")
    if isinstance(exported.items, str) and not json:
        out(exported.items.rstrip("\n"))
    else:
        out_json(exported.items)


def _export_file(target: str, file: str, *, skills: bool) -> Any:
    from toolmd._cli.project.single_file import implementation_of, read_alone
    from toolmd._types.tool import ToolSpec

    read = read_alone(file)
    source = (read.text or "").splitlines()
    if read.diagnostics:
        err(full(read.diagnostics, lambda _: source))
    spec = read.spec
    if spec is None:
        raise typer.Exit(ExitCode.FINDINGS)
    if isinstance(spec, ToolSpec):
        return export_specs(target, [spec])
    row = find_target(target)
    has_python = implementation_of(spec, file)[0] != "none"
    runs = (row and row.prose_skills) or spec.executable or has_python
    if not runs:
        err(f"left out: the skill {spec.name!r} has neither steps nor Python to run")
    return export_specs(target, [], [spec] if skills and runs else [])
