"""Hash the code that an implementation runs: its modules and all that they import.

The hash covers more where the text leaves a doubt, and never runs code to find out.
"""

import hashlib
import importlib.util
import json
import os
import sys
import weakref
from collections.abc import Iterable, Iterator, MutableMapping
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from toolmd._load.source.imports import Imports, imports_of
from toolmd._load.source.installed import INSTALLED, installed_stamp, is_settled
from toolmd._load.source.modules import PREFIX, Modules

_OTHERS = frozenset({"toolmd", "builtins", *sys.stdlib_module_names})
"""Packages that no tool brings: their code is not a tool's own."""
_RESOURCES = b"toolmd_resources"
_MOST_TEXTS = 1 << 16
_first_read: "weakref.WeakKeyDictionary[ModuleType, str]" = weakref.WeakKeyDictionary()
"""What the files of modules that stay in the process held when they were first read."""


class _Source(NamedTuple):
    """One module, read."""

    name: str
    """The same on each machine and in each snapshot."""
    digests: frozenset[str]
    """Hex sha256 of its bytes; two where a loaded file was edited since."""
    package: bool
    imports: Imports
    settled: bool = True
    """Whether the process runs on these bytes, as far as it has loaded the module."""

    @property
    def row(self) -> str:
        """The name and the bytes as a text."""
        return " ".join((self.name, *sorted(self.digests)))


