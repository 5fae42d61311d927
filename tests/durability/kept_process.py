"""One process that executes the runs of a small world until its input ends."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def worker_of(state: Path, place: str = "sqlite") -> Iterator[subprocess.Popen[str]]:
    """Start such a process, and end it in order."""
    from tests import warm_python

    command = [sys.executable, __file__, str(state), place]
    with warm_python.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        yield worker
        worker.communicate()


def main(state: str, place: str) -> None:
    """Execute runs."""
    from kept import Kept

    kept = Kept(Path(state), place)
    kept.engine.start()
    print("ready", flush=True)
    sys.stdin.read()
    kept.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
