"""Keep the last working Python of a file live while its new content can't be loaded."""

from collections.abc import Iterable, Iterator, Mapping
from time import monotonic
from typing import Any, NamedTuple, Protocol

from toolmd._load.definitions.folders import PLUGIN
from toolmd._load.source.files import File, whole_file
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import Bound, Registry
from toolmd.errors import ImplementationError

OVERLAP_S = 0.25
"""How long one import is waited for before the next begins beside it, in seconds."""
MOST = 8
"""Files that are put back in one reload; a project in which more are broken says so at calls."""


class LastPython(NamedTuple):
    """A file of before, in the place of one that can't be loaded."""

    file: File
    name: str
    """The tool or skill that failed."""
    said: tuple[Diagnostic, ...]
    """What is wrong with the file that is there now."""


Put = Mapping[str, LastPython]
"""What is put back, by the path of the file."""


class Loaded(Protocol):
    """A snapshot, as far as its Python goes."""

    @property
    def registry(self) -> Registry:
        """What can be called."""

    @property
    def python(self) -> Mapping[str, File]:
        """The Python of its folders, by path."""

    @property
    def digests(self) -> Mapping[str, str]:
        """What each definition says, by name."""

    @property
    def used(self) -> frozenset[str]:
        """The definitions whose Python was loaded once, here or before."""


def used_of(snapshot: Loaded) -> frozenset[str]:
    """Return the definitions whose Python is known to load."""
    return snapshot.used | {name for name, bound in _bound(snapshot.registry) if bound.ready}


def still_importing(old: Loaded, new: Loaded, until: float) -> tuple[str, ...]:
    """Import what was in use and may have changed; return what has no answer at `until`.

    `until` is a moment of `time.monotonic`. Imports overlap, so that several that hang cost no
    more time than one.
    """
    found = [*changed_in_use(old, new)]
    for _, bound in found:
        assert bound.binding.start is not None
        bound.binding.start(max(0.0, min(OVERLAP_S, until - monotonic())))
    return tuple(
        name
        for name, bound in found
        if bound.binding.start is not None
        and not bound.binding.start(max(0.0, until - monotonic()))
    )


def python_meanwhile(old: Loaded, new: Loaded, names: Iterable[str]) -> Put:
    """Return what stands in for all changed Python while the definitions `names` are imported."""
    kept = {_target(new, name): name for name in names}
    changed = [path for path, file in new.python.items() if old.python.get(path, file) != file]
    return {
        path: LastPython(old.python[path], kept.get(path, ""), (_waits(path),))
        for path in changed
        if new.python[path].parts != (PLUGIN,)
    }


def broken_python(old: Loaded, new: Loaded, put: Put) -> LastPython | None:
    """Load what was in use and may have changed; return the first file to restore."""
    if len(put) >= MOST:
        return None
    for name, bound in changed_in_use(old, new):
        assert bound.binding.load is not None
        try:
            bound.binding.load()
        except ImplementationError as error:
            for path in _suspects(bound, error):
                before, now = old.python.get(path), new.python.get(path)
                may = before is not None and now is not None and now.parts != (PLUGIN,)
                if before is not None and may and path not in put and before != now:
                    return LastPython(before, name, (*error.diagnostics, _stale(path, name)))
    return None


def changed_in_use(old: Loaded, new: Loaded) -> Iterator[tuple[str, Bound[Any]]]:
    """Yield what was in use and whose Python or markdown may have changed."""
    # Compared once: the loop runs over as many definitions as there are files.
    same_python = new.python == old.python
    for name, bound in _bound(new.registry):
        same = same_python and new.digests.get(name) == old.digests.get(name)
        if name in new.used and not same and bound.binding.load is not None:
            yield name, bound


def _suspects(bound: Bound[Any], error: ImplementationError) -> Iterator[str]:
    """Return the files that may be at fault: where it was raised, then the Python beside."""
    for found in error.diagnostics:
        yield found.span.path
    yield bound.binding.target.rpartition(":")[0]


def _bound(registry: Registry) -> Iterator[tuple[str, Bound[Any]]]:
    yield from registry.tools.items()
    yield from registry.skills.items()


def _target(snapshot: Loaded, name: str) -> str:
    bound = dict(_bound(snapshot.registry)).get(name)
    return bound.binding.target.rpartition(":")[0] if bound is not None else ""


def _waits(path: str) -> Diagnostic:
    message = "the project's Python is still being imported, so what this file held before runs on"
    told = whole_file(path, Code.STALE_PYTHON, message, "wait, or mend what takes so long")
    return told._replace(severity=Severity.WARNING)


def _stale(path: str, name: str) -> Diagnostic:
    message = f"{name} can't be loaded with this file, so what the file held before runs on"
    told = whole_file(path, Code.STALE_PYTHON, message, "mend the file")
    return told._replace(severity=Severity.WARNING)
