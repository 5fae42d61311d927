"""What the exit code of every verb means (docs/reference/commands.md)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Stable: scripts branch on these."""

    DONE = 0
    FINDINGS = 1
    """There are errors or warnings, or the tool failed."""
    USAGE = 2
    REFUSED = 3
    """Policy refused the call."""
    UNCONFIRMED = 4
    """A person must agree, and nobody did."""
    NOT_FOUND = 5
    """Nothing of this name, or it can't be reached."""
    INTERNAL = 70
