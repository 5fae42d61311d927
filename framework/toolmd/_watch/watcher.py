"""Follow a workspace's files: one reload for each burst of changes."""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Self

from toolmd._store import is_postgres
from toolmd._watch.events import OBSERVERS, FileEvent, FileEvents, Observers, may_matter
from toolmd._workspace import Workspace
from toolmd._workspace.workspace import Watched
from toolmd.errors import ToolmdError

SETTLE_S = 0.15
"""How long nothing must change before the files are read, in seconds."""
BUSY_S = 0.05
"""How often to look whether others are done, in seconds."""


class Settler:
    """Waits until no change has come for a while and no write is under way."""

    def __init__(self, settle_s: float = SETTLE_S) -> None:
        """Wait for `settle_s` seconds after the last change."""
        self._settle_s = settle_s
        self._last: float | None = None

    def changed(self, now: float) -> None:
        """Record a change; `now` is in seconds and never goes back."""
        self._last = now

    def wait(self, now: float, *, busy: bool = False) -> float | None:
        """Return the seconds until the next check; None where nothing has changed.

        Zero means that the burst is over: it is returned once, and then the next burst begins.
        """
        if self._last is None:
            return None
        left = self._last + self._settle_s - now
        if left > 0:
            return left
        if busy:
            return BUSY_S
        self._last = None
        return 0.0


LOCK = "index.lock"


def index_lock(root: Path) -> Path | None:
    """Return the file that is there while git writes the files around `root`; None without git."""
    for folder in (root, *root.parents):
        own = folder / ".git"
        if own.is_dir():
            return own / LOCK
        if own.is_file():
            # A work tree or a submodule: the file names the folder.
            _, _, named = own.read_text(encoding="utf-8", errors="replace").partition("gitdir:")
            return (folder / named.strip()) / LOCK
    return None


_log = logging.getLogger(__name__)
STOP_S = 2.0
"""How long a reload under way is waited for at the end, in seconds."""
ALIVE_S = 5.0
"""How often to check that events are still reported, and what other machines accepted."""
STUCK_S = 10.0
"""After so many seconds of waiting for git, say so."""


class Follower:
    """The watcher without threads: it receives events and the time, and reloads."""

    def __init__(
        self,
        workspace: Workspace,
        *,
        settle_s: float = SETTLE_S,
        busy: Callable[[], bool] | None = None,
        follow: Callable[[Watched], bool] = lambda _: False,
    ) -> None:
        """Follow `workspace`; `busy` returns whether a write is under way.

        `follow` watches these places, and returns whether one is new.
        """
        lock = index_lock(workspace.settings.root)
        self._workspace = workspace
        self._settler = Settler(settle_s)
        self._busy = busy or (lock.exists if lock is not None else lambda: False)
        self._follow = follow
        self._busy_since: float | None = None
        self._said = False
        self._watched = workspace.watched
        self.failed = ""
        """Why the last reload failed; empty where it did not."""

    def happened(self, event: FileEvent, now: float) -> None:
        """Record an event, unless it can't change what a reload reads."""
        if may_matter(event, self._watched):
            self._settler.changed(now)

    def begin(self, now: float) -> None:
        """Watch everything, and reload once: files may have changed since they were read."""
        self._follow(self._watched)
        self._settler.changed(now)

    @property
    def awaits_others(self) -> bool:
        """Whether a change is pending that another machine may accept, which changes no file."""
        workspace = self._workspace
        return bool(workspace.registry.pending_changes) and is_postgres(workspace.settings.store)

    def step(self, now: float) -> float | None:
        """Reload where a burst is over; return the seconds to wait, None for the next event."""
        busy = self._busy()
        wait = self._settler.wait(now, busy=busy)
        if wait is None or not busy:
            self._busy_since, self._said = None, False
        else:
            self._wait_for_git(now)
        if wait != 0:
            return wait
        # First watched, then read: later changes raise events.
        self._follow(self._watched)
        self._workspace.reload()
        self.failed = ""
        self._watched = self._workspace.watched
        if not self._follow(self._watched):
            return None
        self._settler.changed(now)
        return 0.0

    def _wait_for_git(self, now: float) -> None:
        self._busy_since = now if self._busy_since is None else self._busy_since
        if now - self._busy_since >= STUCK_S and not self._said:
            self._said = True
            _log.warning("reloads wait for git: remove its index.lock if no git command runs")


class Watcher:
    """Reloads a workspace when its files change; a context manager with its own threads.

    Each burst of saves gives one new snapshot, and `Workspace.on_change` one notice. Two threads:
    one receives events, one waits for their end and reloads.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        settle_s: float = SETTLE_S,
        observers: Observers = OBSERVERS,
    ) -> None:
        """Follow a workspace; nothing is watched before `start`.

        Args:
            workspace: The workspace to reload.
            settle_s: The seconds without a change before a reload.
            observers: Make watchdog's observers.
        """
        self._queue: SimpleQueue[FileEvent | None] = SimpleQueue()
        self._events = FileEvents(self._queue.put, observers)
        self._follower = Follower(workspace, settle_s=settle_s, follow=self._events.follow)
        self._thread: threading.Thread | None = None

    @property
    def problem(self) -> str:
        """The reasons why changes are not live, a sentence each; empty where all are.

        The files are polled since the system reports no changes, or a reload failed.
        """
        return "; ".join(said for said in (self._events.problem, self._follower.failed) if said)

    def start(self) -> None:
        """Begin to watch."""
        if self._thread is None:
            self._follower.begin(time.monotonic())
            self._thread = threading.Thread(target=self._run, name="toolmd-watch", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End; a reload under way is given two seconds to finish."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(STOP_S)
            self._events.stop()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def _run(self) -> None:
        due = time.monotonic() + ALIVE_S
        while True:
            wait = self._step()
            with suppress(Empty):
                event = self._queue.get(timeout=ALIVE_S if wait is None else wait)
                if event is None:
                    self._events.stop()  # It may have begun again after `stop`.
                    return
                self._follower.happened(event, time.monotonic())
            if time.monotonic() >= due:
                if self._follower.awaits_others or not self._events.is_alive():
                    self._follower.begin(time.monotonic())
                due = time.monotonic() + ALIVE_S

    def _step(self) -> float | None:
        """Reload where it is time."""
        try:
            return self._follower.step(time.monotonic())
        except ToolmdError:
            return None  # The workspace was closed: nothing is left to reload.
        except Exception as error:  # noqa: BLE001 - kept in `trouble`
            _log.exception("a reload failed; the snapshot of before stays")
            self._follower.failed = (
                f"the last reload failed ({error}); the snapshot of before stays"
            )
            return None
