"""One process of several that ask a store the same question many times, and print the answers."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

from sample import count

from toolmd._store.store import Store

THREADS = 4


def race(store: Store, question: str, words: list[Any], times: int) -> list[Any]:
    """Ask in several threads at once; `question` is `count`, or such as `limits.take`."""
    part, _, method = question.partition(".")
    ask = getattr(getattr(store, part), method) if method else partial(count, store)
    ready = Barrier(THREADS)

    def some(_: int) -> list[Any]:
        ready.wait()
        return [ask(*words) for _ in range(times // THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [one for answers in pool.map(some, range(THREADS)) for one in answers]


if __name__ == "__main__":
    state, place, question, words, times = sys.argv[1:]
    store = Store(place, Path(state))
    with store.database.read():
        pass
    print("ready", flush=True)
    sys.stdin.readline()
    answers = race(store, question, json.loads(words), int(times))
    store.close()
    print(json.dumps(answers))
