"""Show the end of a skill's run to a person, and return its exit code."""

import sys
from typing import TYPE_CHECKING, NoReturn

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import err, out_json, paint, printable

if TYPE_CHECKING:
    # `--help` must not import the model.
    from toolmd._types.result import Result


def end_run(result: "Result", *, json: bool, kept: bool = True) -> NoReturn:
    """Show a run's result, and stop with its exit code; `kept` runs can be resumed later."""
    if json:
        out_json(result.to_dict())
    else:
        show_skill_result(result)
    raise typer.Exit(_exit_code(result, kept=kept))


def show_skill_result(result: "Result") -> None:
    """Write the data to stdout, message and error to stderr."""
    from toolmd._cli.reports.outcomes import show_data

    if result.success:
        show_data(result.data or None)
        if result.message:
            err(result.message)
        return
    show_data(result.data or None)
    confirmation, failure = result.confirmation, result.error
    if result.outcome == "waiting":
        err(printable(result.message))
    elif failure is None:
        prompt = printable(result.message if confirmation is None else confirmation.prompt)
        err(f"{paint('waits for an answer', 'cyan', sys.stderr)}: {prompt}")
    elif failure.code == "stopped":
        err(f"{paint('stopped', 'yellow', sys.stderr)}: {printable(failure.message)}")
    else:
        ended = paint(result.outcome, "red", sys.stderr)
        err(f"{ended}[{failure.code}] {printable(failure.message)}")


def _exit_code(result: "Result", *, kept: bool) -> ExitCode:
    from toolmd._cli.reports.outcomes import exit_code

    if result.outcome == "waiting":
        resumes = f"toolmd runs resume {result.run_id}"
        err(f"help: a worker or server continues it then; without one: {resumes}")
    elif result.error is None and not result.success:
        err(f"help: {_way_on(result) if kept else 'answer on a terminal, or add --yes'}")
        return ExitCode.UNCONFIRMED
    if result.error is not None and result.error.code == "refused":
        return ExitCode.FINDINGS  # A person's no to a step is a normal end of a skill.
    return exit_code(result)


def _way_on(result: "Result") -> str:
    """Return the commands that answer the question of a run."""
    from toolmd._types.run import HAPPENED

    if result.confirmation is not None and result.confirmation.id.endswith(HAPPENED):
        return f"state it: toolmd runs resolve {result.run_id} --done or --not-done"
    return f"toolmd runs resume {result.run_id} [--yes]; toolmd pending lists the questions"