class CodeHashes:
    """The hashes of the implementations of one snapshot; a module is read once.

    A hash covers each module of the project that an implementation imports, and, where it lies in
    an installed package, that package's modules. It does not cover other installed packages.
    """

    def __init__(
        self, modules: Modules, project: Path, imports: MutableMapping[str, Imports] | None = None
    ) -> None:
        """`imports` is what texts import, by their hex sha256: what is read is added to it."""
        self.imports = {} if imports is None else imports
        self._modules = modules
        self._project = Path(os.path.realpath(project))
        self._sources: dict[str, _Source | None] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._found_at: dict[str, tuple[Path, ...]] = {}
        self._edges: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def of(self, starts: Iterable[str], providers: Iterable[str], *, provided: bool) -> str:
        """Return the hex sha256 over the modules `starts` and what they import.

        Args:
            starts: The dotted names of the modules in which the implementation begins.
            providers: The modules of the plugins that register resources.
            provided: Whether the implementation takes resources by type.
        """
        return _hash(self._all(starts, providers, provided=provided)[0])

    def whole(
        self, starts: Iterable[str], providers: Iterable[str], *, provided: bool
    ) -> str | None:
        """Return a text that changes with what `of` covers, and with what is installed.

        None where other code may take part: a module whose name only the run knows, one that is
        neither covered nor in an installed package, or one whose file may have changed since the
        process loaded it.
        """
        covered, tops = self._all(starts, providers, provided=provided)
        if not covered or (installed := self._installed) is None:
            return None
        for source in covered:
            if source.imports.open_ended or not source.settled:
                return None
            for wanted in source.imports.found:
                if not (wanted.level or self._is_known(wanted.module.partition(".")[0], tops)):
                    return None
        return "\n".join([installed, *sorted(source.row for source in covered)])

    @cached_property
    def _installed(self) -> str | None:
        stamp = installed_stamp()
        return None if stamp is None else hashlib.sha256(stamp.encode()).hexdigest()

    def read(self) -> set[str]:
        """Return the hex sha256 of the texts that were read."""
        return {digest for one in self._sources.values() if one for digest in one.digests}

    def _all(
        self, starts: Iterable[str], providers: Iterable[str], *, provided: bool
    ) -> tuple[list[_Source], frozenset[str]]:
        """Return the modules that a hash covers, and the packages of which it covers all."""
        own = [name for name in starts if name.partition(".")[0] not in _OTHERS]
        covered = self._covered(own)
        if provided or any("resource" in source.imports.attributes for source in covered):
            covered = self._covered(own := [*own, *providers, *self._folder_providers()])
        return covered, _tops(own)

    def _folder_providers(self) -> Iterator[str]:
        for name, file in self._modules.files.items():
            if file is not None and _RESOURCES in file.data:
                yield name

    def _covered(self, starts: list[str]) -> list[_Source]:
        tops = _tops(starts)
        covered: list[_Source] = []
        seen: set[str] = set()
        todo = list(starts)
        while todo:
            name = todo.pop()
            if name in seen or not self._is_own(name, tops):
                continue
            seen.add(name)
            # To import a module runs its packages first.
            todo.append(name.rpartition(".")[0])
            if (source := self._source(name)) is not None:
                covered.append(source)
                todo += self._wanted(name, source, tops)
        return covered

    def _wanted(self, name: str, source: _Source, tops: frozenset[str]) -> tuple[str, ...]:
        """Return the project's and the package's modules that a module may import."""
        key = name, tops
        if key not in self._edges:
            found = dict.fromkeys(self._imported(name, source, tops))
            self._edges[key] = tuple(name for name in found if self._is_own(name, tops))
        return self._edges[key]

    def _is_own(self, name: str, tops: frozenset[str]) -> bool:
        """Check whether a name stands for the project's or the implementing package's code."""
        top = name.partition(".")[0]
        if top.startswith(PREFIX):
            return name in self._modules.files
        if not top or top in _OTHERS:
            return False
        return top in tops or self._lies_in_project(top)

    def _is_known(self, top: str, tops: frozenset[str]) -> bool:
        """Check whether a package is covered, installed, or part of Python or Toolmd."""
        if top in _OTHERS or self._is_own(top, tops):
            return True
        return any(not INSTALLED.isdisjoint(path.parts) for path in self._places(top))

    def _lies_in_project(self, top: str) -> bool:
        for path in self._places(top):
            if path.is_relative_to(self._project):
                return INSTALLED.isdisjoint(path.relative_to(self._project).parts)
        return False

    def _places(self, top: str) -> tuple[Path, ...]:
        """Return where a package or module lies that is imported by its name."""
        if top not in self._found_at:
            spec, places = self._spec(top), []
            if spec is not None:
                own = spec.submodule_search_locations or ()
                places = [spec.origin or ""] if spec.has_location else [*own]
            self._found_at[top] = tuple(Path(os.path.realpath(place)) for place in places)
        return self._found_at[top]

    def _imported(self, name: str, source: _Source, tops: frozenset[str]) -> Iterator[str]:
        for wanted in source.imports.found:
            base = wanted.module
            if wanted.level:
                above = name.split(".")[: None if source.package else -1]
                kept = len(above) - wanted.level + 1
                base = ".".join([*above[:kept], *filter(None, [base])]) if kept > 0 else ""
            if not self._is_own(base, tops):
                continue
            if "*" in wanted.names and self._is_package(base):
                yield from self._below(base, deep=False)
            for found in (base, *(f"{base}.{part}" for part in wanted.names)):
                yield found
                if self._is_own(found, tops) and self._is_package(found):
                    yield from (f"{found}.{attribute}" for attribute in source.imports.attributes)
        if source.imports.open_ended:
            yield from self._below(name.partition(".")[0], deep=True)

    def _is_package(self, name: str) -> bool:
        if name.startswith(PREFIX):
            file = self._modules.files[name]
            return file is None or file.parts[-1] == "__init__.py"
        spec = self._spec(name)
        return spec is not None and spec.submodule_search_locations is not None

    def _below(self, package: str, *, deep: bool) -> Iterator[str]:
        """Return the modules of a package; `deep` also those of the packages within it."""
        if package.startswith(PREFIX):
            for name in self._modules.files:
                head, _, last = name.rpartition(".")
                if last and (head == package or (deep and name.startswith(f"{package}."))):
                    yield name
            return
        spec = self._spec(package)
        for place in (spec.submodule_search_locations if spec is not None else None) or ():
            for file in Path(place).glob("**/*.py" if deep else "*.py"):
                yield ".".join((package, *file.relative_to(place).with_suffix("").parts))
            if not deep:
                yield from (f"{package}.{f.parent.name}" for f in Path(place).glob("*/__init__.py"))

    def _source(self, name: str) -> _Source | None:
        if name not in self._sources:
            self._sources[name] = self._read(name)
        return self._sources[name]

    def _read(self, name: str) -> _Source | None:
        if name.startswith(PREFIX):
            if (file := self._modules.files[name]) is None:
                return None
            digest = hashlib.sha256(file.data).hexdigest()
            shown, package = "/".join(file.parts), file.parts[-1] == "__init__.py"
            imports = self._read_imports(digest, file.data)
            return _Source(shown, frozenset({digest}), package, imports)
        spec = self._spec(name)
        data = _bytes(spec) if spec is not None else None
        if spec is None or data is None:
            return None
        digest = hashlib.sha256(data).hexdigest()
        digests = {digest}
        settled = name not in sys.modules or is_settled(spec.origin or "")
        if (module := sys.modules.get(name)) is not None:
            # The process runs on what it loaded, and the next one loads what the file holds now.
            digests.add(_first_read.setdefault(module, digest))
        package = spec.submodule_search_locations is not None
        imports = self._read_imports(digest, data)
        return _Source(name, frozenset(digests), package, imports, settled)

    def _read_imports(self, digest: str, data: bytes) -> Imports:
        if (found := self.imports.get(digest)) is None:
            if len(self.imports) >= _MOST_TEXTS:
                self.imports.clear()
            found = self.imports[digest] = imports_of(data)
        return found

    def _spec(self, name: str) -> ModuleSpec | None:
        if name not in self._specs:
            try:
                self._specs[name] = self._found(name)
            except Exception:  # noqa: BLE001 - finders of others may raise anything
                self._specs[name] = None
        return self._specs[name]

    def _found(self, name: str) -> ModuleSpec | None:
        """Find a module without importing anything."""
        loaded = sys.modules.get(name)
        if loaded is not None:
            spec: ModuleSpec | None = getattr(loaded, "__spec__", None)
            file = getattr(loaded, "__file__", None)
            return spec or (importlib.util.spec_from_file_location(name, file) if file else None)
        head = name.rpartition(".")[0]
        if not head:
            return importlib.util.find_spec(name)
        above = self._spec(head)
        places = above.submodule_search_locations if above is not None else None
        return PathFinder.find_spec(name, places) if places is not None else None


def _tops(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in names)


def _hash(covered: Iterable[_Source]) -> str:
    rows = sorted((source.name, digest) for source in covered for digest in source.digests)
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _bytes(spec: ModuleSpec) -> bytes | None:
    read = getattr(spec.loader, "get_data", None)
    if read is None or not spec.has_location:
        return None
    try:
        data: bytes = read(spec.origin)
    except OSError:
        return None
    return data
