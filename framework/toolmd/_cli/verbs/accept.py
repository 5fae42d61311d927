"""`accept`: list the edits that weaken a policy, and make one live."""

from typing import Annotated

import typer

from toolmd._cli.project.opening import open_workspace
from toolmd._cli.terminal.options import JsonOption, ProjectOption
from toolmd._cli.terminal.screen import counted, err, out, out_json, paint, printable


def accept(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The tool or skill; without it, list the pending edits."
        ),
    ] = None,
    *,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Accept an edit that weakens a policy, so that it becomes live.

    Until then, the stricter policy applies. Without NAME, list the pending edits. Exit code 5:
    NAME has no pending edit.
    """
    with open_workspace(project) as workspace:
        changes = workspace.changes
        edits = changes.list_sync() if name is None else (changes.accept_sync(name),)
    if json:
        told = [edit.to_dict() for edit in edits]
        out_json(told if name is None else told[0])
        return
    for edit in edits:
        out(f"{paint(f'{edit.path}:{edit.line}', 'bold')}: {edit.name}")
        for line in edit.diff.splitlines():
            out(f"  {paint(printable(line), 'red' if line.startswith('-') else 'green')}")
    if name is not None:
        err(f"{edits[0].name}: the edit is live now.")
    elif edits:
        err(f"{counted(len(edits), 'pending edit')}: `toolmd accept NAME` makes one live.")
    else:
        err("No edit is pending.")
