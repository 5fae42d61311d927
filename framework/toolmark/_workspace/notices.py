"""Notices of what runs and decisions come to, whichever door they came through."""

import logging
from collections.abc import Callable
from typing import Any, Literal

_log = logging.getLogger(__name__)
NoticeKind = Literal["pending", "run", "run-step"]
"""A held call was decided; a run came to another state; a run took a step."""
NoticeListener = Callable[[NoticeKind, dict[str, Any], str | None], None]
"""Hears what kind of thing happened, its JSON, and whose it is: the user, None for nobody's."""


class Notices:
    """Those who listen; what one of them raises is logged."""

    def __init__(self) -> None:
        self._listeners: list[NoticeListener] = []

    @property
    def subscribed(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners)

    def subscribe(self, listener: NoticeListener) -> Callable[[], None]:
        """Have `listener` called, by the thread in which it happens; gives what ends it."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def __call__(self, kind: NoticeKind, data: dict[str, Any], user: str | None) -> None:
        """Tell them."""
        for listener in tuple(self._listeners):
            try:
                listener(kind, data, user)
            except Exception:  # noqa: BLE001 - it only listens
                _log.exception("a listener to runs and decisions failed")
