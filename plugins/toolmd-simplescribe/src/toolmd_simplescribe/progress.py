"""Report the progress of a long task."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Receives the number of finished and of all steps."""


def unheard(done: int, total: int) -> None:
    """Ignore the progress."""
    del done, total


@contextmanager
def on_screen(what: str) -> Iterator[Progress]:
    """Show the progress on a terminal's stderr, and nothing elsewhere."""
    if not sys.stderr.isatty():
        yield unheard
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
