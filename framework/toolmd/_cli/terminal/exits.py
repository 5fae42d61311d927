"""The exit codes of all commands (docs/reference/commands.md)."""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes; they are stable, because scripts branch on them."""

    DONE = 0
    FINDINGS = 1
    """There are errors or warnings, or the tool failed."""
    USAGE = 2
    DENIED = 3
    """The call was denied."""
    UNCONFIRMED = 4
    """A person must agree, and nobody did."""
    NOT_FOUND = 5
    """The name is unknown, or the server can't be reached."""
    INTERNAL = 70
    INTERRUPTED = 130
    """Ctrl-C ended it, or a second signal ended a server before its calls did."""
