"""Read the audit trail for a page: the newest records, and whether the chain holds."""

import sqlite3
from typing import NamedTuple

from toolmd._call.audit.chain import AUDIT_FILE, Audit, Record
from toolmd._types.settings import Settings

SHOWN = 200
"""How many records a page holds."""


class AuditView(NamedTuple):
    """The records, the newest first, and what their verification found."""

    kept: bool
    """Whether decisions are recorded at all."""
    decisions: tuple[Record, ...] = ()
    total: int = 0
    first_bad: int | None = None
    """The number of the first record that does not fit the chain."""
    problem: str = ""
    """Why the file could not be read."""


def read_audit(settings: Settings) -> AuditView:
    """Read and verify the project's decisions; a file that can't be read is told, not raised."""
    file = settings.state / AUDIT_FILE
    if not Audit.is_kept(file):
        return AuditView(settings.audit)
    audit = Audit(file)
    try:
        bad, count = audit.verify(), audit.count()
        if bad is not None:
            # What a record says that was tampered with may be no JSON any more.
            return AuditView(settings.audit, (), count, bad)
        return AuditView(settings.audit, tuple(audit.latest(count + 1, SHOWN)), count)
    except (sqlite3.Error, ValueError, OSError) as error:
        return AuditView(settings.audit, problem=str(error))
    finally:
        audit.close()
