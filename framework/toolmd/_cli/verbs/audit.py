"""`audit`: show the decision records, and verify that none was changed or removed."""

import datetime as dt
import sys
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from toolmd._cli.frame import Answer, ExitCode, stop
from toolmd._cli.screen import help_line, out, paint, plural, printable, table
from toolmd.config import load_settings

SHOWN = 100
"""How many records are shown where no number is given."""
_Outcome = Literal[
    "run", "deny", "confirm", "review", "answered", "superseded",
    "ok", "denied", "failed", "unknown",
]  # fmt: skip
"""A decision, or the outcome of a result."""
_STARTED = ("ok", "failed", "unknown")
"""The outcomes of results that one decision stands before."""
TimeOption = Annotated[str | None, typer.Option(metavar="TIME", help="2026-11-23, or …T09:30.")]


def audit(
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Check that no record was changed or removed.")
    ] = False,
    tool: Annotated[str | None, typer.Option(help="Only this tool's records.")] = None,
    user: Annotated[str | None, typer.Option(help="Only this user's records.")] = None,
    outcome: Annotated[
        _Outcome | None,
        typer.Option(help="Only these decisions, or those behind results with this outcome."),
    ] = None,
    conversation: Annotated[
        str | None, typer.Option(help="Only this conversation's records.")
    ] = None,
    since: TimeOption = None,
    until: TimeOption = None,
    before: Annotated[
        str | None, typer.Option(metavar="ID", help="Only records before this one.")
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="The most records, the latest ones.")
    ] = SHOWN,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", help="All records as lines of JSON, for other systems.")
    ] = False,
    json: bool,
    project: Path | None,
) -> Answer:
    """Show the latest decision records, one for each call, the oldest first.

    Each was written before the call had an effect. Exit code 1: a record is damaged or missing.
    """
    from toolmd._call.audit.reader import AuditReader, Wanted

    if json and jsonl:
        stop(ExitCode.USAGE, "--json and --jsonl are two forms", "give one of them")
    settings = load_settings(project)
    off = "note: the audit is off (`audit.enabled = false`); these records are from before"
    notes = [] if settings.audit.enabled else [off]
    reader = AuditReader(settings)
    decision: Any = {"denied": "deny", **dict.fromkeys(_STARTED, "run")}.get(outcome or "", outcome)
    if outcome in _STARTED:
        notes.append("note: a record is older than its call's effect: these are all that began")
    wanted = Wanted(
        tool, user, decision, conversation, _time("--since", since), _time("--until", until)
    )
    try:
        if verify:
            return _verify(reader, notes)
        if jsonl:
            for record in reader.records(wanted):
                out(dumps(record.to_dict()))
            return Answer(notes=notes)
        return _latest(reader, wanted, before, limit, notes)
    except (ValueError, OSError) as error:
        help_ = "" if verify else "`toolmd audit --verify` finds the first bad record"
        stop(ExitCode.FINDINGS, str(error), help_)


def _latest(reader: Any, wanted: Any, before: str | None, limit: int, notes: list[str]) -> Answer:
    latest = reader.latest(limit + 1, wanted, before)
    shown = latest[limit - 1 :: -1] if len(latest) > limit else latest[::-1]
    value = [one.to_dict() for one in shown]
    if not shown:
        narrowed = any(wanted) or before
        none = "No such decision has been" if narrowed else "No decision has been"
        return Answer(value, lines=[f"{none} recorded{'' if narrowed else ' yet'}."], notes=notes)
    if len(latest) > limit:
        earlier = f"These are the latest {limit}; `--before {shown[0].id}` shows earlier ones."
        notes.append(earlier)
    head = ("ID", "AT", "DECISION", "TOOL", "USER", "BY", "CALL", "WHY")
    return Answer(value, table(head, [_row(one.id, one.record) for one in shown]), notes=notes)


def _time(option: str, text: str | None) -> str | None:
    from toolmd._cli.arguments import past

    try:
        return None if text is None else past(text).astimezone(dt.UTC).isoformat()
    except ValueError as error:
        help_ = "write `2h ago`, `2026-05-04`, `2026-05-04T18:30`, or `2026-05-04T18:30Z`"
        stop(ExitCode.USAGE, f"{option} {error}", help_)


def _row(id_: str, record: dict[str, Any]) -> tuple[str, ...]:
    paths = (path if code == record.get("code") else f"{code} {path}".strip()
             for code, path in record.get("faults", ()))  # fmt: skip
    faults = ", ".join(filter(None, paths))
    why = ": ".join(part for part in (record.get("code", ""), faults) if part)
    cells = [record.get(key) or "-" for key in ("decision", "tool", "user", "by", "call")]
    at = str(record.get("at", "-"))[:19].replace("T", " ")
    return (id_, at, *(printable(str(cell)) for cell in cells), printable(why))


def _verify(reader: Any, notes: list[str]) -> Answer:
    verified = reader.verify()
    value = verified.to_dict()
    if verified.sound:
        sound = f"{plural(verified.records, 'record')}: all unchanged."
        return Answer(value, lines=[sound], notes=notes)
    what = f"record {verified.file}:{verified.first_bad}: {verified.problem}"
    lines = [
        f"{paint('error', 'red', sys.stderr)}: {what}",
        help_line("compare the records from there on with a copy"),
    ]
    return Answer(value, lines=lines, notes=notes, code=ExitCode.FINDINGS)
