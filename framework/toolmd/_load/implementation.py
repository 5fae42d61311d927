"""Load the Python behind a definition, hash it, and hold the two against each other."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import reprlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from toolmd._load.files import File, path_in_project, python_below, whole_file
from toolmd._load.modules import PREFIX, REMEDY, Load, OverdueError
from toolmd._load.plugins import Plugins, reason
from toolmd._load.resources import SnapshotResources
from toolmd._load.signature import Bond, bind
from toolmd._types.call_spec import CallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import AnySpec, Binding, Gateway, Implementation
from toolmd._types.settings import Settings
from toolmd.errors import ForeignExitError, ImplementationError, NotLoadedError

_OTHERS = frozenset({"toolmd", "builtins", *sys.stdlib_module_names})
"""Packages that no tool brings: their code is not a tool's own."""


class CodeHash:
    """One hash over the Python of a snapshot, each file read once.

    It covers the folders of definitions as the snapshot read them, and all other Python below the
    project's root, whether or not a tool imports it: so each process of the project has the same
    hash. Virtual environments, hidden folders and installed packages are left out, but for the
    versions of plugins, and the packages in which an implementation or a resource begins.
    """

    def __init__(self, plugins: Plugins, root: Path) -> None:
        self._plugins = plugins
        self._root = os.path.realpath(root)
        self._own: dict[str, str] = {}
        self._known: dict[frozenset[str], str] = {}

    def of(self, starts: Iterable[str] = ()) -> str:
        """Return the hex sha256 of the project's Python, and of the packages of some modules.

        Args:
            starts: The dotted names of the modules in which an implementation begins; none for
                the project's Python alone, by which a run knows whether it changed since.
        """
        tops = frozenset(name.partition(".")[0] for name in starts) - _OTHERS
        tops = frozenset(top for top in tops if not top.startswith(PREFIX))
        if tops not in self._known:
            if not self._own:
                self._own = dict(self._read_own())
            found = {**self._own, **{k: v for top in tops for k, v in self._read_package(top)}}
            lines = (f"{name} {digest}\n" for name, digest in sorted(found.items()))
            text = "".join(lines).encode(errors="surrogateescape")
            self._known[tops] = hashlib.sha256(text).hexdigest()
        return self._known[tops]

    def _read_own(self) -> Iterator[tuple[str, str]]:
        for info in self._plugins.listed.values():
            if info.package is not None and info.state == "loaded":
                yield f"plugin {info.package}", info.version or ""
        read = set()
        real = functools.cache(os.path.realpath)  # Of folders, for there are many files in each.
        for name, file in self._plugins.modules.files.items():
            if file is not None:
                above, _, last = file.location.rpartition(os.sep)
                read.add(f"{real(above)}{os.sep}{last}")
                yield name.partition(".")[2], hashlib.sha256(file.data).hexdigest()
        for place in python_below(self._root):
            if place not in read and (data := _bytes(place)) is not None:
                yield os.path.relpath(place, self._root), hashlib.sha256(data).hexdigest()

    def _read_package(self, top: str) -> Iterator[tuple[str, str]]:
        """Yield the Python of a package outside the project, or of one that is installed in it."""
        try:
            spec = importlib.util.find_spec(top)
        except Exception:  # noqa: BLE001 - finders of others may raise anything
            spec = None
        for place in (spec.submodule_search_locations or (spec.origin or "",)) if spec else ():
            above = os.path.dirname(os.path.realpath(place))  # noqa: PTH120
            for file in python_below(os.path.realpath(place)):
                if (data := _bytes(file)) is not None:
                    yield os.path.relpath(file, above), hashlib.sha256(data).hexdigest()


def _bytes(place: str) -> bytes | None:
    with contextlib.suppress(OSError), open(place, "rb") as opened:  # noqa: PTH123 - as above
        return opened.read()
    return None


_MOST_WRAPPERS = 16


@dataclass(slots=True, eq=False, repr=False)
class SnapshotParts:
    """What the implementations of one snapshot share."""

    settings: Settings
    plugins: Plugins
    resources: SnapshotResources
    gateways: Sequence[Gateway] = ()
    """What calls the tools of other programs."""
    code: CodeHash = field(init=False)

    def __post_init__(self) -> None:
        self.code = CodeHash(self.plugins, self.settings.root)


class Found(NamedTuple):
    """A function, and where its code lies."""

    function: Callable[..., Any]
    modules: tuple[str, ...]
    """The dotted names of the modules in which its code begins."""
    file: File | None = None
    """Its file, where the bytes were read."""


Find = Callable[[CallSpec], Found]


