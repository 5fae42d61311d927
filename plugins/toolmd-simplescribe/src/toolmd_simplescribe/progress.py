"""Tell how far a long work is."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Hears how many of how many are done."""


def unheard(done: int, total: int) -> None:
    """Tell nobody."""
    del done, total


@contextmanager
def on_screen(what: str) -> Iterator[Progress]:
    """Show it on a terminal's stderr; elsewhere nothing is said."""
    if not sys.stderr.isatty():
        yield unheard
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
