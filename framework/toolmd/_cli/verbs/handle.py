"""`handle`: run the calls of a model's whole reply, read from stdin."""

from functools import partial
from typing import Annotated, Any

import typer

from toolmd._cli.project.opening import open_workspace
from toolmd._cli.reports.earlier import warn_of_earlier
from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import (
    ContextOption,
    DryRunOption,
    JsonOption,
    MessageOption,
    ProjectOption,
    UserOption,
    context_of,
    new_conversation,
)
from toolmd._cli.terminal.screen import (
    Paint,
    err,
    out,
    out_json,
    paint,
    printable,
    read_stdin,
    stdout,
)

MOST = 1024 * 1024
"""The most bytes of a reply to read; more than a quarter of it is denied anyway."""
_DIALECTS = "auto, openai, openai-responses, anthropic, gemini, inline, action, plan"
_PAINTS: dict[str, Paint] = {
    **dict.fromkeys(("ok", "allowed"), "green"),
    **dict.fromkeys(("confirm", "review", "waiting"), "cyan"),
}
_WORST = (
    ExitCode.FINDINGS,
    ExitCode.DENIED,
    ExitCode.NOT_FOUND,
    ExitCode.UNCONFIRMED,
    ExitCode.DONE,
)


def handle(
    *,
    dialect: Annotated[
        str,
        typer.Option(metavar="NAME", help=f"The model's call format: {_DIALECTS}, or a plugin's."),
    ] = "auto",
    message: MessageOption = "",
    user: UserOption = None,
    context: ContextOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Run the calls of a model's reply, read from stdin.

    Exit code, the worst of its calls: 1 a tool failed, 3 denied, 5 unknown tool, 4 not confirmed,
    0 done.
    """
    from toolmd._cli.reports.outcomes import exit_code, show_progress

    reply = read_stdin("the model's reply", MOST)
    with open_workspace(project) as workspace:
        turn = workspace.handle_sync(
            reply,
            dialect,
            message=message,
            user=user,
            context=context_of(context),
            conversation=new_conversation(),
            dry_run=dry_run,
            on_event=partial(show_progress, json=json),
        )
        warn_of_earlier(workspace, [result.tool for result in turn.results])
    if json:
        out_json(turn.to_dict())
    else:
        _show(turn)
    raise typer.Exit(min(map(exit_code, turn.results), key=_WORST.index, default=ExitCode.DONE))


def _show(turn: Any) -> None:
    if turn.clean_message:
        text = turn.clean_message
        out("\n".join(map(printable, text.split("\n"))) if stdout().isatty() else text)
    if turn.results and turn.clean_message:
        out()
    for result in turn.results:
        out(_line(result))
        for note in result.notes:
            err(f"note: {printable(note)}")
    for confirmation in turn.pending:
        if confirmation.id:
            err(f"help: toolmd confirm {confirmation.id}, or reject, or respond with a text")


def _line(result: Any) -> str:
    """Format one result as a line: its outcome, its tool, and its message or data."""
    from json import dumps

    code = f"[{result.error.code}]" if result.error else ""
    if result.confirmation is not None:
        said = result.confirmation.prompt
    elif result.error is not None:
        said = result.error.message
    else:
        data = result.data
        said = result.message or ("" if data is None else dumps(data, ensure_ascii=False))
    outcome = paint(result.outcome, _PAINTS.get(result.outcome, "red")) + code
    tool = f" {printable(result.tool)}" if result.tool else ""
    return f"{outcome}{tool}{': ' if said else ''}{printable(said)}"
