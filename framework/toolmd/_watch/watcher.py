"""Follow a workspace's files: one reload for each burst of changes."""

import errno
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePath
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Self

from toolmd._store import is_postgres
from toolmd._workspace import Workspace
from toolmd._workspace.workspace import Watched
from toolmd.errors import ToolmdError

_log = logging.getLogger(__name__)
# Its emitters complain of being stopped before they began to wait, which isn't a fault.
logging.getLogger("watchdog.observers.inotify").addFilter(
    lambda record: "when the thread is inactive" not in record.getMessage()
)
POLL_S = 1.0
"""How often to look where the system has no more watches to give, in seconds."""
_EXHAUSTED = frozenset({errno.ENOSPC, errno.EMFILE, errno.ENFILE, errno.ENOMEM})

ENDS = (".md", ".py", ".markdown", ".mdx", ".txt")
"""Of definitions, of Python, and of what is nearly named like a definition."""
CHANGES = frozenset({"created", "deleted", "modified", "moved", "closed"})
"""Reading causes others: a reload must not set off the next."""
SKIPPED = frozenset({"__pycache__", "node_modules"})


class FileEvent(NamedTuple):
    """A change of a file or a folder, in watchdog's terms."""

    kind: str
    path: str
    to: str = ""
    """Where it was moved to."""
    folder: bool = False


def may_matter(event: FileEvent, watched: Watched) -> bool:
    """Return whether an event may change what a reload reads."""
    if event.kind not in CHANGES or (event.folder and event.kind == "modified"):
        return False
    return any(
        PurePath(path) in watched.files
        or any(_within(path, str(place), folder=event.folder) for place in watched.folders)
        for path in filter(None, (event.path, event.to))
    )


def _within(path: str, place: str, *, folder: bool) -> bool:
    if folder and (path == place or place.startswith(path + os.sep)):
        return True
    if not path.startswith(place.rstrip(os.sep) + os.sep):
        return False
    parts = PurePath(path[len(place) :].strip(os.sep)).parts
    # Locks, swap files and drafts of editors are hidden, or end in none of these.
    if any(part.startswith(".") or part in SKIPPED for part in parts):
        return False
    return folder or parts[-1].endswith(ENDS)


HearEvent = Callable[[FileEvent], None]
Watch = tuple[str, bool]
"""A folder, and whether all below it counts."""


def native_observer() -> Any:
    """Return the observer that uses the system's own notifications."""
    from watchdog.observers import Observer

    return Observer()


def polling_observer() -> Any:
    """Return the observer that polls."""
    from watchdog.observers.polling import PollingObserver

    return PollingObserver(timeout=POLL_S)


Observers = tuple[Callable[[], Any], Callable[[], Any]]
"""What makes watchdog's observers: the one to begin with, and the one to fall back on."""
OBSERVERS: Observers = (native_observer, polling_observer)


class FileEvents:
    """The events of some folders; they may come, go, and be replaced by others."""

    def __init__(self, tell: HearEvent, observers: Observers = OBSERVERS) -> None:
        """Call `tell` from a thread of watchdog's own."""
        self._tell = tell
        self._make, self._make_next = observers
        self._observer: Any = None
        self._scheduled: dict[Watch, tuple[int, Any]] = {}
        self.problem = ""
        """Why this polls instead of receiving events; empty where it receives them."""

    def follow(self, watched: Watched) -> bool:
        """Watch these places and nothing else; what is not there is watched for.

        Returns whether any of them was not watched before: what changed there meanwhile is unknown.
        """
        wanted = dict.fromkeys(_watches(watched))
        if self._observer is not None and not self._observer.is_alive():
            self.stop()
        try:
            return self._follow(wanted)
        except OSError as error:
            if self.problem:
                raise
            if error.errno not in _EXHAUSTED:
                self._fall_back(f"the files can't be watched ({error})", "repair that")
            else:
                why = f"the system can't watch more files ({error.strerror})"
                self._fall_back(why, "raise fs.inotify.max_user_watches or max_user_instances")
            return self._follow(wanted)

    def stop(self) -> None:
        """End all watching."""
        observer, self._observer = self._observer, None
        self._scheduled.clear()
        if observer is not None:
            observer.stop()
            if observer.is_alive():
                observer.join()

    def is_alive(self) -> bool:
        """Check that every thread that reports events still runs."""
        observer = self._observer
        return observer is None or (observer.is_alive() and not self._list_ended())

    def _list_ended(self) -> set[Any]:
        """Return the watches of which the thread has ended, as it does when its folder is gone."""
        return {emitter.watch for emitter in self._observer.emitters if not emitter.is_alive()}

    def _follow(self, wanted: Iterable[Watch]) -> bool:
        if self._observer is None:
            self._observer = self._make()
            self._observer.start()
        nodes = {watch: node for watch in wanted if (node := _node(watch[0]))}
        ended = self._list_ended()
        for watch, (node, watching) in list(self._scheduled.items()):
            # A folder that was made again under the same name is not the one that is watched.
            if nodes.get(watch) != node or watching in ended:
                self._observer.unschedule(watching)
                del self._scheduled[watch]
        handler, added = _Handler(self._tell), False
        for watch, node in nodes.items():
            if watch not in self._scheduled:
                try:
                    watching = self._observer.schedule(
                        handler, watch[0], recursive=watch[1], event_filter=_changes()
                    )
                except (FileNotFoundError, NotADirectoryError):
                    continue  # Gone again: its parent reports when it comes back.
                self._scheduled[watch] = node, watching
                added = True
        return added

    def _fall_back(self, why: str, remedy: str) -> None:
        self.stop()
        self.problem = f"{why}: looking every {POLL_S:g} s instead; {remedy}"
        _log.warning("%s", self.problem)
        self._make = self._make_next


class _Handler:
    """Turns watchdog's events into ours."""

    def __init__(self, tell: HearEvent) -> None:
        self._tell = tell

    def dispatch(self, event: Any) -> None:
        """Forward one event."""
        to = os.fsdecode(getattr(event, "dest_path", "") or "")
        path = os.fsdecode(event.src_path)
        self._tell(FileEvent(event.event_type, path, to, event.is_directory))


def _changes() -> list[type]:
    """Return watchdog's events of changes: without the opens of a reader, our own among them."""
    from watchdog import events

    return [
        events.DirCreatedEvent,
        events.DirDeletedEvent,
        events.DirMovedEvent,
        events.FileClosedEvent,
        events.FileCreatedEvent,
        events.FileDeletedEvent,
        events.FileModifiedEvent,
        events.FileMovedEvent,
    ]


def _watches(watched: Watched) -> Iterator[Watch]:
    """Yield the folders to watch: definitions whole, and the parent of each watched place."""
    for folder in watched.folders:
        if folder.is_dir():
            yield str(folder), True
    for place in (*watched.folders, *watched.files):
        yield str(_there(place.parent)), False


def _there(folder: Path) -> Path:
    while not folder.is_dir() and folder != folder.parent:
        folder = folder.parent
    return folder


def _node(path: str) -> int:
    try:
        return Path(path).stat().st_ino
    except OSError:
        return 0


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

    def hear(self, event: FileEvent, now: float) -> None:
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
                self._follower.hear(event, time.monotonic())
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
