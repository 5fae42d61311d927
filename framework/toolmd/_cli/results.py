"""Show the results of calls and runs: lines for a person, exit codes, and the records of a run."""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from toolmd._cli.frame import Answer, ExitCode
from toolmd._cli.screen import Paint, as_json, err, for_people, paint, printable
from toolmd._types.code import CONSEQUENCES
from toolmd._types.diagnostic import Severity
from toolmd._types.result import Event, Result
from toolmd._types.run import HAPPENED

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
_BEGUN = re.compile(r":begun(?P<number>\d+)(?P<answer>:\w+)?$")
_MOST = 3
"""The most weakened restrictions to name; `toolmd accept` lists all."""


def exit_code(result: Result) -> ExitCode:
    """Return the exit code of a result; an unknown name or id is "not found"."""
    if result.error is not None and result.error.code in _NOT_FOUND:
        return ExitCode.NOT_FOUND
    return _CODES[result.outcome]


def call_answer(result: Result, *, again: bool = False) -> Answer:
    """Return the answer of a call; with `again`, suggest the same command with --yes."""
    lines: list[str] = []
    if not result.success:
        lines += _failure(result, again=again)
    elif result.outcome == "allowed":
        lines.append(f"{_paint('would run', 'green')}: {result.tool} (dry run)")
    if result.success and result.message and result.message != result.data:
        lines.append(result.message)
    lines += [f"note: {note}" for note in result.notes]
    if result.truncated:
        cut = " and ".join(key for key in ("rows", "bytes") if result.truncated.get(key))
        lines.append(f"note: the result was cut at its limit of {cut}")
    text = data_text(result.data) if result.success else None
    return Answer(result.to_dict(), text, lines, exit_code(result))


def data_text(data: Any) -> str | None:
    """Return data as text: without control characters on a terminal, other values as JSON."""
    if isinstance(data, str):
        return for_people(data)
    return None if data is None else as_json(data)


def _failure(result: Result, *, again: bool) -> Iterator[str]:
    failure, asked = result.error, result.confirmation
    code = f"[{failure.code}]" if failure else ":"
    message = (failure.message if failure else "") or result.message
    if asked is not None:
        message = f"{result.tool} waits. {message}"
    details = list(failure.details if failure else ())
    if len(details) > 1 and details[0].message in message:
        message = f"{len(details)} problems:"
    yield f"{_paint(result.outcome, 'red')}{code} {message}"
    yield from (f"  {one.message}" for one in details if one.message not in message)
    if asked is not None:
        yield f"  {asked.prompt}"
        # The caller can't decide about a review.
        first = "run it again with --yes, or decide later: "
        if asked.id:
            again = again and result.outcome == "confirm"
            whose = (
                " --user NAME --role ROLE" if result.outcome == "review" and asked.approvals else ""
            )
            yield f"help: {first if again else ''}toolmd confirm {asked.id}{whose}"
    if failure and failure.code == "confirmation_not_found":
        yield "help: toolmd pending lists the calls that wait, and the questions of runs"
    if failure and failure.retry_after_ms is not None:
        yield f"help: try again in {_duration(failure.retry_after_ms)}"


