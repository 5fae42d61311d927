"""Explain an id of another kind: a run's where a pending call is needed, and the reverse."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import stop
from toolmd._cli.terminal.screen import printable
from toolmd.errors import NotFoundError


def explained(workspace: Any, given: str) -> list[str]:
    """Return how to answer the run of this id, or else which command lists the pending calls."""
    try:
        view = workspace.runs.get_sync(given)
    except NotFoundError:
        return ["help: toolmd pending lists the calls that wait, and the questions of runs"]
    asked = [question for question in view.questions if question.asks]
    lines: list[str] = []
    for question in asked:
        lines.append(f"{given} is a run; it asks: {printable(question.prompt)}")
        lines.append(f"help: toolmd confirm {given}/{question.key}, or reject")
    nothing = f"{given} is a run, which asks nothing now; its state is {view.state}"
    return lines or [nothing, f"help: toolmd runs show {given}"]


@contextmanager
def run_of(workspace: Any, given: str) -> Iterator[None]:
    """Exit with an explanation where the unknown run `given` is a pending call or a question."""
    try:
        yield
    except NotFoundError:
        if workspace.confirmations.get_sync(given) is None:
            raise
        run_id = given.partition("/")[0] if "/" in given else ""
        what = f"a question of run {run_id}" if run_id else "a pending call"
        help_ = f"toolmd confirm {given}, or reject"
        if run_id:
            help_ += f"; toolmd runs show {run_id} shows the run"
        stop(ExitCode.NOT_FOUND, f"{given} is {what}, not a run", help_)
