"""Code that blocks a plugin while it is imported or called, until a test releases it."""

import threading

reached = threading.Event()
"""Set when a plugin is blocked."""
opened = threading.Event()
"""Set by the test, which can do so only where its event loop goes on."""


def close() -> None:
    """Reset both events for the next test."""
    reached.clear()
    opened.clear()


def wait() -> None:
    """Wait until the test sets `opened`; raise AssertionError after 20 s."""
    reached.set()
    assert opened.wait(20), "the event loop stood still"
