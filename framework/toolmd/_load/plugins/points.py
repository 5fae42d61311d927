"""Find the entry points of plugins: of installed packages, and of the package that a project is."""

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from toolmd.errors import ImplementationError, did_you_mean
from toolmd.hooks import GROUP

_PROJECT = "pyproject.toml"


class SourcePackage(NamedTuple):
    """A package that lies in a project's folder and need not be installed."""

    name: str
    version: str
    points: tuple[tuple[str, str], ...]
    """The name and the value of each entry point."""


def entry_points(
    allowed: Sequence[str] | None, project: Path | None, report: Callable[[str, str], object]
) -> Iterator[tuple[str, Any, Any]]:
    """Return the name, the entry point and the package of each plugin that may be loaded.

    The package whose source is the project goes before an installed one of the same name.
    """
    if allowed is not None and not allowed:
        return
    # Its import takes as long as opening a hundred tools.
    from importlib import metadata

    wanted = None if allowed is None else {_folded(name) for name in allowed}
    missing = set(wanted or ())
    seen: set[str] = set()
    for package, points in _packages(project, metadata):
        if _folded(package.name) in seen:
            continue  # The first on the path is the one that is imported.
        seen.add(_folded(package.name))
        for number, point in enumerate(points):
            names = {_folded(package.name), _folded(point.name)}
            missing -= names
            if wanted is None or names & wanted:
                yield (f"{package.name}:{point.name}" if number else package.name), point, package
    for name in sorted(missing):
        report(name, "is named in `plugins` and not installed")


def load_point(point: Any) -> Any:
    """Import the object that an entry point names.

    Raises ImplementationError where the entry point names nothing, with the text to fix; an
    error within the module itself is raised as it is.
    """
    value = point.value.partition("[")[0]
    module, _, name = (part.strip() for part in value.partition(":"))
    text = f"`{point.name} = {point.value!r}`"
    remedy = f"fix {text} below [project.entry-points.{GROUP}] and install the package again"
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        message = f"its entry point names the module {module!r}, which does not exist; {remedy}"
        raise ImplementationError(message) from error
    except (ValueError, TypeError) as error:
        if module and not module.startswith("."):
            raise
        raise ImplementationError(f"its entry point names no module; {remedy}") from error
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            said = f"its entry point names {part!r}, which {module!r} does not have"
            near = did_you_mean(part, dir(found))
            raise ImplementationError("; ".join(filter(None, (said, near, remedy))))
        found = getattr(found, part)
    return found


def is_installed(package: str) -> bool:
    """Return whether a package is installed, allowed to load or not."""
    from importlib import metadata

    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _packages(project: Path | None, metadata: Any) -> Iterator[tuple[Any, Any]]:
    source = source_package(project) if project is not None else None
    if source is not None and project is not None:
        _sources.add(project, source)
        points = [metadata.EntryPoint(name, value, GROUP) for name, value in source.points]
        yield source, points
    for distribution in metadata.distributions():
        # Reading the file is four times as quick as asking for all entry points of all packages.
        text = distribution.read_text("entry_points.txt")
        if text and f"[{GROUP}]" in text:
            yield distribution, distribution.entry_points.select(group=GROUP)


def source_package(project: Path) -> SourcePackage | None:
    """Return the plugin package whose pyproject.toml lies in a folder; None where none does."""
    try:
        data = (project / _PROJECT).read_bytes()
        if b"entry-points" not in data:
            return None
        # Only here: most projects are no packages.
        import tomllib

        table = tomllib.loads(data.decode())["project"]
        points = table["entry-points"][GROUP].items()
        found = tuple((name, value) for name, value in points if isinstance(value, str))
        return SourcePackage(str(table["name"]), str(table.get("version", "0")), found)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # The settings say what is wrong with a file that speaks of Toolmd.


class _Sources:
    """Import the packages of projects from where they lie; nothing else of their folders."""

    def __init__(self) -> None:
        self._places: dict[str, str] = {}

    def add(self, project: Path, package: SourcePackage) -> None:
        """Make a project's package importable, below `src` or flat."""
        for _, value in package.points:
            top = value.partition(":")[0].strip().partition(".")[0]
            for place in (project / "src", project):
                if (place / top).is_dir() or (place / f"{top}.py").is_file():
                    self._places[top] = str(place)
                    break
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a package of a project."""
        place = self._places.get(fullname) if path is None else None
        return PathFinder.find_spec(fullname, [place], target) if place is not None else None


_sources = _Sources()


def _folded(name: str) -> str:
    return name.replace("_", "-").replace(".", "-").lower()
