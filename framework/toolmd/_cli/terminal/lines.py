"""Read the lines that a person types, or those of a file, for a conversation."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress

from toolmd._cli.screen import err, out, stdout


def lines() -> Iterator[str]:
    """Return the lines that a person types, or each non-empty line of a file."""
    if not sys.stdin.isatty():
        yield from filter(None, map(str.strip, sys.stdin))
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` edits lines with it
    err("Ctrl-C stops an answer, Ctrl-D exits.")
    while True:
        try:
            if stdout().isatty():
                with redirect_stdout(stdout()):  # on a terminal, lines can be edited
                    line = input("> ")
            else:
                sys.stderr.write("> ")
                sys.stderr.flush()
                line = sys.stdin.readline()
                if not line:
                    return
        except EOFError:
            out()
            return
        if line.strip():
            yield line.strip()


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C interrupt a wait for input; the event loop's own handler only records it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
