"""`audit`: show the decision records, and verify that none was changed."""

from pathlib import Path
from typing import Annotated, Any

import typer

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.options import JsonOption, ProjectOption, project_of, stop
from toolmd._cli.terminal.screen import counted, err, out, out_json, printable, table


def add(app: typer.Typer) -> None:
    """Add the command."""
    app.command("audit", rich_help_panel="Run")(audit)


def audit(
    ctx: typer.Context,
    *,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Verify the chain of hashes; exit with 1 at a bad record."),
    ] = False,
    json: JsonOption = False,
    project: ProjectOption = None,
) -> None:
    """Show the decision records, one for each call, the oldest first.

    Each was written before the call had an effect. Exit code 1: a record is damaged or missing.
    """
    import sqlite3

    from toolmd.config import load_settings

    settings = load_settings(project_of(ctx, project))
    if not settings.audit:
        err("note: the audit is off (`audit = false`); these records are from before")
    from toolmd._call.audit.chain import AUDIT_FILE

    file = settings.state / AUDIT_FILE
    try:
        if verify:
            _verify(file, json=json)
        else:
            _show(file, json=json)
    except (sqlite3.Error, ValueError) as error:
        help_ = "the file was damaged: `toolmd audit --verify` finds the first bad record"
        stop(ExitCode.FINDINGS, f"{file}: {error}", "" if verify else help_)


def _show(file: Path, *, json: bool) -> None:
    decisions = _read(file, lambda kept: list(kept.decisions())) or []
    if json:
        out_json([{"number": d.number, **d.record, "hash": d.hash} for d in decisions])
    elif not decisions:
        err("No decision has been recorded yet.")
    else:
        head = ("NUMBER", "AT", "DECISION", "TOOL", "USER", "CALL", "WHY")
        out(table(head, [_row(d.number, d.record) for d in decisions]))


def _row(number: int, record: dict[str, Any]) -> tuple[str, ...]:
    faults = ", ".join(f"{code} {path}".strip() for code, path in record.get("faults", ()))
    why = ": ".join(part for part in (record.get("code", ""), faults) if part)
    cells = [record.get(key) or "-" for key in ("decision", "tool", "user", "call")]
    at = str(record.get("at", "-"))[:19].replace("T", " ")
    return (str(number), at, *(printable(str(cell)) for cell in cells), printable(why))


def _verify(file: Path, *, json: bool) -> None:
    found = _read(file, lambda kept: (kept.verify(), kept.count()))
    bad, number = found or (None, 0)
    if json:
        out_json({"sound": bad is None, "records": number, "first_bad": bad})
    elif bad is None:
        err(f"{counted(number, 'record')}: all unchanged.")
    if bad is not None:
        if json:
            raise typer.Exit(ExitCode.FINDINGS)
        what = f"record {bad} was changed, or a record before it is missing"
        help_ = "compare the records from there on with a copy"
        if bad > number:
            what = f"the newest records are missing, from {bad} on, or the mark of the newest is"
            help_ = f"compare {file} and {file.with_suffix('.newest').name} with a copy"
        stop(ExitCode.FINDINGS, what, help_)


def _read(file: Path, ask: Any) -> Any:
    """Query the audit in this file; None if there is no file, which is not created then."""
    from toolmd._call.audit.chain import Audit

    if not Audit.is_kept(file):
        return None
    kept = Audit(file)
    try:
        return ask(kept)
    finally:
        kept.close()
