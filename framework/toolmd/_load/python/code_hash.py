"""Hash the Python of a project: confirmations, records and runs are bound to it."""

import contextlib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from toolmd._load.plugins.manager import Plugins
from toolmd._load.source.files import SKIPPED
from toolmd._load.source.modules import PREFIX

_SKIPPED = SKIPPED | {"site-packages", "dist-packages"}
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
        for name, file in self._plugins.modules.files.items():
            if file is not None:
                read.add(os.path.realpath(file.location))
                yield name.partition(".")[2], hashlib.sha256(file.data).hexdigest()
        for place in _python_below(self._root):
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
            for file in _python_below(os.path.realpath(place)):
                if (data := _bytes(file)) is not None:
                    yield os.path.relpath(file, above), hashlib.sha256(data).hexdigest()


def _python_below(place: str) -> Iterator[str]:
    # A project may hold thousands of files, so they are texts in place of paths.
    if place.endswith(".py"):
        yield place
    for at, folders, names in os.walk(place):
        folders[:] = [
            one
            for one in folders
            if one[0] != "."
            and one not in _SKIPPED
            and not os.path.exists(os.path.join(at, one, "pyvenv.cfg"))  # noqa: PTH110, PTH118
        ]
        yield from (os.path.join(at, name) for name in names if name.endswith(".py"))  # noqa: PTH118


def _bytes(place: str) -> bytes | None:
    with contextlib.suppress(OSError), open(place, "rb") as opened:  # noqa: PTH123 - as above
        return opened.read()
    return None
