"""Report when a burst of changes is over: a machine over changes and the time, and nothing else."""

SETTLE_S = 0.15
"""How long nothing must change before the files are read, in seconds."""
BUSY_S = 0.05
"""How often to look whether others are done, in seconds."""


class Settler:
    """Waits until no change has come for a while and no write is under way."""

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        """Wait for `settle_s` seconds after the last change."""
        self._settle_s = settle_s
        self._last: float | None = None

    def changed(self, now: float) -> None:
        """Record a change; `now` is in seconds and never goes back."""
        self._last = now

    def wait(self, now: float, *, busy: bool = False) -> float | None:
        """Return the seconds until the next check; None where nothing has changed.

        Zero means that the burst is over: it is returned once, and then the next burst begins.
        """
        if self._last is None:
            return None
        left = self._last + self._settle_s - now
        if left > 0:
            return left
        if busy:
            return BUSY_S
        self._last = None
        return 0.0
