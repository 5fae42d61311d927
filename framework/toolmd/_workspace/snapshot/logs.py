"""Open the audit's log once for all snapshots of a workspace."""

from threading import Lock
from typing import TYPE_CHECKING

from toolmd._store.store import Store
from toolmd._types.settings import AuditSettings, Settings

if TYPE_CHECKING:
    from toolmd._call.audit.log import AuditLog


class Logs:
    """The logs of a workspace: one for each `[audit]` that was live; they outlive snapshots."""

    def __init__(self, store: Store) -> None:
        """Keep the store, which notes the newest records."""
        self.store = store
        self._lock = Lock()
        self._logs: dict[AuditSettings, AuditLog] = {}

    def log_of(self, settings: Settings) -> "AuditLog | None":
        """Return the log of these settings; None where the audit is off."""
        # Only with the first call: what only looks at definitions does not import it.
        from toolmd._call.audit.log import log_of

        with self._lock:
            log = self._logs.get(settings.audit) or log_of(settings, self.store)
            if log is not None:
                self._logs[settings.audit] = log
            return log

    def close(self) -> None:
        """Note the newest records, and close the logs."""
        with self._lock:
            logs, self._logs = self._logs, {}
        for log in logs.values():
            log.close()
