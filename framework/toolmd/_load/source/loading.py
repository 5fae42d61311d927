"""Run foreign code at load under a deadline: an import that hangs blocks nothing for long.

The code runs in a daemon thread. That thread can't keep the process from ending, and a
KeyboardInterrupt in it comes from the code itself: the user's Ctrl-C reaches the main thread only.
"""

import sys
import threading
import time
import traceback
from collections.abc import Callable, Hashable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from toolmd.errors import ForeignExitError, NotLoadedError

T = TypeVar("T")
REMEDY = (
    "take slow work, such as a connection, out of the top level of the module and save it, "
    "or raise `import_timeout` in the settings"
)


class OverdueError(NotLoadedError):
    """Foreign code has not come to its end within the deadline; it is left to itself."""

    def __init__(self, what: str, seconds: float, stack: traceback.StackSummary) -> None:
        at = stack[-1] if stack else None
        place = f" (at {at.filename}:{at.lineno}: `{at.line}`)" if at else ""
        self.sentence = f"{what} has not been loaded within {seconds:g} s{place}"
        super().__init__(f"{self.sentence}; {REMEDY}")
        self.seconds = seconds
        self.stack = stack


class Load(Generic[T]):
    """One piece of foreign code on its way, in a thread of its own."""

    def __init__(self, what: str, run: Callable[[], T], seconds: float) -> None:
        self.what = what
        self.seconds = seconds
        self._until = time.monotonic() + seconds
        self._done = threading.Event()
        self._run = run
        self._value: Any = None
        self._error: Exception | None = None
        self._trace: Any = None
        self._thread = _ImportThread(target=copy_context().run, args=(self._work,))
        self._thread.start()

    def _work(self) -> None:
        try:
            self._value = caught(self._run)
        except Exception as error:  # noqa: BLE001 - raised again where it is waited for
            self._error, self._trace = error, error.__traceback__
        finally:
            self._done.set()

    @property
    def runs(self) -> bool:
        """Check whether the code still runs."""
        return not self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds`; return whether there is an answer: an end, or the deadline."""
        left = self._until - time.monotonic()
        return self._done.wait(max(0.0, min(seconds, left))) or left <= seconds

    def get(self) -> T:
        """Return what the code returned, or raise what it raised, or OverdueError."""
        if not self._done.wait(max(0.0, self._until - time.monotonic())):
            raise self.overdue()
        if self._error is not None:
            raise self._error.with_traceback(self._trace)
        value: T = self._value
        return value

    def overdue(self) -> OverdueError:
        """Build the error that says where the code is held up."""
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - its only way
        stack = traceback.extract_stack(frame) if frame else traceback.StackSummary()
        own = [one for one in stack if not _is_machinery(one.filename)]
        return OverdueError(self.what, self.seconds, traceback.StackSummary.from_list(own))


class BoundedImports:
    """The foreign code that one snapshot loads; each piece has the same deadline."""

    def __init__(self, seconds: float) -> None:
        """Set the deadline of each piece, in seconds."""
        self._seconds = seconds
        self._late: list[tuple[Load[Any], str]] = []

    @property
    def overdue(self) -> tuple[str, ...]:
        """Return a sentence for each piece that is past its deadline and still runs."""
        return tuple(dict.fromkeys(sentence for load, sentence in self._late if load.runs))

    def begin(self, what: str, run: Callable[[], T], key: Callable[[], Hashable]) -> Load[T]:
        """Begin to run foreign code; raises OverdueError where the same code hangs already.

        `key` names the code by its bytes, so that a file that was fixed is tried again. It is
        asked only where some code hangs.
        """
        with _lock:
            for known, load in list(_hanging.items()):
                if not load.runs:
                    del _hanging[known]
            hanging = _hanging.get(key()) if _hanging else None
        if hanging is not None:
            raise self._told(hanging)
        return Load(what, run, self._seconds)

    def end(self, load: Load[T], key: Callable[[], Hashable]) -> T:
        """Return what the code returned; raises OverdueError, and what the code raised."""
        try:
            return load.get()
        except OverdueError:
            if not load.runs:
                raise
            with _lock:
                _hanging.setdefault(key(), load)
            raise self._told(load) from None

    def run(self, what: str, run: Callable[[], T], key: Callable[[], Hashable]) -> T:
        """Run foreign code to its end; raises OverdueError, and what the code raised."""
        if isinstance(threading.current_thread(), _ImportThread):
            return caught(run)  # It is under a deadline already.
        return self.end(self.begin(what, run, key), key)

    def _told(self, load: Load[Any]) -> OverdueError:
        error = load.overdue()
        if all(known is not load for known, _ in self._late):
            self._late.append((load, error.sentence))
        return error


def caught(run: Callable[[], T]) -> T:
    """Run foreign code; raise ForeignExitError where it raises what would end the program."""
    try:
        return run()
    except Exception:
        raise
    except BaseException as error:
        raise ForeignExitError(f"it raised {type(error).__name__}") from error


class _ImportThread(threading.Thread):
    """Runs foreign code; as a daemon, since a hanging import must not keep the process."""

    def __init__(self, target: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__(target=target, args=args, name="toolmd-import", daemon=True)


def _is_machinery(filename: str) -> bool:
    own = ("_load/source/", "_load/plugins/", "_load/python/", "_load/definitions/")
    path = filename.replace("\\", "/")
    system = path.startswith("<frozen") or path.endswith(_SYSTEM)
    return system or any(f"/toolmd/{part}" in path for part in own)


_SYSTEM = ("/threading.py", "/importlib/__init__.py", "/importlib/metadata/__init__.py")
_hanging: dict[Hashable, Load[Any]] = {}
"""What is past its deadline and still runs, over all snapshots: it is not begun again."""
_lock = threading.Lock()
