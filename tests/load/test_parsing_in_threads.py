"""Python is parsed in several threads: CPython 3.11 mixes up the depths of their trees."""

import gc
import threading
import time
from collections.abc import Iterator

import pytest

from toolmd._load.modules import tree_of

TEXT = b"def f(x):\n    return [" + b"(x + 1) * [2], " * 200 + b"]\n"


@pytest.fixture
def collecting() -> Iterator[None]:
    """Collect garbage often, and let another thread run meanwhile."""

    def pause(_phase: str, _info: dict[str, int]) -> None:
        time.sleep(0)

    thresholds = gc.get_threshold()
    gc.callbacks.append(pause)
    gc.set_threshold(100)
    yield
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(pause)


@pytest.mark.usefixtures("collecting")
def test_threads_of_different_depths_parse_at_once() -> None:
    failed: list[SystemError] = []

    def parse(depth: int) -> None:
        if depth:
            parse(depth - 1)
            return
        for _ in range(20):
            try:
                tree_of(TEXT)
            except SystemError as error:
                failed.append(error)

    threads = [threading.Thread(target=parse, args=(depth,)) for depth in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
