"""Start processes quickly: forks of one that has imported everything, and has done nothing yet."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from office import MONDAY, ROOT

from toolmd import Workspace, load_settings

# What a run needs, imported once: a process that is killed again and again must not spend its
# life on imports. None of it starts a thread.
for name in (
    "httpx",
    "toolmd._call.confirmations", "toolmd._dialect",
    "toolmd._egress", "toolmd._expressions", "toolmd._parse.writing.formatter",
    "toolmd._skills.check", "toolmd._skills.engine", "toolmd._store.confirmations",
):  # fmt: skip
    import_module(name)
for name in [name for name in os.environ if name.startswith("TOOLMD_")]:
    if not name.startswith("TOOLMD_TEST_"):
        del os.environ[name]
os.environ["CLINIC_NOW"] = MONDAY


def now() -> datetime:
    """Return the time of this process's machine."""
    return datetime.fromtimestamp(time.time(), UTC)


def opened(
    state: Path, engine: str, plugins: Mapping[str, Any] | None = None, folder: Path = ROOT
) -> Workspace:
    """Open the clinic or another project, with its runs in a place of the harness."""
    settings = {"state": str(state), "plugins": [], "store": engine}
    return Workspace(load_settings(folder, overrides=settings), plugins=plugins, clock=now)


class Child:
    """A process of our own making."""

    def __init__(self, work: Callable[[], None], log: Path | None = None) -> None:
        """Do `work` in a process of its own, whose words go to `log`."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        self.code: int | None = None
        if self.pid == 0:
            _work(work, log)

    def kill(self) -> None:
        """End it as a power cut would."""
        self.send(signal.SIGKILL)
        self.wait()

    def send(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if not self.ended():
            os.kill(self.pid, number)

    def ended(self) -> bool:
        """Return whether it has ended."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code is not None

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


def _work(work: Callable[[], None], log: Path | None) -> None:
    """Never returns."""
    code = 1
    try:
        if log is not None:
            out = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
        work()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - told in the log, and by the exit code
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
