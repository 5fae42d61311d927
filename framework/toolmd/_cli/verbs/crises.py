"""`crises`: list the conversations with a crisis flag, and clear one."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from toolmd._cli.project.opening import open_workspace
from toolmd._cli.terminal.options import JsonOption, ProjectOption
from toolmd._cli.terminal.screen import counted, err, out, out_json, printable


def crises(
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="CONVERSATION", help="Clear its flag; without it, list all flagged ones."
        ),
    ] = None,
    *,
    user: Annotated[str | None, typer.Option(help="The user of the conversation.")] = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """List the conversations with a crisis flag, or clear the flag of one.

    In a flagged conversation, calls that are not Read Only wait for an operator. Exit code 5:
    CONVERSATION has no flag.
    """
    with open_workspace(project) as workspace:
        if conversation is not None:
            workspace.crises.clear_sync(conversation, user=user)
            if json:
                out_json({"cleared": conversation})
            err(f"{printable(conversation)}: the crisis flag is cleared.")
            return
        found = workspace.crises.list_sync()
    if json:
        out_json([crisis.to_dict() for crisis in found])
        return
    for crisis in found:
        since = datetime.fromtimestamp(crisis.since, UTC).astimezone().isoformat(" ", "seconds")
        whose = f"  user {printable(crisis.user)}" if crisis.user else ""
        out(f"{printable(crisis.conversation)}{whose}  since {since}")
    if found:
        told = counted(len(found), "flagged conversation")
        err(f"{told}: `toolmd crises CONVERSATION [--user ID]` clears one.")
    else:
        err("No conversation is flagged.")
