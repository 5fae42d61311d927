"""What the adapters' tests drive in each host: a clerk, its model's script and its questions."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from toolmd import Workspace

Calls = list[tuple[str, dict[str, Any]]]
USER = {"user": "u1", "conversation": "k1"}


@dataclass
class Question:
    """What a host asks a person."""

    id: str
    """The id of the stored question."""
    shown: Any
    """All that the host hands to the person and stores, as text."""
    args: dict[str, Any]
    """The arguments as the person sees them."""
    key: Any
    """The host's own name for the question."""


@dataclass
class Clerk:
    """An agent of the shop; each host has its own way to run and to answer."""

    ws: Workspace
    replies: list[Calls]
    is_async: bool = True
    fields: dict[str, Any] = field(default_factory=dict)
    """What the adapter is given besides."""
    before: Callable[[], None] = lambda: None
    """Called before each reply of the model with calls."""
    offered: list[set[str]] = field(default_factory=list)
    """What the model was offered in each request."""
    read: str = ""
    """What the model read last."""
    parts: list[str] = field(default_factory=list)
    """The media types of the parts that the model read."""
    state: Any = None
    """The run as the host stores it."""

    def run(self, context: Any = USER) -> list[Question]:
        """Begin, and return what is asked."""
        raise NotImplementedError

    def answer(
        self, one: Question, kind: str = "approve", context: Any = USER, **given: Any
    ) -> list[Question]:
        """Resume from the stored state in a new agent, and return what is asked."""
        raise NotImplementedError


def in_thread(run: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Run a host's sync method, and close the loop that it leaves open."""

    def run_and_close() -> Any:
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        try:
            return run(*given, **named)
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run_and_close).result()
