"""`audit`: show the decision records, and verify that none was changed or removed."""

import datetime as dt
from json import dumps
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.moment import past
from toolmd._cli.terminal.options import JsonOption, ProjectOption, stop
from toolmd._cli.terminal.screen import complain, counted, err, out, out_json, printable, table
from toolmd.config import load_settings

if TYPE_CHECKING:
    from toolmd._call.audit.reader import AuditReader, Wanted

SHOWN = 100
"""How many records are shown where no number is given."""

VerifyOption = Annotated[
    bool,
    typer.Option(
        "--verify", help="Check that no record was changed or removed; exit with 1 if one was."
    ),
]
OutcomeOption = Annotated[
    Literal["run", "deny", "confirm", "review", "answered"] | None,
    typer.Option("--outcome", help="Only these decisions."),
]
ConversationOption = Annotated[
    str | None, typer.Option("--conversation", help="Only this conversation's records.")
]
SinceOption = Annotated[
    str | None,
    typer.Option("--since", help="Only records from this time on: `2026-11-23` or `…T09:30`."),
]
UntilOption = Annotated[str | None, typer.Option("--until", help="Only records before this time.")]
BeforeOption = Annotated[
    str | None,
    typer.Option("--before", help="Only records before the one with this id, as the last page."),
]
LimitOption = Annotated[
    int | None,
    typer.Option(
        "--limit", min=1, help=f"The most records, the latest ones; {SHOWN} unless given."
    ),
]
JsonlOption = Annotated[
    bool, typer.Option("--jsonl", help="All records as lines of JSON, for other systems.")
]


def audit(
    *,
    verify: VerifyOption = False,
    tool: Annotated[str | None, typer.Option("--tool", help="Only this tool's records.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Only this user's records.")] = None,
    outcome: OutcomeOption = None,
    conversation: ConversationOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    before: BeforeOption = None,
    limit: LimitOption = None,
    jsonl: JsonlOption = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show the latest decision records, one for each call, the oldest first.

    Each was written before the call had an effect. Exit code 1: a record is damaged or missing.
    """
    from toolmd._call.audit.reader import AuditReader, Wanted

    settings = load_settings(project)
    if not settings.audit.enabled:
        err("note: the audit is off (`audit.enabled = false`); these records are from before")
    reader = AuditReader(settings)
    wanted = Wanted(tool, user, outcome, conversation, _time("--since", since),
                    _time("--until", until))  # fmt: skip
    try:
        if verify:
            _verify(reader, json=json)
        elif jsonl:
            for record in reader.records(wanted):
                out(dumps(record.to_dict()))
        else:
            _show(reader, wanted, before, limit or SHOWN, json=json)
    except (ValueError, OSError) as error:
        help_ = "" if verify else "`toolmd audit --verify` finds the first bad record"
        stop(ExitCode.FINDINGS, str(error), help_)


def _time(option: str, text: str | None) -> str | None:
    return None if text is None else past(text, option).astimezone(dt.UTC).isoformat()


def _show(
    reader: "AuditReader", wanted: "Wanted", before: str | None, limit: int, *, json: bool
) -> None:
    latest = reader.latest(limit + 1, wanted, before)
    shown = latest[limit - 1 :: -1] if len(latest) > limit else latest[::-1]
    if json:
        out_json([one.to_dict() for one in shown])
    elif not shown:
        err("No such decision has been recorded." if any(wanted) or before else
            "No decision has been recorded yet.")  # fmt: skip
    else:
        head = ("ID", "AT", "DECISION", "TOOL", "USER", "BY", "CALL", "WHY")
        out(table(head, [_row(one.id, one.record) for one in shown]))
    if len(latest) > limit:
        err(f"These are the latest {limit}; `--before {shown[0].id}` shows earlier ones.")


def _row(id_: str, record: dict[str, Any]) -> tuple[str, ...]:
    told = (path if code == record.get("code") else f"{code} {path}".strip()
            for code, path in record.get("faults", ()))  # fmt: skip
    faults = ", ".join(filter(None, told))
    why = ": ".join(part for part in (record.get("code", ""), faults) if part)
    cells = [record.get(key) or "-" for key in ("decision", "tool", "user", "by", "call")]
    at = str(record.get("at", "-"))[:19].replace("T", " ")
    return (id_, at, *(printable(str(cell)) for cell in cells), printable(why))


def _verify(reader: "AuditReader", *, json: bool) -> None:
    verified = reader.verify()
    if json:
        out_json(verified.to_dict())
    elif verified.sound:
        err(f"{counted(verified.records, 'record')}: all unchanged.")
    else:
        what = f"record {verified.file}:{verified.first_bad}: {verified.problem}"
        complain(ExitCode.FINDINGS, what, "compare the records from there on with a copy")
    if not verified.sound:
        raise typer.Exit(ExitCode.FINDINGS)
