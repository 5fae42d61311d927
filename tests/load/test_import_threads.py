"""Foreign Python is imported in threads that wait for the next piece, until one hangs."""

import os
import sys
import threading

import pytest
from tests import warm_python

from toolmd._load.modules import Load, OverdueError

FORKS = """
import os, sys
from toolmd._load.modules import Load
Load("a file", lambda: None, 5).get()
child = os.fork()
if not child:
    Load("a file", lambda: os.write(1, b"child ran\\n"), 5).get()
    os._exit(0)
sys.exit(os.waitpid(child, 0)[1])
"""


def test_one_piece_after_the_other_runs_in_few_threads() -> None:
    threads = {Load("a file", threading.current_thread, 5).get() for _ in range(50)}

    assert len(threads) < 25


def test_what_follows_a_piece_that_hangs_runs_in_another_thread() -> None:
    goes_on = threading.Event()
    with pytest.raises(OverdueError):
        Load("a file", goes_on.wait, 0.01).get()

    assert Load("another", lambda: "done", 5).get() == "done"
    goes_on.set()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_has_threads_of_its_own() -> None:
    done = warm_python.run(
        [sys.executable, "-W", "ignore", "-c", FORKS],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    assert done.stdout == "child ran\n"
