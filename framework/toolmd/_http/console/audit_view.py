"""Read the audit for a page: the newest records, and whether their chain is valid."""

import sqlite3
from typing import NamedTuple

from toolmd._call.audit.chain import AUDIT_FILE, Audit, Record
from toolmd._types.settings import Settings

SHOWN = 200
"""The number of records on a page."""


class AuditView(NamedTuple):
    """The records, the newest first, and the result of their verification."""

    kept: bool
    """Whether decisions are recorded."""
    decisions: tuple[Record, ...] = ()
    total: int = 0
    first_bad: int | None = None
    """The number of the first record that does not fit the chain."""
    problem: str = ""
    """Why the file could not be read."""


def read_audit(settings: Settings) -> AuditView:
    """Read and verify the project's decisions; report an unreadable file instead of raising."""
    file = settings.state / AUDIT_FILE
    if not Audit.is_kept(file):
        return AuditView(settings.audit)
    audit = Audit(file)
    try:
        bad, count = audit.verify(), audit.count()
        if bad is not None:
            # A record that was tampered with may not be JSON any more.
            return AuditView(settings.audit, (), count, bad)
        return AuditView(settings.audit, tuple(audit.latest(count + 1, SHOWN)), count)
    except (sqlite3.Error, ValueError, OSError) as error:
        return AuditView(settings.audit, problem=str(error))
    finally:
        audit.close()
