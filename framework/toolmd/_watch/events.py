"""Read file events from watchdog, and select those that may change what a reload reads."""

import errno
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from toolmd._workspace.workspace import Watched

_log = logging.getLogger(__name__)
# Its emitters complain of being stopped before they began to wait, which isn't a fault.
logging.getLogger("watchdog.observers.inotify").addFilter(
    lambda record: "when the thread is inactive" not in record.getMessage()
)
POLL_S = 1.0
"""How often to look where the system has no more watches to give, in seconds."""

MAX_DEATHS = 3
"""How many observers may end by themselves before the files are polled."""
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
        self._deaths = 0
        self.problem = ""
        """Why this polls instead of receiving events; empty where it receives them."""

    def follow(self, watched: Watched) -> bool:
        """Watch these places and nothing else; what is not there is watched for.

        Returns whether any of them was not watched before: what changed there meanwhile is unknown.
        """
        wanted = dict.fromkeys(_watches(watched))
        self._revive()
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
        return observer is None or (observer.is_alive() and not self._ended())

    def _ended(self) -> set[Any]:
        """Return the watches of which the thread has ended, as it does when its folder is gone."""
        return {emitter.watch for emitter in self._observer.emitters if not emitter.is_alive()}

    def _revive(self) -> None:
        """Start a new observer in the place of one that has died; a few times, then poll."""
        if self._observer is None or self._observer.is_alive():
            return
        self._deaths += 1
        if self._deaths < MAX_DEATHS or self.problem:
            self.stop()
        else:
            self._fall_back("the observer of the files ended by itself", "start the process again")

    def _follow(self, wanted: Iterable[Watch]) -> bool:
        if self._observer is None:
            self._observer = self._make()
            self._observer.start()
        nodes = {watch: node for watch in wanted if (node := _node(watch[0]))}
        ended = self._ended()
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
