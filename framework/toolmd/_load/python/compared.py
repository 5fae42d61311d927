"""Remember which definitions fit their Python, so that only what changed is imported again.

Only a comparison that found nothing is remembered, with a key over all that it read. A definition
whose key is another one by now is compared again, and so is one whose key is not known.
"""

import contextlib
import hashlib
from collections.abc import Callable, Collection

from toolmd._load.definitions.cache import NONSENSE, Cache
from toolmd._load.source.imports import Import, Imports

PYTHON = "specs.python.json"
"""Next to the cache of specs; it is read when Python is checked, not when a project is opened."""


class Comparisons:
    """The comparisons of a project that found nothing, by the paths of the definitions."""

    def __init__(self, cache: Cache | None = None) -> None:
        """Without a cache, what is found is remembered in this process only."""
        self.imports: dict[str, Imports] = {}
        """What texts import, by their hex sha256: to parse them takes longer than all else."""
        self._cache = cache
        self._loaded = cache is None
        self._rows: dict[str, tuple[str, bool]] = {}
        self._used: set[str] = set()
        self._fresh = False

    def holds(self, path: str, key_of: Callable[[bool], str | None]) -> bool:
        """Return whether a definition was found to fit, and its key is still the same.

        Args:
            path: The definition's.
            key_of: Returns the key; its argument is whether the Python takes resources.
        """
        row = self._rows.get(path)
        if row is None or row[0] != key_of(row[1]):
            return False
        self._used.add(path)
        return True

    def add(self, path: str, key: str | None, *, provided: bool) -> None:
        """Remember that a definition fits; without a key, it is compared again each time."""
        if key is not None:
            self._fresh |= self._rows.get(path) != (key, provided)
            self._rows[path] = key, provided
            self._used.add(path)

    def load(self) -> None:
        """Read what an earlier process remembered, once."""
        if self._loaded or self._cache is None:
            return
        self._loaded = True
        head = self._cache.read_more(PYTHON)
        with contextlib.suppress(*NONSENSE):
            rows = {path: (str(key), bool(provided)) for path, (key, provided) in head["rows"]}
            imports = {text: _imports(*one) for text, one in head["imports"]}
            self._rows = rows | self._rows
            self.imports.update(imports | self.imports)

    def save(self, texts: Collection[str] | None = None) -> None:
        """Write what is new.

        Args:
            texts: The hex sha256 of all texts that were read, if all definitions were compared:
                what belongs to no other is forgotten. None where only some were compared.
        """
        if self._cache is None or not self._fresh:
            return
        self._fresh = False
        rows = [(path, row) for path, row in [*self._rows.items()]
                if texts is None or path in self._used]  # fmt: skip
        imports = [(text, (one.found, [*one.attributes], one.open_ended))
                   for text, one in [*self.imports.items()]
                   if texts is None or text in texts]  # fmt: skip
        self._cache.write_more(PYTHON, {"rows": rows, "imports": imports})


def key_of(digest: str, target: str, code: str | None, grounds: str) -> str | None:
    """Return the key of a comparison; None where it is not known what it rests on.

    Args:
        digest: The hex sha256 of the definition.
        target: The place of its function.
        code: A text that changes with the code that takes part, if all of it is known.
        grounds: A text that changes with what else the resources depend on, if it takes any.
    """
    if not digest or code is None:
        return None
    return hashlib.sha256(f"{digest}\n{target}\n{code}\n{grounds}".encode()).hexdigest()


def _imports(
    found: list[tuple[int, str, list[str]]],
    attributes: list[str],
    open_ended: bool,  # noqa: FBT001
) -> Imports:
    made = (Import(level, module, tuple(names)) for level, module, names in found)
    return Imports(tuple(made), frozenset(attributes), bool(open_ended))
