"""`export`: print the tools and skills for other programs."""

import json as jsons
from base64 import b64decode
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.files import path_here, write_files
from toolmd._cli.frame import Answer, ExitCode, open_workspace, stop
from toolmd._cli.names import complete_names
from toolmd._cli.screen import as_json, paint
from toolmd._export.exported import Exported
from toolmd._export.targets import TARGETS, find_target
from toolmd._export.targets import export as export_specs


def export(
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help=f"{', '.join(TARGETS)}, or a plugin's.")
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Only these; default: all.", autocompletion=complete_names
        ),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option("--file", metavar="PATH", help="A single file, without its project."),
    ] = None,
    no_skills: Annotated[bool, typer.Option("--no-skills", help="Omit the skills.")] = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Write files into this folder, and print nothing else."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    project: Path | None,
) -> Answer:
    """Print tools and skills in the format of another program, or write them with --out.

    Restrictions that the format can't express are listed on stderr; `toolmd serve`, `handle` and
    Python's `call` still check them at each call. Exit codes: 1 the file of --file has errors, 5
    unknown name.
    """
    notes: list[str] = []
    if file is not None:
        if names:
            stop(ExitCode.USAGE, "NAME and --file at once", "use one of the two")
        exported = _export_file(target, file, notes, skills=not no_skills)
    else:
        with open_workspace(project) as workspace:
            exported = _export_project(workspace, target, names or [], notes, skills=not no_skills)
    notes += [f"lost in {exported.target}: {loss}" for loss in exported.losses]
    if exported.restrictions:
        them = "them" if len(exported.restrictions) > 1 else "it"
        notes.append(
            f"note: {exported.target} can't hold {', '.join(exported.restrictions)}; "
            f"`toolmd serve` and `handle` enforce {them}"
        )
    if out_dir is not None:
        try:
            paths = [path_here(path) for path in write_exported(exported, out_dir, force=force)]
        except FileExistsError as error:
            taken = path_here(Path(error.filename2 or error.filename))
            what = f"{taken}: exists already; nothing was written"
            stop(ExitCode.USAGE, what, "--force overwrites")
        lines = [f"{paint('made', 'green')} {path}" for path in paths]
        return Answer({"written": paths}, "\n".join(lines), notes=notes)
    items = exported.items
    text = items if isinstance(items, str) else as_json(items)
    return Answer(items, text.rstrip("\n"), notes=notes)


def _export_project(
    workspace: Any, target: str, names: list[str], notes: list[str], *, skills: bool
) -> Exported:
    named = {name.replace("-", "_") for name in names}
    named_skills = sorted(named & {*workspace.skills})
    if named_skills and not skills:
        what = f"{', '.join(named_skills)}: a skill, and --no-skills at once"
        stop(ExitCode.USAGE, what, "use one of the two")
    exported: Exported = workspace.exported(target, tuple(names), skills=skills)
    row = find_target(target)
    called = {} if row and row.prose_skills else {**workspace.skills}
    called |= workspace.tools if row is None or row.for_models else {}
    notes += [
        f"left out: {name} is not for models (Model Invocation: no)"
        for name in sorted(named & called.keys())
        if not called[name].spec.model_invocation
    ]
    return exported


def write_exported(exported: Exported, folder: Path, *, force: bool) -> list[Path]:
    """Write an export into a folder: the files of skills, or one file with everything.

    Returns:
        The paths of the files.

    Raises:
        FileExistsError: A file exists, and `force` is False.
        OSError: A file can't be written.
    """
    items = exported.items
    files: dict[Path, str | bytes] = {}
    executable: set[Path] = set()
    if isinstance(items, str):
        files[folder / f"{exported.target}.md"] = items
    elif isinstance(items, list) and items and all("path" in item for item in items):
        for item in items:
            place = folder / item["path"]
            base64 = item.get("base64")
            files[place] = b64decode(base64) if base64 is not None else str(item["text"]).encode()
            if item.get("executable"):
                executable.add(place)
    else:
        text = jsons.dumps(items, indent=2, ensure_ascii=False)
        files[folder / f"{exported.target}.json"] = f"{text}\n"
    write_files(files, force=force, executable=executable)
    return [*files]


def _export_file(target: str, file: str, notes: list[str], *, skills: bool) -> Any:
    from toolmd._cli.single_file import implementation_of, spec_of
    from toolmd._types.tool import ToolSpec

    spec = spec_of(file)
    if isinstance(spec, ToolSpec):
        return export_specs(target, [spec])
    row = find_target(target)
    has_python = implementation_of(spec, file)[0] != "none"
    whole = row is not None and row.prose_skills
    runs = whole or ((spec.executable or has_python) and spec.model_invocation)
    if not runs:
        why = "has neither steps nor Python to run"
        why = why if spec.model_invocation else "is not for models (Model Invocation: no)"
        notes.append(f"left out: the skill {spec.name!r} {why}")
    exported = export_specs(target, [], [spec] if skills and runs else [])
    if not (row is not None and row.form == "files" and exported.items):
        return exported
    from toolmd._workspace.skill_folders import with_files

    return with_files(exported, [(spec, Path(file))])
