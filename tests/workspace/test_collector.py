"""Garbage collection while a project is opened."""

import subprocess
import sys

PAUSED = """
import gc
from toolmd._workspace.opened import pause_collector

gc.set_threshold(10**9)
kept = []
for _ in range(2):
    with pause_collector():
        assert not gc.isenabled()
        kept.append([[] for _ in range(1000)])
    assert gc.isenabled()
    print(any(one is kept[-1] for one in gc.get_objects(generation=2)), gc.get_freeze_count())
"""


def test_what_the_first_pause_made_counts_as_old_and_is_not_frozen() -> None:
    words = [sys.executable, "-c", PAUSED]
    told = subprocess.run(words, check=True, capture_output=True, text=True).stdout

    assert told.split("\n")[:2] == ["True 0", "False 0"]
