"""Tell of trouble that lasts when it begins and when it is over, not each time it is met."""

import logging


class Outage:
    """What can't be done at the moment, tried again and again."""

    def __init__(self, logger: logging.Logger, what: str, again: str) -> None:
        """`what` is told when it begins, with the reason; `again` when it is over."""
        self._logger = logger
        self._what = what
        self._again = again
        self._kind: type[Exception] | None = None

    def met(self, error: Exception, *, crash: bool = False) -> None:
        """Tell of trouble, unless the last try met its like; a `crash` with its traceback."""
        if type(error) is not self._kind:
            self._logger.warning("%s: %s", self._what, error, exc_info=error if crash else None)
        self._kind = type(error)

    def over(self) -> None:
        """Say that it went well, where it did not before."""
        if self._kind is not None:
            self._logger.warning("%s", self._again)
        self._kind = None
