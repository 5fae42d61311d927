"""`pending`, `confirm`, `reject` and `respond`: list pending calls, and decide about them."""

import datetime as dt
from functools import partial
from typing import Annotated, Any

import typer

from toolmd._cli.project.identified import explained
from toolmd._cli.project.opening import open_workspace
from toolmd._cli.reports.earlier import warn_of_earlier
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, stop, user_of
from toolmd._cli.terminal.screen import err, out, out_json, printable, read_stdin, table
from toolmd._types.asked import fields_of

PAGE = 50
"""The default number of calls in a list."""
ConfirmationIdArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The pending call; `toolmd pending` lists them.")
]
DeciderOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        help="Decide as this user: about their own calls, and about reviews of other users' calls; "
        "reviews of their own calls they can only reject. Default: as the operator, about all.",
        callback=user_of,
    ),
]


def pending(
    *,
    user: Annotated[
        str | None,
        typer.Option(
            "--user", metavar="ID", help="Only this user's; default: all.", callback=user_of
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="The most calls to list; by default 50, and all with --json."),
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="ID", help="The last call of the previous page.")
    ] = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """List the calls that wait for a person, the oldest first."""
    if limit is None and not json:
        limit = PAGE
    with open_workspace(project) as workspace:
        calls = workspace.confirmations.pending_sync(user=user, limit=limit, after=after)
    if json:
        out_json([one.to_dict() for one in calls])
        return
    if not calls:
        err("No call is pending." if after is None else f"No call is newer than {after}.")
        return
    head = ("ID", "FOR", "USER", "SENSITIVITY", "UNTIL", "PROMPT")
    out(table(head, [_row(one) for one in calls]))
    if len(calls) == limit:
        err(f"help: toolmd pending --after {calls[-1].id} lists newer ones")


def _row(confirmation: Any) -> tuple[str, ...]:
    until = "-"
    if confirmation.expires is not None:
        until = f"{dt.datetime.fromtimestamp(confirmation.expires).astimezone():%H:%M:%S}"
    user = printable(confirmation.call.caller.user or "-")
    words = (confirmation.sensitivity, until, printable(confirmation.prompt))
    return (
        confirmation.id,
        {"confirm": "a yes", "review": "review"}[confirmation.kind],
        user,
        *words,
    )


def confirm(
    confirmation_id: ConfirmationIdArgument,
    *,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change an argument first; repeatable."),
    ] = None,
    user: DeciderOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Approve a pending call and run it.

    Without --user you decide as the operator, about the calls and reviews of all users. With --user
    you decide as that user, who can't approve another user's call or their own review. Changed
    arguments are checked again; a critical tool then needs another confirmation. Exit codes: 0
    done, 1 the tool failed, 3 denied or expired, 4 needs another confirmation, 5 unknown call.
    """
    from toolmd._cli.reports.outcomes import show_progress

    with open_workspace(project) as workspace:
        edit = _edit(workspace, confirmation_id, sets or [])
        result = workspace.confirmations.approve_sync(
            confirmation_id, edit, user=user, on_event=partial(show_progress, json=json)
        )
        warn_of_earlier(workspace, [result.tool])
        lines = _explained(workspace, confirmation_id, result)
    _end(result, lines, json=json)


def reject(
    confirmation_id: ConfirmationIdArgument,
    *,
    user: DeciderOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Reject a pending call: it never runs.

    Exit codes: 0 rejected, 3 denied or expired, 4 the run now has another question, 5 unknown
    call.
    """
    with open_workspace(project) as workspace:
        result = workspace.confirmations.reject_sync(confirmation_id, user=user)
        lines = _explained(workspace, confirmation_id, result)
    following = result.confirmation
    if result.error is not None and result.error.code == "rejected":
        if json:
            out_json(result.to_dict())
        else:
            err(f"rejected: {printable(result.tool)} will not run")
    elif following is None or json:
        _end(result, lines, json=json)
    else:
        err(f"rejected; the run now waits for: {printable(following.prompt)}")
        err(f"help: toolmd confirm {following.id}, or reject")
        raise typer.Exit(ExitCode.UNCONFIRMED)


def respond(
    confirmation_id: ConfirmationIdArgument,
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="The answer for the model; `-` reads it from stdin."),
    ],
    *,
    user: DeciderOption = None,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Answer a pending call in place of the tool; the tool never runs.

    Exit codes: 0 answered, 3 denied or expired, 4 the run now has another question, 5 unknown
    call.
    """
    if text == "-":
        text = read_stdin("the answer").decode(errors="replace").rstrip("\r\n")
    with open_workspace(project) as workspace:
        result = workspace.confirmations.respond_sync(confirmation_id, text, user=user)
        lines = _explained(workspace, confirmation_id, result)
    _end(result, lines, json=json)


def _edit(workspace: Any, confirmation_id: str, words: list[str]) -> dict[str, Any] | None:
    """Return the changed arguments, converted to the types of the tool's parameters."""
    from toolmd._cli.terminal.arguments import ArgumentFormError, typed_arguments

    if not words:
        return None
    confirmation = workspace.confirmations.get_sync(confirmation_id)
    bound = None if confirmation is None else workspace.tools.get(confirmation.call.tool)
    parameters = () if bound is None else bound.spec.parameters
    if confirmation is not None and confirmation.form is not None:
        parameters = fields_of(confirmation.form)
    try:
        given = typed_arguments(words, parameters)
    except ArgumentFormError as error:
        stop(ExitCode.USAGE, str(error), "write --set key=value")
    return given or None


def _explained(workspace: Any, confirmation_id: str, result: Any) -> list[str]:
    """Return what an unknown id is, or which command lists the known ones."""
    unknown = result.error is not None and result.error.code == "confirmation_not_found"
    return explained(workspace, confirmation_id) if unknown else []


def _end(result: Any, lines: list[str], *, json: bool) -> None:
    from toolmd._cli.reports.outcomes import exit_code, show_result

    if json:
        out_json(result.to_dict())
    else:
        show_result(result, again=False)
        for line in lines:
            err(line)
    raise typer.Exit(exit_code(result))
