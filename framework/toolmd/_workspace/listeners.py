"""Those who listen while a workspace works: each is told, and none stands in the way."""

from collections.abc import Callable
from typing import Any, Generic, Literal, ParamSpec

from toolmd._types.registry import Registry
from toolmd.errors import logged

P = ParamSpec("P")
WorkspaceEventKind = Literal["pending", "run", "run-step"]
"""A held call was decided; a run came to another state; a run took a step."""
WorkspaceEventListener = Callable[[WorkspaceEventKind, dict[str, Any], str | None], None]
"""Hears what kind of thing happened, its JSON, and whose it is: the user, None for nobody's."""
ChangeListener = Callable[[Registry, Registry], None]
"""Hears of a new snapshot: what was live, and what is."""


class Listeners(Generic[P]):
    """Those who listen to one thing; what one of them raises is logged."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._listeners: list[Callable[P, None]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Callable[P, None]) -> Callable[[], None]:
        """Have `listener` called, by the thread in which it happens; gives what ends it."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def tell(self, *told: P.args, **named: P.kwargs) -> None:
        """Tell them."""
        for listener in tuple(self._listeners):
            try:
                listener(*told, **named)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to %s failed", self._what)
