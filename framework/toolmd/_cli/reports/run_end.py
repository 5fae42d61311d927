"""What a run of a skill came to as a person reads it, and its exit code."""

import sys
from typing import Any, NoReturn

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import err, out_json, paint, printable
from toolmd._model.verdict import REFUSALS


def end_run(result: Any, *, json: bool, kept: bool = True) -> NoReturn:
    """Show what a run came to, and end with its exit code; one that is kept can be taken up."""
    if json:
        out_json(result.to_dict())
    else:
        show_skill_result(result)
    raise typer.Exit(_exit_code(result, kept=kept))


def show_skill_result(result: Any) -> None:
    """Write the data to stdout, message and error to stderr."""
    from toolmd._cli.reports.outcomes import show_data

    if result.success:
        show_data(result.data or None)
        if result.message:
            err(result.message)
        return
    show_data(result.data or None)
    said = printable(result.message or result.error or "")
    if result.code == "waiting":
        err(f"{paint('waits for an answer', 'cyan', sys.stderr)}: {said}")
    elif result.code == "stopped":
        err(f"{paint('stopped', 'yellow', sys.stderr)}: {said}")
    else:
        err(f"{paint('failed', 'red', sys.stderr)}[{result.code or 'failed'}] {said}")


def _exit_code(result: Any, *, kept: bool) -> ExitCode:
    if result.success:
        return ExitCode.DONE
    if result.code == "waiting":
        later = f"toolmd runs resume {result.run_id} [--yes]; toolmd pending shows what waits"
        err(f"help: {later if kept else 'answer on a terminal, or say --yes'}")
        return ExitCode.UNCONFIRMED
    return ExitCode.REFUSED if result.code in REFUSALS else ExitCode.FINDINGS
