"""Show log records while a command runs, a line each; traces only with TOOLMD_DEBUG."""

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolmd._cli.terminal.crash import DEBUG
from toolmd._cli.terminal.screen import err, paint, printable
from toolmd.errors import ImplementationError


@contextmanager
def log_in_lines() -> Iterator[None]:
    """Write each record to stderr as a line: the error, its reason, and the line of Python."""
    handler = _Lines()
    logger = logging.getLogger("toolmd")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    told = False

    def emit(self, record: logging.LogRecord) -> None:
        if os.environ.get(DEBUG):
            err(logging.Formatter().format(record))
            return
        said = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, ImplementationError):
            return  # the result contains all of it
        if error is not None:
            said += f": {type(error).__name__}: {error}".removesuffix(": ") + _place(error)
        err(f"{paint('log', 'dim', sys.stderr)}: {printable(said)}")
        if error is not None and not self.told:
            self.told = True
            err(f"{paint('help', 'cyan', sys.stderr)}: {DEBUG}=1 shows the whole trace")


def _place(error: BaseException) -> str:
    """Return the deepest line of the project's own Python, below the current folder."""
    here = Path.cwd()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(here) and not {"site-packages", ".venv", "venv"} & {*path.parts}:
            return f" ({path.relative_to(here)}:{frame.lineno})"
    return ""
