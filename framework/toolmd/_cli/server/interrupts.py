"""End a server on stdio at Ctrl-C, although the thread that reads the pipe can't be woken."""

import os
import signal
import threading
from collections.abc import Callable

from toolmd._cli.frame import ExitCode


def end_at_interrupt(close: Callable[[], None]) -> None:
    """Call `close` in a thread at SIGINT or SIGTERM, then exit; exit at once at a second signal.

    This replaces the event loop's own handler, so call it after the loop has started.
    """

    def ended(*_: object) -> None:
        for number in _SIGNALS:
            signal.signal(number, lambda *_: os._exit(ExitCode.INTERRUPTED))
        threading.Thread(target=closing, daemon=True).start()

    def closing() -> None:
        try:
            close()
        finally:
            os._exit(0)

    for number in _SIGNALS:
        signal.signal(number, ended)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