def _duration(milliseconds: float) -> str:
    """Return a duration in the unit that people would use."""
    seconds = milliseconds / 1000
    for size, unit in ((3600, "h"), (60, "min"), (1, "s")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{milliseconds:.0f} ms"


def show_progress(event: Event, *, json: bool) -> None:
    """Show that a call waits for its Rate; on a terminal, also the progress that a tool reports."""
    wanted = sys.stderr.isatty() and not json
    if event.kind == "progress" and (wanted or "wait_s" in event.data):
        fraction = event.data["fraction"]
        share = "" if fraction is None else f"{fraction:4.0%} "
        err(paint(f"{share}{printable(event.data['text'])}", "dim", sys.stderr))


def run_answer(result: Result, *, stored: bool = True) -> Answer:
    """Return the answer of a run; a `stored` run can be resumed later."""
    asked, failure, lines = result.confirmation, result.error, []
    code, way = exit_code(result), ""
    if result.success:
        lines += [result.message] if result.message else []
    elif result.outcome == "waiting":
        lines.append(printable(result.message))
        resume = f"toolmd runs resume {result.run_id}"
        way = f"a worker or server continues it then; without one: {resume}"
    elif failure is None:
        prompt = printable(result.message if asked is None else asked.prompt)
        lines.append(f"{_paint('waits for an answer', 'cyan')}: {prompt}")
        way, code = "answer on a terminal, or add --yes", ExitCode.UNCONFIRMED
        if stored and asked is not None and asked.id.endswith(HAPPENED):
            done = "--done" if asked.saves is None else "--done --result JSON"
            way = f"state it: toolmd runs resolve {result.run_id} {done} or --not-done"
        elif stored:
            way = f"toolmd runs resume {result.run_id} [--yes]; toolmd pending lists the questions"
    elif failure.code == "stopped":
        lines.append(f"{_paint('stopped', 'yellow')}: {printable(failure.message)}")
    else:
        lines.append(
            f"{_paint(result.outcome, 'red')}[{failure.code}] {printable(failure.message)}"
        )
    if failure is not None and failure.code == "refused":
        code = ExitCode.FINDINGS  # A person's no to a step is a normal end of a skill.
    notes = [f"help: {way}"] if way else []
    return Answer(result.to_dict(), data_text(result.data or None), lines, code, notes)


def record_words(entry: Any) -> tuple[str, str]:
    """Return the step and the outcome of a record; a call that begins has a record of its own."""
    value = entry.value
    if (begun := _BEGUN.search(entry.key)) is not None:
        step = entry.key[: begun.start()]
        if begun["answer"]:
            return step, "took effect" if value["approved"] else "took no effect"
        return step, "began" if begun["number"] == "1" else "began again"
    if entry.key.endswith(":wait"):
        return entry.key, "waited"
    if isinstance(value, dict) and "outcome" in value:
        return entry.key, value["outcome"] + (f"[{value['code']}]" if value.get("code") else "")
    if isinstance(value, dict) and "approved" in value:
        return entry.key, "yes" if value["approved"] else "no"
    return entry.key, "done"


def warn_of_earlier(workspace: Any, names: Iterable[str]) -> None:
    """Warn if tools and skills run as an earlier version: the file is broken, or its edit waits."""
    registry = workspace.registry
    for name in dict.fromkeys(names):
        bound = registry.tools.get(name) or registry.skills.get(name)
        warnings = [_of_broken(registry, bound)] if bound is not None and bound.stale else []
        if bound is not None:
            warnings += [_of_edit(edit) for edit in registry.pending_changes if edit.name == name]
        for warning in warnings:
            err(f"{_paint('warning', 'yellow')}: {printable(warning)}")


def _of_broken(registry: Any, bound: Any) -> str:
    files = {found.path for found in bound.diagnostics if found.code in CONSEQUENCES}
    errors = (d for d in registry.diagnostics if d.severity is Severity.ERROR and d.path in files)
    first = next(errors, None)
    place = f" ({first.path}:{first.line}: {first.message})" if first is not None else ""
    return (
        f"the last good version of {bound.name} runs, because its file is broken{place}; "
        "`toolmd check` shows every error"
    )


def _of_edit(edit: Any) -> str:
    dropped = "; ".join(str(one) for one in edit.weakened[:_MOST])
    more = f"; {len(edit.weakened) - _MOST} more" if len(edit.weakened) > _MOST else ""
    return (
        f"{edit.name} runs with its stricter earlier policy, because the edit of {edit.path} "
        f"weakens it ({dropped}{more}); `toolmd accept {edit.name}` accepts the edit"
    )


def _paint(text: str, how: Paint) -> str:
    return paint(text, how, sys.stderr)
