"""Log warnings that clients can cause at most once a minute, so that they can't fill the log."""

import logging
import time

logger = logging.getLogger(__name__)

AGAIN_S = 60.0
"""The time until the same warning is logged again, in seconds."""


class Warnings:
    """A logger that repeats a warning only after a minute."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def warn(self, message: str, *values: object) -> None:
        """Log `message % values`, unless this message was logged less than a minute ago."""
        now = time.monotonic()
        if now - self._last.get(message, now - AGAIN_S) >= AGAIN_S:
            self._last[message] = now
            logger.warning(message, *values)
