"""End a server on the pipe at Ctrl-C, although the thread that reads the pipe can't be woken."""

import os
import signal
import threading
from collections.abc import Callable


def end_at_interrupt(close: Callable[[], None]) -> None:
    """At an interrupt or SIGTERM close what serves, in a thread, and end; at a second one at once.

    Takes the place of the event loop's own handler, so it is called when the loop runs.
    """

    def ended(*_: object) -> None:
        for number in _SIGNALS:
            signal.signal(number, lambda *_: os._exit(0))
        threading.Thread(target=closing, daemon=True).start()

    def closing() -> None:
        try:
            close()
        finally:
            os._exit(0)

    for number in _SIGNALS:
        signal.signal(number, ended)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
