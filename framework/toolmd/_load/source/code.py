"""Hash the code that an implementation runs: its modules and all that they import.

The hash covers more where the text leaves a doubt, and never runs code to find out.
"""

import hashlib
import importlib.util
import json
import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from toolmd._load.source.imports import Imports, imports_of
from toolmd._load.source.modules import PREFIX, Modules

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_OTHERS = frozenset({"toolmd", "builtins", *sys.stdlib_module_names})
"""Packages that no tool brings: their code is not a tool's own."""
_RESOURCES = b"toolmd_resources"
_MOST_TEXTS = 4096
_imports: dict[str, Imports] = {}
"""What texts import, by their hex sha256."""
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


class CodeHashes:
    """The hashes of the implementations of one snapshot; a module is read once.

    A hash covers each module of the project that an implementation imports, and, where it lies in
    an installed package, that package's modules. It does not cover other installed packages.
    """

    def __init__(self, modules: Modules, project: Path) -> None:
        self._modules = modules
        self._project = Path(os.path.realpath(project))
        self._sources: dict[str, _Source | None] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._edges: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def of(self, starts: Iterable[str], providers: Iterable[str], *, provided: bool) -> str:
        """Return the hex sha256 over the modules `starts` and what they import.

        Args:
            starts: The dotted names of the modules in which the implementation begins.
            providers: The modules of the plugins that register resources.
            provided: Whether the implementation takes resources by type.
        """
        own = [name for name in starts if name.partition(".")[0] not in _OTHERS]
        covered = self._covered(own)
        if provided or any("resource" in source.imports.attributes for source in covered):
            covered = self._covered([*own, *providers, *self._folder_providers()])
        rows = sorted((source.name, digest) for source in covered for digest in source.digests)
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()

    def _folder_providers(self) -> Iterator[str]:
        for name, file in self._modules.files.items():
            if file is not None and _RESOURCES in file.data:
                yield name

    def _covered(self, starts: list[str]) -> list[_Source]:
        tops = frozenset(name.partition(".")[0] for name in starts)
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

    def _lies_in_project(self, top: str) -> bool:
        spec = self._spec(top)
        if spec is None:
            return False
        places = [spec.origin] if spec.has_location else spec.submodule_search_locations
        for place in places or ():
            path = Path(os.path.realpath(place or ""))
            if path.is_relative_to(self._project):
                return _INSTALLED.isdisjoint(path.relative_to(self._project).parts)
        return False

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
            return _Source(shown, frozenset({digest}), package, _read_imports(digest, file.data))
        spec = self._spec(name)
        data = _bytes(spec) if spec is not None else None
        if spec is None or data is None:
            return None
        digest = hashlib.sha256(data).hexdigest()
        digests = {digest}
        if (module := sys.modules.get(name)) is not None:
            # The process runs on what it loaded, and the next one loads what the file holds now.
            digests.add(_first_read.setdefault(module, digest))
        package = spec.submodule_search_locations is not None
        return _Source(name, frozenset(digests), package, _read_imports(digest, data))

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


def _read_imports(digest: str, data: bytes) -> Imports:
    if (found := _imports.get(digest)) is None:
        if len(_imports) >= _MOST_TEXTS:
            _imports.clear()
        found = _imports[digest] = imports_of(data)
    return found


def _bytes(spec: ModuleSpec) -> bytes | None:
    read = getattr(spec.loader, "get_data", None)
    if read is None or not spec.has_location:
        return None
    try:
        data: bytes = read(spec.origin)
    except OSError:
        return None
    return data