@dataclass(slots=True, eq=False, repr=False)
class Loader:
    """Loads one implementation on first use, under a deadline and in a thread of its own.

    A failure is reported again, not cached; a late import that ends counts.
    """

    around: SnapshotParts
    call_spec_of: Callable[[], CallSpec]
    markdown: File
    find: Find
    """Return the function; raises ImplementationError."""
    target: str
    """`path:function`, as the binding has it."""
    plugin: str | None = None
    """The plugin of the folder; its tools are denied without it."""
    python: File | None = None
    """The file that is imported, where it is next to the markdown."""
    _load: Load[tuple[Implementation, Bond]] | None = None
    _bond: Bond | None = None
    _found: Implementation | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def binding(self, kind: Literal["sibling", "entry_point"]) -> Binding:
        """Return the binding that loads it."""
        return Binding(kind, self.target, self.load, self.inspect, self.ready, self.start)

    def load(self) -> Implementation:
        """Return the implementation; raises ImplementationError, which says what is wrong."""
        found = self._load_once()
        assert self._bond is not None
        faults = [d for d in self._bond.diagnostics if d.severity is Severity.ERROR]
        if faults:
            raise ImplementationError(
                f"{self._bond.call_spec.name} does not fit its Python: "
                + "; ".join(fault.message for fault in faults),
                diagnostics=tuple(faults),
            )
        return found

    def start(self, seconds: float) -> bool:
        """Begin to load and wait at most `seconds`; return whether there is an answer by then."""
        if self._found is not None:
            return True
        try:
            if self.plugin is not None:
                self.around.plugins.demand(self.plugin)
            return self._begin().wait(seconds)
        except ImplementationError:
            return True  # Loading it reports the error.

    def ready(self) -> bool:
        """Return whether it is loaded and fits; loads nothing."""
        bond = self._bond
        return bond is not None and all(d.severity is not Severity.ERROR for d in bond.diagnostics)

    def inspect(self) -> tuple[Diagnostic, ...]:
        """Return all that is to be said; a failure to load is said too."""
        if self.plugin is not None and not self.around.plugins.sound(self.plugin):
            return ()  # Said once, of the plugin.
        try:
            self._load_once()
        except ImplementationError as error:
            return error.diagnostics or (
                whole_file(self.markdown.path, Code.BROKEN_IMPLEMENTATION, str(error)),
            )
        assert self._bond is not None
        return tuple(self._bond.diagnostics)

    def _load_once(self) -> Implementation:
        """Return what was found; everything that runs foreign code happens under the deadline."""
        if self._found is not None:
            return self._found
        if self.plugin is not None:
            self.around.plugins.demand(self.plugin)
        load: Load[tuple[Implementation, Bond]] | None = None
        try:
            load = self._begin()
            found, self._bond = load.get()
            self._found = found
        except OverdueError as error:
            raise self._overdue(error) from None
        except ForeignExitError as error:
            raise ImplementationError(f"{self._name()} can't be loaded: {reason(error)}") from error
        finally:
            with self._lock:
                if load is not None and not load.runs and self._load is load:
                    self._load = None
        return found

    def _begin(self) -> Load[tuple[Implementation, Bond]]:
        with self._lock:
            if self._load is None:
                timeout = self.around.settings.import_timeout
                self._load = Load(self._name(), self._look, timeout)
            return self._load

    def _look(self) -> tuple[Implementation, Bond]:
        call_spec, around = self.call_spec_of(), self.around
        function, modules, file = self.find(call_spec)
        bond = Bond(call_spec, function, self.markdown.data.decode(errors="replace"), file)
        found = bind(bond, self.target, around.resources.provides)
        providers = around.plugins.modules_behind("toolmd_resources")
        digest = around.code.of((*modules, *providers))
        return found._replace(hash=digest, keeps=around.plugins.modules), bond

    def _name(self) -> str:
        return f"the Python of {self.markdown.path}"

    def _overdue(self, error: OverdueError) -> NotLoadedError:
        """Report which line of the project is held up, and what to do."""
        path, line = self.python.path if self.python is not None else self.markdown.path, 1
        # Another thread may hold up the same file, and this one waits for it.
        threads = sys._current_frames().values()  # noqa: SLF001 - the documented way to see threads
        others = (traceback.extract_stack(frame) for frame in threads)
        own = "" if self.python is None else self.python.location
        same = [frame for stack in others for frame in stack if frame.filename == own]
        for frame in (*same[:1], *error.stack):
            if (place := own_place(frame, self.python, self.around.settings.root)) is not None:
                path, line = place
        found = whole_file(path, Code.IMPORT_TIMEOUT, error.sentence, REMEDY)
        found = found._replace(span=found.span._replace(line=line, end_line=line))
        return NotLoadedError(f"{error.sentence}; {REMEDY}", diagnostics=(found,))


def from_plugins(around: SnapshotParts, spec_of: Callable[[], AnySpec]) -> Find:
    """Ask the plugins for the function behind a definition; None means that it is not theirs."""

    def find(call_spec: CallSpec) -> Found:
        for answer in around.plugins.ask("toolmd_implementation", spec=spec_of()):
            failed = f"plugin {answer.plugin} can't give {call_spec.name}: "
            if answer.error is not None:
                raise ImplementationError(failed + reason(answer.error)) from answer.error
            if callable(answer.value):
                modules = around.plugins.modules_of(answer.plugin)
                return Found(answer.value, (*_homes(answer.value), *modules))
            if answer.value is not None:
                odd = reprlib.repr(answer.value)
                raise ImplementationError(
                    f"{failed}toolmd_implementation gave {odd}, which is not a function; give a "
                    "function, or None for a definition of others"
                )
        raise ImplementationError(
            f"{call_spec.name} has no implementation: no Python is next to "
            f"{call_spec.source.path}, and no plugin gives any"
        )

    return find


def _homes(function: Any) -> Iterator[str]:
    """Return the modules in which a function, and what it wraps, were written."""
    for _ in range(_MOST_WRAPPERS):
        scope = getattr(function, "__globals__", {})
        for name in (scope.get("__name__"), getattr(function, "__module__", None)):
            if isinstance(name, str):
                yield name
        inner = function.func if isinstance(function, functools.partial) else None
        function = inner or getattr(function, "__wrapped__", None)


def own_place(
    frame: traceback.FrameSummary, file: File | None, project: Path
) -> tuple[str, int] | None:
    """Return the path and line of a frame where the project's author can act; None elsewhere."""
    if file is not None and frame.filename == file.location:
        return file.path, frame.lineno or 1
    if Path(frame.filename).is_relative_to(project):
        return path_in_project(Path(frame.filename), project), frame.lineno or 1
    return None
