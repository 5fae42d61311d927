"""Show a result to a person, and return its exit code."""

import json
import sys
from typing import Any

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import err, out, out_json, paint, printable, stdout
from toolmd._types.result import Event, Result

_CODES = {
    "ok": ExitCode.DONE,
    "allowed": ExitCode.DONE,
    "denied": ExitCode.DENIED,
    "confirm": ExitCode.UNCONFIRMED,
    "review": ExitCode.UNCONFIRMED,
    "waiting": ExitCode.DONE,
    "failed": ExitCode.FINDINGS,
    "unknown": ExitCode.FINDINGS,
}
_NOT_FOUND = {"unknown_tool", "confirmation_not_found"}


def exit_code(result: Result) -> ExitCode:
    """Return the exit code of a result; an unknown name or id is "not found"."""
    if result.error is not None and result.error.code in _NOT_FOUND:
        return ExitCode.NOT_FOUND
    return _CODES[result.outcome]


def show_result(result: Result, *, again: bool = True) -> None:
    """Write the data to stdout, and everything else to stderr.

    Args:
        result: The result to show.
        again: Whether to suggest the same command with --yes if a person must agree.
    """
    if result.success:
        if result.outcome == "allowed":
            err(paint("would run", "green", sys.stderr) + f": {result.tool} (dry run)")
        show_data(result.data)
        if result.message and result.message != result.data:
            err(result.message)
    else:
        _show_failure(result, again=again)
    for note in result.notes:
        err(f"note: {note}")
    if result.truncated:
        cut = " and ".join(key for key in ("rows", "bytes") if result.truncated.get(key))
        err(f"note: the result was cut at its limit of {cut}")
        if read_on := result.truncated.get("next"):
            err(f"note: for the rest, call it with {json.dumps(read_on, ensure_ascii=False)}")


def show_progress(event: Event, *, json: bool) -> None:
    """Show that a call waits for its Rate; on a terminal, also the progress that a tool reports.

    Args:
        event: The event of the call.
        json: Whether the result is shown as JSON, and so without the tool's progress.
    """
    wanted = sys.stderr.isatty() and not json
    if event.kind == "progress" and (wanted or "wait_s" in event.data):
        fraction = event.data["fraction"]
        share = "" if fraction is None else f"{fraction:4.0%} "
        err(paint(f"{share}{printable(event.data['text'])}", "dim", sys.stderr))


def show_data(data: Any) -> None:
    """Write data to stdout: text without control characters on a terminal, the rest as JSON."""
    if isinstance(data, str):
        out("\n".join(map(printable, data.split("\n"))) if stdout().isatty() else data)
    elif data is not None:
        out_json(data)


def _show_failure(result: Result, *, again: bool) -> None:
    failure = result.error
    code = f"[{failure.code}]" if failure else ":"
    said = (failure.message if failure else "") or result.message
    err(f"{paint(result.outcome, 'red', sys.stderr)}{code} {said}")
    for problem in failure.details if failure else ():
        if problem.message not in said:
            err(f"  {problem.message}")
    if result.confirmation is not None:
        confirmation = result.confirmation
        err(f"  {confirmation.prompt}")
        # The caller can't decide about a review.
        again = again and result.outcome == "confirm"
        first = "run it again with --yes, or decide later: " if again else ""
        if confirmation.id:
            err(f"help: {first}toolmd confirm {confirmation.id}")
    if failure and failure.retry_after_ms is not None:
        err(f"help: try again in {failure.retry_after_ms} ms")
