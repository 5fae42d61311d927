"""Pause garbage collection while many small things are made that stay."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

_turns = count()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection: it would look at all of them time and again, and free nothing.

    The first time in a process, they count as old afterwards, so that the next collections of new
    things do not look at them, either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if next(_turns) == 0 and not gc.get_freeze_count():
                # Both together move everything to the oldest generation.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
