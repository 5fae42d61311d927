"""Build separate Python modules for each snapshot from the bytes that were read.

The modules of a snapshot lie in a package of a private, unique name, so that relative imports
among the files of a folder of definitions find the files of the same snapshot, and two snapshots
never share a module. Nothing is reloaded, and no `.pyc` is read or written: an edit of equal
length within a second would run the old code.
"""

import hashlib
import importlib
import itertools
import linecache
import sys
import weakref
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, cast

from toolmd._load.source.files import File

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

    def fingerprint(self) -> str:
        """Return the hex sha256 over all files, by their names in any snapshot."""
        found = hashlib.sha256()
        for name, file in sorted(self.files.items()):
            if file is not None:
                found.update(f"{name.partition('.')[2]} {code_hash(file)}\n".encode())
        return found.hexdigest()

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


def code_hash(file: File) -> str:
    """Return the hex sha256 of the bytes that are compiled."""
    return hashlib.sha256(file.data).hexdigest()


def _part(name: str) -> str:
    # A dot would make a folder `v1.2` two packages.
    return name.replace(".", "_")


def _forget(root: str) -> None:
    below = f"{root}."
    for name in [n for n in list(sys.modules) if n == root or n.startswith(below)]:
        sys.modules.pop(name, None)
