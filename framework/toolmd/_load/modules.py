"""Import foreign Python as modules of one snapshot, from the bytes that were read, in time.

The modules of a snapshot lie in a package of a private, unique name, so that relative imports
among the files of a folder of definitions find the files of the same snapshot, and two snapshots
never share a module. Nothing is reloaded, and no `.pyc` is read or written: an edit of equal
length within a second would run the old code.

Foreign code runs in a daemon thread. That thread can't keep the process from ending, and a
KeyboardInterrupt in it comes from the code itself: the user's Ctrl-C reaches the main thread only.
"""

import ast
import importlib
import itertools
import linecache
import os
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import cached_property, partial
from importlib.machinery import ModuleSpec
from queue import SimpleQueue
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from toolmd._load.files import File
from toolmd.errors import ForeignExitError, NotLoadedError

if TYPE_CHECKING:
    # Imports tempfile and more, for a base class that adds nothing.
    from importlib.abc import Loader

PREFIX = "_toolmd_"
_serial = itertools.count(1)
_live: "weakref.WeakValueDictionary[str, Modules]" = weakref.WeakValueDictionary()


class Modules:
    """The Python of one snapshot, by dotted name; forgotten when nobody holds it any more."""

    def __init__(self) -> None:
        self.root = f"{PREFIX}{next(_serial)}"
        self._folders: dict[str, Sequence[File]] = {}
        _live[self.root] = self
        weakref.finalize(self, _forget, self.root).atexit = False
        if _finder not in sys.meta_path:
            # In front: nothing else may answer for these names.
            sys.meta_path.insert(0, _finder)

    def add_folder(self, name: str, files: Sequence[File]) -> str:
        """Add a folder's Python; return the dotted name of its package."""
        package = wanted = f"{self.root}.{_part(name)}"
        for number in itertools.count(2):
            if package not in self._folders:
                break
            package = f"{wanted}_{number}"
        self._folders[package] = files
        self.__dict__.pop("files", None)
        return package

    @cached_property
    def files(self) -> Mapping[str, File | None]:
        """The files by dotted name; a package without an `__init__.py` has no file."""
        found: dict[str, File | None] = {self.root: None}
        for package, files in self._folders.items():
            found[package] = None
            for file in files:
                dotted = package
                for part in module_parts(file):
                    found.setdefault(dotted, None)
                    dotted = f"{dotted}.{_part(part)}"
                found[dotted] = file
        return found

    def name_of(self, package: str, file: File) -> str:
        """Return the dotted name of a file of the folder that `add_folder` added."""
        return ".".join((package, *map(_part, module_parts(file))))

    def load(self, dotted: str) -> ModuleType:
        """Import a module of the snapshot; raises whatever its code raises."""
        return importlib.import_module(dotted)

    def find(self, dotted: str) -> ModuleSpec | None:
        """Return the import spec of one of these modules."""
        if dotted not in self.files:
            return None
        file = self.files[dotted]
        package = file is None or file.parts[-1] == "__init__.py"
        return ModuleSpec(
            dotted,
            cast("Loader", _Loader(file)),
            origin=file.location if file else None,
            is_package=package,
        )


class _Loader:
    """Runs one file's bytes as a module. It knows no snapshot, so that modules keep none alive."""

    def __init__(self, file: File | None) -> None:
        self._file = file

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the bytes in the module."""
        if self._file is None:
            return
        module.__file__ = self._file.location
        # Tracebacks show the lines that run, not those that stand in the file by now.
        lines = self.get_source(module.__name__).splitlines(keepends=True)
        location = self._file.location
        linecache.cache[location] = (len(self._file.data), None, lines, location)
        exec(self._code(), module.__dict__)  # noqa: S102 - what an import is

    def get_source(self, fullname: str) -> str:
        """Return the text of the module, for tracebacks and debuggers."""
        del fullname
        return self._file.data.decode(errors="replace") if self._file else ""

    def _code(self) -> CodeType:
        assert self._file is not None
        code = compile(self._file.data, self._file.location, "exec", dont_inherit=True)
        assert isinstance(code, CodeType)
        return code


class _Finder:
    """Answers the import system for the names of every living snapshot."""

    @staticmethod
    def find_spec(
        fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module of the snapshot that its name belongs to."""
        del path, target
        if not fullname.startswith(PREFIX):
            return None
        modules = _live.get(fullname.partition(".")[0])
        return modules.find(fullname) if modules is not None else None


_finder = _Finder()


def module_parts(file: File) -> tuple[str, ...]:
    """Return the names of the packages and of the module that a file of a folder is."""
    *above, name = file.parts
    return tuple(above) if name == "__init__.py" else (*above, name.removesuffix(".py"))


def _part(name: str) -> str:
    # A dot would make a folder `v1.2` two packages.
    return name.replace(".", "_")


def _forget(root: str) -> None:
    below = f"{root}."
    for name in [n for n in list(sys.modules) if n == root or n.startswith(below)]:
        sys.modules.pop(name, None)


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
        self._thread = _ImportThread.free()
        self._thread.todo.put(partial(copy_context().run, self._work))

    def _work(self) -> None:
        try:
            self._value = contain(self._run)
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
            raise self._overdue()
        if self._error is not None:
            raise self._error.with_traceback(self._trace)
        value: T = self._value
        return value

    def _overdue(self) -> OverdueError:
        """Build the error that says where the code is held up."""
        frame = sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - its only way
        stack = traceback.extract_stack(frame) if frame else traceback.StackSummary()
        own = [one for one in stack if not _is_machinery(one.filename)]
        return OverdueError(self.what, self.seconds, traceback.StackSummary.from_list(own))


def run_in_time(what: str, run: Callable[[], T], seconds: float) -> T:
    """Run foreign code to its end; raises OverdueError, and what the code raised."""
    if isinstance(threading.current_thread(), _ImportThread):
        return contain(run)  # It is under a deadline already.
    return Load(what, run, seconds).get()


def contain(run: Callable[[], T]) -> T:
    """Run foreign code; raise ForeignExitError where it raises what would end the program."""
    try:
        return run()
    except Exception:
        raise
    except BaseException as error:
        raise ForeignExitError(f"it raised {type(error).__name__}") from error


class _ImportThread(threading.Thread):
    """Runs foreign code; as a daemon, since a hanging import must not keep the process.

    One waits for the next piece: a thread for each makes a check of many tools a fifth longer.
    """

    def __init__(self) -> None:
        super().__init__(name="toolmd-import", daemon=True)
        self.todo: SimpleQueue[Callable[[], object]] = SimpleQueue()

    @staticmethod
    def free() -> "_ImportThread":
        """Return a thread that runs nothing."""
        with suppress(IndexError):
            return _free.pop()
        thread = _ImportThread()
        thread.start()
        return thread

    def run(self) -> None:
        """Run one piece after the other, unless another thread waits for the next."""
        self.todo.get()()
        while not _free:
            _free.append(self)
            self.todo.get()()


_free: list[_ImportThread] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free.clear)


def _is_machinery(filename: str) -> bool:
    path = filename.replace("\\", "/")
    return path.startswith("<frozen") or path.endswith(_SYSTEM) or "/toolmd/_load/" in path


_SYSTEM = ("/threading.py", "/importlib/__init__.py", "/importlib/metadata/__init__.py")
_PARSING = threading.RLock()


def tree_of(text: bytes | str) -> ast.Module:
    """Parse Python in one thread at a time; raises what `ast.parse` raises.

    CPython 3.11 counts the depth of the trees of all threads together, and raises SystemError where
    two threads are in the middle of one (its issue 106905).
    """
    with _PARSING:
        return ast.parse(text)
