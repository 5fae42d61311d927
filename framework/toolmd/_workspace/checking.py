"""Check each new snapshot in a thread of its own: its Python is imported, which may take long."""

import logging
import threading
from collections.abc import Callable

from toolmd._types.diagnostic import Diagnostic
from toolmd._workspace.listeners import Listeners

_log = logging.getLogger(__name__)
CheckListener = Callable[[tuple[Diagnostic, ...]], None]
"""Reads all diagnostics of the snapshot that was checked."""


class SnapshotChecker:
    """Collects the diagnostics after a change, and calls the listeners from its own thread."""

    def __init__(self, diagnostics: Callable[[], tuple[Diagnostic, ...]]) -> None:
        """`diagnostics` imports what there is to import, and returns everything that is found."""
        self._diagnostics = diagnostics
        self._lock = threading.Lock()
        self._wanted = False
        self._runs = False
        self.listeners: Listeners[tuple[Diagnostic, ...]] = Listeners("checks")

    def check_soon(self) -> None:
        """Begin a check; where one is under way, another follows it."""
        with self._lock:
            self._wanted = True
            if not self._runs:
                self._runs = True
                # A daemon: a process that ends waits for no import.
                threading.Thread(target=self._run, name="toolmd-check", daemon=True).start()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._wanted:
                    self._runs = False
                    return
                self._wanted = False
            try:
                self.listeners.tell(self._diagnostics())
            except Exception:  # noqa: BLE001 - nobody waits for it
                _log.exception("the check of the project failed; the next change is checked again")
