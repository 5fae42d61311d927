"""Load the Python behind a definition, and hold the two against each other."""

from __future__ import annotations

import functools
import reprlib
import threading
import traceback
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from toolmd._load.plugins.manager import Plugins, reason
from toolmd._load.plugins.resources import SnapshotResources
from toolmd._load.python.compared import Comparisons, key_of
from toolmd._load.python.own_clients import own_clients
from toolmd._load.python.signature import Bond, bind
from toolmd._load.source.code import CodeHashes
from toolmd._load.source.files import File, shown_path, whole_file
from toolmd._load.source.loading import REMEDY, Load, OverdueError
from toolmd._types.call_spec import CallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import AnySpec, Gateway, Implementation
from toolmd._types.settings import Settings
from toolmd.errors import ForeignExitError, ImplementationError, NotLoadedError

_MOST_WRAPPERS = 16


@dataclass(slots=True, eq=False, repr=False)
class SnapshotParts:
    """What the implementations of one snapshot share."""

    settings: Settings
    plugins: Plugins
    resources: SnapshotResources
    gateways: Sequence[Gateway] = ()
    """What calls the tools of other programs."""
    loaded: set[str] = field(default_factory=set)
    """The definitions whose Python was loaded and fits."""
    comparisons: Comparisons = field(default_factory=Comparisons)
    code: CodeHashes = field(init=False)

    def __post_init__(self) -> None:
        self.code = CodeHashes(self.plugins.modules, self.settings.root, self.comparisons.imports)


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
    digest: str = ""
    """The hex sha256 of the definition, if what fits is to be remembered."""
    starts: tuple[str, ...] = ()
    """The dotted names of the modules in which the code begins; none where only a plugin knows."""
    _load: Load[tuple[Implementation, Bond]] | None = None
    _bond: Bond | None = None
    _found: Implementation | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def load(self) -> Implementation:
        """Return the implementation; raises ImplementationError, which says what is wrong."""
        found = self._loaded()
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
            return self._begun().wait(seconds)
        except ImplementationError:
            return True  # Loading it reports the error.

    def ready(self) -> bool:
        """Return whether it is loaded and fits; loads nothing."""
        bond = self._bond
        return bond is not None and all(d.severity is not Severity.ERROR for d in bond.diagnostics)

    def fits(self) -> bool:
        """Return whether it was found to fit, and nothing changed since; loads nothing."""
        return self._bond is None and self.around.comparisons.holds(
            self.markdown.path, self._compared
        )

    def _compared(self, provided: bool) -> str | None:  # noqa: FBT001 - the only one
        """Return the key of the comparison."""
        plugins = self.around.plugins
        if not self.digest or (self.python and plugins.has_hooks(self.python.path)):
            return None  # What has hooks is imported each time, for they are called.
        providers = plugins.modules_behind("toolmd_resources")
        code = self.around.code.whole(self.starts, providers, provided=provided)
        grounds = self.around.resources.grounds * provided
        return key_of(self.digest, self.target, code, grounds)

    def inspect(self) -> tuple[Diagnostic, ...]:
        """Return all that is to be said; a failure to load is said too."""
        if self.plugin is not None and not self.around.plugins.sound(self.plugin):
            return ()  # Said once, of the plugin.
        try:
            self._loaded()
        except ImplementationError as error:
            return error.diagnostics or (
                whole_file(self.markdown.path, Code.BROKEN_IMPLEMENTATION, str(error)),
            )
        bond = self._bond
        assert bond is not None
        ways_out = own_clients(bond.file) if bond.file is not None else ()
        found = (*bond.diagnostics, *ways_out)
        if not found:
            provided = bool(bond.resources)
            key = self._compared(provided)
            self.around.comparisons.add(self.markdown.path, key, provided=provided)
        return found

    def _loaded(self) -> Implementation:
        """Return what was found; everything that runs foreign code happens under the deadline."""
        if self._found is not None:
            return self._found
        if self.plugin is not None:
            self.around.plugins.demand(self.plugin)
        load: Load[tuple[Implementation, Bond]] | None = None
        try:
            load = self._begun()
            found, self._bond = self.around.plugins.imports.end(load, self._key())
            self._found = found
            if self.ready():
                self.around.loaded.add(self._bond.call_spec.name)
        except OverdueError as error:
            raise self._overdue(error) from None
        except ForeignExitError as error:
            raise ImplementationError(f"{self._name()} can't be loaded: {reason(error)}") from error
        finally:
            with self._lock:
                if load is not None and not load.runs and self._load is load:
                    self._load = None
        return found

    def _begun(self) -> Load[tuple[Implementation, Bond]]:
        with self._lock:
            if self._load is None:
                imports = self.around.plugins.imports
                self._load = imports.begin(self._name(), self._look, self._key())
            return self._load

    def _look(self) -> tuple[Implementation, Bond]:
        call_spec, around = self.call_spec_of(), self.around
        function, modules, file = self.find(call_spec)
        bond = Bond(call_spec, function, self.markdown.data.decode(errors="replace"), file)
        found = bind(bond, self.target, around.resources.provides)
        providers = around.plugins.modules_behind("toolmd_resources")
        digest = around.code.of(modules, providers, provided=bool(bond.resources))
        return found._replace(hash=digest, keeps=around.plugins.modules), bond

    def _name(self) -> str:
        return f"the Python of {self.markdown.path}"

    def _key(self) -> Callable[[], Hashable]:
        return self.around.plugins.key_of(f"{self.target} {self.markdown.path}")

    def _overdue(self, error: OverdueError) -> NotLoadedError:
        """Report which line of the project is held up, and what to do."""
        path, line = self.python.path if self.python is not None else self.markdown.path, 1
        for frame in error.stack:
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
        return shown_path(Path(frame.filename), project), frame.lineno or 1
    return None
