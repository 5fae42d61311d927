"""Keep the last working Python of a file live while its new content can't be loaded."""

from collections.abc import Collection, Iterable, Iterator, Mapping
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
    names: tuple[str, ...]
    """The tools and skills that failed; those whose function is in the file run on with them."""
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
    kept: dict[str, tuple[str, ...]] = {}
    for name in names:
        path = path_of(dict(_bound(new.registry))[name].binding.target)
        kept[path] = (*kept.get(path, ()), name)
    changed = [path for path, file in new.python.items() if old.python.get(path, file) != file]
    return {
        path: LastPython(old.python[path], kept.get(path, ()), (_waits(path),))
        for path in changed
        if new.python[path].parts != (PLUGIN,)
    }


def broken_python(old: Loaded, new: Loaded, tried: Collection[str]) -> LastPython | None:
    """Load what was in use and may have changed; return the first file to restore.

    `tried` are the paths of the files that were restored before, with success or without.
    """
    if len(tried) >= MOST:
        return None
    first: LastPython | None = None
    for name, paths, said in _failures(old, new):
        for path in paths:
            before, now = old.python.get(path), new.python.get(path)
            may = before is not None and now is not None and now.parts != (PLUGIN,)
            if before is None or not may or path in tried or before == now:
                continue
            if first is None:
                first = LastPython(before, (name,), (*said, _stale(path, name)))
            elif first.file.path == path:
                more = (*said, _stale(path, name))
                first = first._replace(names=(*first.names, name), said=(*first.said, *more))
            break
    return first


def useless_python(old: Loaded, new: Loaded, put: Put) -> str | None:
    """Return the path of a file that was restored for nothing: what failed with it still fails."""
    if not put:
        return None
    bound = dict(_bound(new.registry))

    def works(name: str) -> bool:
        one = bound.get(name)
        if one is None or one.binding.load is None:
            return False
        if new.digests.get(name) == old.digests.get(name):
            return True  # Its file and its Python are those of before.
        try:
            one.binding.load()
        except ImplementationError:
            return False
        return True

    return next((path for path, last in put.items() if not any(map(works, last.names))), None)


def _failures(
    old: Loaded, new: Loaded
) -> Iterator[tuple[str, Iterable[str], tuple[Diagnostic, ...]]]:
    """Yield what can't be loaded any more, the files that may be at fault, and what is wrong."""
    for name, bound in changed_in_use(old, new):
        assert bound.binding.load is not None
        try:
            bound.binding.load()
        except ImplementationError as error:
            yield name, _suspects(bound, error), error.diagnostics
    if new.python is old.python:
        return
    before = {name: path_of(bound.target) for name, bound in _bound(old.registry)}
    for name, bound in _bound(new.registry):
        path = before.get(name, "")
        changed = path in old.python and path in new.python and old.python[path] != new.python[path]
        # Found by its name alone, a function leaves no place when it is gone.
        if name in new.used and changed and bound.binding.kind == "none":
            message = f"{path} has no function `{name}` any more"
            help_ = f"define `{name}`, or name another place with Implemented By"
            yield name, (path,), (whole_file(path, Code.MISSING_FUNCTION, message, help_),)


def changed_in_use(old: Loaded, new: Loaded) -> Iterator[tuple[str, Bound[Any]]]:
    """Yield what was in use and whose Python or markdown may have changed."""
    # Compared once: the loop runs over as many definitions as there are files.
    same_python = new.python == old.python
    for name in new.used:
        if same_python and new.digests.get(name) == old.digests.get(name):
            continue
        bound = new.registry.tools.get(name) or new.registry.skills.get(name)
        if bound is not None and bound.binding.load is not None:
            yield name, bound


def _suspects(bound: Bound[Any], error: ImplementationError) -> Iterator[str]:
    """Return the files that may be at fault: where it was raised, then the Python beside."""
    for found in error.diagnostics:
        yield found.span.path
    yield path_of(bound.binding.target)


def _bound(registry: Registry) -> Iterator[tuple[str, Bound[Any]]]:
    yield from registry.tools.items()
    yield from registry.skills.items()


def path_of(target: str) -> str:
    """Return the file of a binding's target, without the function."""
    return target.rpartition(":")[0]


def _waits(path: str) -> Diagnostic:
    message = "the project's Python is still being imported, so what this file held before runs on"
    help_ = "wait, or fix what takes so long"
    return whole_file(path, Code.STALE_PYTHON, message, help_, Severity.WARNING)


def _stale(path: str, name: str) -> Diagnostic:
    message = f"{name} can't be loaded with this file, so what the file held before runs on"
    return whole_file(path, Code.STALE_PYTHON, message, "fix the file", Severity.WARNING)


def mark_stale(registry: Registry, put: Put) -> Registry:
    """Mark what runs on Python that was put back; return the registry."""
    if not put:
        return registry
    failed = {path: last.names for path, last in put.items() if last.names}
    names = {name for failing in failed.values() for name in failing}
    every: tuple[Bound[Any], ...] = (*registry.tools.values(), *registry.skills.values())
    for bound in every:
        bound.stale |= bound.name in names or path_of(bound.target) in failed
    return registry
