"""`list` and `show`: list the tools and skills, and show one in full."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.project.opening import named, nothing_here, open_workspace, same_names, unknown
from toolmd._cli.reports.detail import detail
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, stop
from toolmd._cli.terminal.screen import counted, err, out, out_json, table
from toolmd._types.diagnostic import Severity
from toolmd._types.registry import AnySpec, Bound


def list_(*, json: JsonOption = False, project: ProjectOption = None) -> None:
    """List the tools and skills."""
    with open_workspace(project) as workspace:
        from toolmd._export.definition import list_entry

        bound: list[Bound[Any]] = [*workspace.tools.values(), *workspace.skills.values()]
        entries = [list_entry(one) for one in bound]
        nothing = "" if bound else nothing_here(workspace, "Nothing here")
        notes = same_names(workspace)
        errors = sum(d.severity is Severity.ERROR for d in workspace.registry.diagnostics)
    if errors:
        notes.append(f"{counted(errors, 'error')}; some definitions may be missing: `toolmd check`")
    if json:
        out_json(entries)
    elif entries:
        _show_list(entries, [one.spec for one in bound])
    else:
        notes = []
        err(nothing)
    for note in notes:
        err(f"note: {note}")


def _show_list(entries: Sequence[dict[str, Any]], specs: Sequence[AnySpec]) -> None:
    head = ("NAME", "KIND", "VERSION", "CATEGORY", "RUNS", "DESCRIPTION")
    rows = [
        (e["name"], e["kind"], e["version"], e["category"], _runs(e, spec), e["description"])
        for e, spec in zip(entries, specs, strict=True)
    ]
    out(table(head, rows))
    kinds = [e["kind"] for e in entries]
    err(f"{counted(kinds.count('tool'), 'tool')}, {counted(kinds.count('skill'), 'skill')}.")


def _runs(entry: dict[str, Any], spec: AnySpec) -> str:
    """Return the kind of implementation in a word."""
    implementation = entry["implementation"]
    said = {
        "sibling": "python", "entry_point": "plugin", "remote": "remote", "steps": "steps",
        "none": "-",
    }[implementation["kind"]]  # fmt: skip
    # A package's definition has its file next to it, and a tool may name an installed module; all
    # others come from a plugin's hook.
    target = implementation.get("target", "")
    python = Path(target.rpartition(":")[0])
    beside = python.suffix == ".py" and python.name != "plugin.py"
    if said == "plugin" and (beside or target == getattr(spec, "implemented_by", "")):
        said = "package"
    return f"{said} (stale)" if entry.get("stale") else said


def show(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A tool, skill or prompt.", autocompletion=named),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="PATH",
            help="A single file: no project is needed, and no Python is run. `-` is stdin.",
        ),
    ] = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show one tool, skill or prompt in full.

    Exit codes: 1 the file of --file has errors, 5 unknown name.
    """
    if (name is None) == (file is None):
        stop(ExitCode.USAGE, "give a NAME or --file PATH", "`toolmd list` shows the names")
    if file is not None:
        described = _described_file(file)
    else:
        with open_workspace(project) as workspace:
            folded = str(name).replace("-", "_")
            from toolmd._export.definition import describe, describe_bound

            prompts = workspace.registry.prompts
            if bound := workspace.tools.get(folded) or workspace.skills.get(folded):
                described = describe_bound(bound)
            elif prompt := prompts.get(folded):
                described = describe(prompt, "none", "")
            else:
                unknown(str(name), (*workspace.tools, *workspace.skills, *prompts), workspace)
    if json:
        out_json(described)
    else:
        out(detail(described))


def _described_file(file: str) -> dict[str, Any]:
    from toolmd._cli.project.single_file import implementation_of, spec_of
    from toolmd._export.definition import describe

    spec = spec_of(file)
    return describe(spec, *implementation_of(spec, file))
