"""A gate that a plugin waits at while it is imported or asked, and that a test opens."""

import threading

reached = threading.Event()
"""Set when a plugin stands before the gate."""
opened = threading.Event()
"""Set by the test, which can do so only where its event loop goes on."""


def close() -> None:
    """Close the gate for the next test."""
    reached.clear()
    opened.clear()


def wait() -> None:
    """Wait until the gate is opened, as slow code would; raises AssertionError after 20 s."""
    reached.set()
    assert opened.wait(20), "the event loop stood still"
