"""Report a crash: a reference on the screen, the trace in a log."""

import os
import sys
from pathlib import Path

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import complain

DEBUG = "TOOLMD_DEBUG"
"""The variable that also shows the trace on the screen."""


def report_crash(trace: str) -> ExitCode:
    """Store the trace under a reference, and report its place."""
    # Imported here: commands that do not crash start faster without them.
    import secrets
    import tempfile

    if os.environ.get(DEBUG):
        sys.stderr.write(trace)
    reference = secrets.token_hex(4)
    try:
        folder = Path(tempfile.mkdtemp(prefix="toolmd-"))
        log = folder / f"crash-{reference}.log"
        log.write_text(trace, "utf-8")
        kept = f"The trace is in {log}."
    except OSError as error:
        kept = f"The trace could not be stored ({error}); {DEBUG}=1 shows it."
    complain(
        ExitCode.INTERNAL,
        f"Toolmd itself failed (reference {reference}). {kept}",
        f"run it again with {DEBUG}=1 to see more, and report it with that log",
    )
    return ExitCode.INTERNAL
