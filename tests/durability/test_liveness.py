"""A process is known to live by its lock, which the system frees when the process is killed."""

import subprocess
import sys

import pytest
from tests import warm_python

from toolmd._store.liveness import Locks

HOLD = """
import subprocess, sys
from pathlib import Path
from toolmd._store.liveness import Locks
locks = Locks(Path(sys.argv[1]))
locks.live()
# What a tool starts may outlive the process, and must not keep its lock.
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=sys.stdin)
print(locks.own, flush=True)
child.wait()
"""


@pytest.fixture
def worker(tmp_path):
    """Return a process that has its lock, and has started a longer-lived child."""
    started = warm_python.Popen(
        [sys.executable, "-c", HOLD, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with started:
        yield started
        started.kill()


def test_a_killed_process_is_dead_at_once_though_its_children_live(worker, tmp_path):
    name = worker.stdout.readline().strip()
    others = Locks(tmp_path)
    others.live()

    assert others.dead() == []
    worker.kill()
    worker.wait()
    assert others.dead() == [name]
    others.evict(name)
    assert [path.name for path in tmp_path.iterdir()] == [others.own]
    others.end()


def test_a_process_that_ends_in_order_leaves_its_file_for_the_others_to_find(tmp_path):
    one, other = Locks(tmp_path), Locks(tmp_path)
    one.live()
    assert other.dead() == []

    one.end()

    assert other.dead() == [one.own]


def test_a_lock_is_acquired_again_after_its_folder_was_removed(tmp_path):
    one, other = Locks(tmp_path / "workers"), Locks(tmp_path / "workers")
    one.live()
    (tmp_path / "workers" / one.own).unlink()
    (tmp_path / "workers").rmdir()

    one.live()

    assert other.dead() == []
    assert (tmp_path / "workers" / one.own).is_file()
    one.end()
