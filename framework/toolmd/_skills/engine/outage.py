"""Log a lasting error when it begins and when it ends, not at each try."""

import logging


class Outage:
    """An operation that fails at the moment and is repeated."""

    def __init__(self, logger: logging.Logger, what: str, again: str) -> None:
        """Set the log messages: `what` for the begin, with the reason, and `again` for the end."""
        self._logger = logger
        self._what = what
        self._again = again
        self._kind: type[Exception] | None = None

    def met(self, error: Exception, *, crash: bool = False) -> None:
        """Log an error unless the last try had the same one; a `crash` with its traceback."""
        if type(error) is not self._kind:
            self._logger.warning("%s: %s", self._what, error, exc_info=error if crash else None)
        self._kind = type(error)

    def over(self) -> None:
        """Log that the operation works again, if it failed before."""
        if self._kind is not None:
            self._logger.warning("%s", self._again)
        self._kind = None
