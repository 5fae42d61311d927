"""Read the audit for a page: the newest wanted records, and whether none was changed."""

from typing import NamedTuple

from toolmd._call.audit.chain import Record
from toolmd._call.audit.reader import ALL, AuditReader, Verified, Wanted
from toolmd._types.settings import Settings
from toolmd.errors import ToolmdError

SHOWN = 200
"""The most records on a page."""


class AuditView(NamedTuple):
    """The records, the newest first, and the result of their verification."""

    kept: bool
    """Whether decisions are recorded."""
    decisions: tuple[Record, ...] = ()
    more: bool = False
    """Whether there are older wanted records."""
    verified: Verified = Verified(0)
    problem: str = ""
    """Why the records could not be read."""


def read_audit(settings: Settings, wanted: Wanted = ALL, before: str | None = None) -> AuditView:
    """Read and verify the project's decisions; report an unreadable file instead of raising.

    Args:
        settings: The project's settings.
        wanted: Which records to return.
        before: The id of a record; only earlier ones are returned.
    """
    reader, kept = AuditReader(settings), settings.audit.enabled
    try:
        verified = reader.verify()
        # A record that was tampered with may not be JSON any more.
        found = reader.latest(SHOWN + 1, wanted, before) if verified.sound else []
        return AuditView(kept, tuple(found[:SHOWN]), len(found) > SHOWN, verified)
    except (ValueError, OSError, ToolmdError) as error:
        return AuditView(kept, problem=str(error))
