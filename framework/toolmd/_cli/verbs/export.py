"""`export`: print the tools and skills for other programs."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.project.opening import named, open_workspace
from toolmd._cli.project.paths import shown
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, stop
from toolmd._cli.terminal.screen import err, out, out_json, paint
from toolmd._export.exported import Exported
from toolmd._export.targets import TARGETS, find_target
from toolmd._export.targets import export as export_specs

_TARGETS = ", ".join(TARGETS)

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Only these; default: all.", autocompletion=named),
]
FileOption = Annotated[
    str | None,
    typer.Option("--file", metavar="PATH", help="A single file, without its project."),
]
OutDirOption = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", help="Write files into this folder, and print nothing else."
    ),
]


def export(
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"{_TARGETS}, or a plugin's.")],
    names: NamesArgument = None,
    *,
    file: FileOption = None,
    no_skills: Annotated[bool, typer.Option("--no-skills", help="Omit the skills.")] = False,
    out_dir: OutDirOption = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Print tools and skills in the format of another program, or write them with --out.

    Restrictions that the format can't express are listed on stderr; `toolmd serve`, `handle` and
    Python's `call` still check them at each call. Exit codes: 1 the file of --file has errors, 5
    unknown name.
    """
    if file is not None:
        if names:
            stop(ExitCode.USAGE, "NAME and --file at once", "use one of the two")
        exported = _export_file(target, file, skills=not no_skills)
    else:
        with open_workspace(project) as workspace:
            named_skills = {name.replace("-", "_") for name in names or ()} & {*workspace.skills}
            if no_skills and named_skills:
                what = f"{', '.join(sorted(named_skills))}: a skill, and --no-skills at once"
                stop(ExitCode.USAGE, what, "use one of the two")
            exported = workspace.exported(target, tuple(names or ()), skills=not no_skills)
            row = find_target(target)
            for name in sorted(named_skills) if row is None or not row.prose_skills else ():
                if not workspace.skills[name].spec.model_invocation:
                    err(f"left out: {name} is not for models to start (Model Invocation: no)")
    for loss in exported.losses:
        err(f"lost in {exported.target}: {loss}")
    if exported.restrictions:
        fields = ", ".join(exported.restrictions)
        them = "them" if len(exported.restrictions) > 1 else "it"
        enforced = f"`toolmd serve` and `handle` enforce {them}"
        err(f"note: {exported.target} can't hold {fields}; {enforced}")
    if out_dir is not None:
        _write(exported, out_dir, force=force, as_json=json)
    elif isinstance(exported.items, str) and not json:
        out(exported.items.rstrip("\n"))
    else:
        out_json(exported.items)


def _write(exported: Exported, folder: Path, *, force: bool, as_json: bool) -> None:
    from toolmd._cli.authoring.skill_files import write_exported

    try:
        paths = [shown(path) for path in write_exported(exported, folder, force=force)]
    except FileExistsError as error:
        taken = shown(Path(error.filename2 or error.filename))
        stop(ExitCode.USAGE, f"{taken}: exists already; nothing was written", "--force overwrites")
    if as_json:
        out_json({"written": paths})
        return
    for path in paths:
        out(f"{paint('made', 'green', sys.stdout)} {path}")


def _export_file(target: str, file: str, *, skills: bool) -> Any:
    from toolmd._cli.project.single_file import implementation_of, spec_of
    from toolmd._types.prompt import PromptSpec
    from toolmd._types.tool import ToolSpec

    spec = spec_of(file)
    if isinstance(spec, ToolSpec):
        return export_specs(target, [spec])
    if isinstance(spec, PromptSpec):
        help_ = f"`toolmd show --file {file}` shows it"
        stop(ExitCode.USAGE, f"{file} is a prompt, which people choose over MCP", help_)
    row = find_target(target)
    has_python = implementation_of(spec, file)[0] != "none"
    whole = row is not None and row.prose_skills
    runs = whole or ((spec.executable or has_python) and spec.model_invocation)
    if not runs:
        why = "has neither steps nor Python to run"
        why = why if spec.model_invocation else "is not for models (Model Invocation: no)"
        err(f"left out: the skill {spec.name!r} {why}")
    exported = export_specs(target, [], [spec] if skills and runs else [])
    if not (row is not None and row.form == "files" and exported.items):
        return exported
    from toolmd._workspace.skill_folders import with_files

    return with_files(exported, [(spec, Path(file))])
