"""Read the audit for a page: the newest records, and whether none was changed."""

from typing import NamedTuple

from toolmd._call.audit.chain import Record
from toolmd._call.audit.reader import AuditReader, Verified
from toolmd._types.settings import Settings
from toolmd.errors import ToolmdError

SHOWN = 200
"""The number of records on a page."""


class AuditView(NamedTuple):
    """The records, the newest first, and the result of their verification."""

    kept: bool
    """Whether decisions are recorded."""
    decisions: tuple[Record, ...] = ()
    verified: Verified = Verified(0)
    problem: str = ""
    """Why the records could not be read."""


def read_audit(settings: Settings) -> AuditView:
    """Read and verify the project's decisions; report an unreadable file instead of raising."""
    reader, kept = AuditReader(settings), settings.audit.enabled
    try:
        verified = reader.verify()
        # A record that was tampered with may not be JSON any more.
        shown = reader.latest(SHOWN) if verified.sound else []
        return AuditView(kept, tuple(shown), verified)
    except (ValueError, OSError, ToolmdError) as error:
        return AuditView(kept, problem=str(error))
