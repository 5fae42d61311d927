"""Reload the definitions of a server: at SIGHUP, or when a file is saved."""

import signal
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def following(workspace: Any, *, follow: bool) -> AbstractContextManager[Any]:
    """Reload when files change, if `follow` is True."""
    if not follow:
        return nullcontext()
    from toolmd._watch import Watcher

    return Watcher(workspace)


def reload_at_hangup(workspace: Any) -> None:
    """Reload the definitions at SIGHUP, on systems with that signal."""
    import asyncio

    loop = asyncio.get_running_loop()
    under_way: set[Any] = set()

    def start() -> None:
        task = loop.create_task(workspace.areload())
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    if hasattr(signal, "SIGHUP"):
        loop.add_signal_handler(signal.SIGHUP, start)
