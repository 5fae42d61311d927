"""The listeners of a workspace: each is called, and none stops another."""

from collections.abc import Callable
from typing import Any, Generic, Literal, ParamSpec

from toolmd._types.registry import Registry
from toolmd.errors import logged

P = ParamSpec("P")
WorkspaceEventKind = Literal["pending", "run", "run-step"]
"""A pending call was decided; a run changed its state; a run took a step."""
WorkspaceEventListener = Callable[[WorkspaceEventKind, dict[str, Any], str | None], None]
"""Receives the kind of event, its JSON, and its user (None without one)."""
ChangeListener = Callable[[Registry, Registry], None]
"""Receives the old and the new snapshot."""


class Listeners(Generic[P]):
    """The listeners to one kind of event; exceptions are logged."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._listeners: list[Callable[P, None]] = []

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def add(self, listener: Callable[P, None]) -> Callable[[], None]:
        """Call `listener` in the thread of each event; return a function that stops it."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def tell(self, *told: P.args, **named: P.kwargs) -> None:
        """Report them."""
        for listener in tuple(self._listeners):
            try:
                listener(*told, **named)
            except Exception as error:  # noqa: BLE001 - it only listens
                logged(error, "a listener to %s failed", self._what)
