"""Gather the plugins of one snapshot: built in, installed, and of the definitions' folders."""

import inspect
import logging
import os
import re
import reprlib
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pluggy
from pluggy._hooks import HookImpl

from toolmd._load.files import INSTALLED, path_in_project, python_below, whole_file
from toolmd._load.modules import PREFIX, Modules, run_in_time
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.registry import PluginInfo
from toolmd.errors import ForeignExitError, ImplementationError, ToolmdError, did_you_mean
from toolmd.hooks import GROUP, PROJECT, new_manager

_PROJECT = "pyproject.toml"


class SourcePackage(NamedTuple):
    """A package that lies in a project's folder and need not be installed."""

    name: str
    version: str
    points: tuple[tuple[str, str], ...]
    """The name and the value of each entry point."""

    def read_text(self, _name: str) -> None:
        """Return None: no file of an installation is there."""


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

    wanted = None if allowed is None else {_fold(name) for name in allowed}
    missing = set(wanted or ())
    seen: set[str] = set()
    for package, points in _packages(project, metadata):
        if _fold(package.name) in seen:
            continue  # The first on the path is the one that is imported.
        seen.add(_fold(package.name))
        for number, point in enumerate(points):
            names = {_fold(package.name), _fold(point.name)}
            missing -= names
            if wanted is None or names & wanted:
                yield (f"{package.name}:{point.name}" if number else package.name), point, package
    for name in sorted(missing):
        report(name, "is named in `plugins` and not installed")


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


def _fold(name: str) -> str:
    return name.replace("_", "-").replace(".", "-").lower()


def may_have_hooks(module: ModuleType) -> bool:
    """Return whether a module has functions that are marked as hooks, as far as it tells."""
    values = [value for name, value in [*vars(module).items()] if not name.startswith("__")]
    marked = any(inspect.isroutine(value) and hasattr(value, f"{PROJECT}_impl") for value in values)
    return marked or "__dir__" in vars(module)


_EARLY = {
    "toolmd_default_min": "safety.default_min",
    "toolmd_crisis_words": "safety.crisis_words",
}
"""The restrictions that are asked for before a folder's plugin loads, and their settings."""


def reject_early_hooks(module: object) -> None:
    """Raise ToolmdError where a folder's plugin has a restriction that nobody would ask for."""
    for hook, setting in _EARLY.items():
        if hasattr(getattr(module, hook, None), f"{PROJECT}_impl"):
            message = f"{hook} is for installed packages: write `{setting}` in the settings"
            raise ToolmdError(message)


class UnknownHookError(ToolmdError):
    """A plugin implements a hook that does not exist."""


def reject_unknown_hooks(manager: pluggy.PluginManager, plugin: object) -> None:
    """Raise UnknownHookError for a hook that does not exist: as a guard, it would check nothing."""
    for name in dir(plugin):
        marked = manager.parse_hookimpl_opts(plugin, name) is not None
        if marked and not getattr(manager.hook, name).has_spec():
            known = [n for n, hook in vars(manager.hook).items() if hook.has_spec()]
            hint = did_you_mean(name, known)
            raise UnknownHookError(f"implements {name}, which is no hook{hint and '; '}{hint}")


def mismatch(error: pluggy.PluginValidationError, manager: pluggy.PluginManager) -> str:
    """Describe the parameters of an implementation that its hook does not pass."""
    said = re.search(r"for hook '(\w+)'.*Argument\(s\) \{(.+?)\}", str(error), re.DOTALL)
    if said is None:
        return f"does not fit: {error}"
    given = getattr(manager.hook, said[1]).spec.argnames
    return f"takes {said[2]} in {said[1]}, which gives {', '.join(given) or 'nothing'}"


INTERFACES = ("toolmd._gateway",)
"""The packages of Toolmd itself that register by hooks; the kernel works without their folders."""
_log = logging.getLogger(__name__)
_PRIVATE = re.compile(rf"{PREFIX}\d+\.")


class PluginAnswer(NamedTuple):
    """The result of one plugin for one hook call."""

    plugin: str
    value: Any
    error: BaseException | None = None


class Plugins:
    """The plugins of a snapshot, in a manager of its own.

    Installed ones load at once, since they say where definitions are. Those of a folder of
    definitions load when a hook is first asked that they may answer: reading a project runs none
    of its code.
    """

    def __init__(
        self,
        allowed: Sequence[str] | None = None,
        given: Mapping[str, object] | None = None,
        project: Path | None = None,
        *,
        import_timeout: float,
    ) -> None:
        """Load those in `allowed` (None: all) of the installed, and of the package in `project`."""
        self.manager = new_manager()
        self.diagnostics: list[Diagnostic] = []
        self.listed: dict[str, PluginInfo] = {}
        """The state of each plugin, by its name."""
        self._timeout = import_timeout
        self.modules = Modules()
        """The Python of the snapshot; forgotten when its plugins are."""
        self._late: dict[str, Callable[[], object]] = {}
        self.sources: dict[str, Stamps] = {}
        """The files of each package that can be edited, by its folder."""
        self._changed: list[tuple[str, str]] = []
        """The plugins that differ from what this process imported, and in which file."""
        self._points: dict[str, str] = {}
        """The modules that entry points name, by plugin."""
        self._beside: set[str] = set()
        """The modules of implementations; they load when their tools are called."""
        self._broken: dict[str, BaseException] = {}
        self._lock = threading.RLock()
        for name in INTERFACES:
            if find_spec(name) is not None:
                self._admit(name, import_module(f"{name}.plugin"))
        for name, plugin in (given or {}).items():
            self._register(name, plugin)
        for name, point, package in entry_points(allowed, project, self._report):
            self._load(name, point, package)

    @property
    def installed(self) -> tuple[Any, ...]:
        """The installed plugins: equal where they are the same."""
        return tuple(i for i in self.listed.values() if i.package is not None), self._points

    def add_late(self, name: str, load: Callable[[], object], *, implements: bool = False) -> None:
        """Register a folder's plugin; it loads when a hook is first called.

        With `implements` it is a module of implementations, which may have hooks, too.
        """
        with self._lock:
            self._late[name] = load
            if implements:
                self._beside.add(name)
            else:
                self.listed[name] = PluginInfo(name, state="asleep")

    def add_module(self, name: str, module: ModuleType) -> None:
        """Register an implementation's module: its hooks, if any, are called from now on."""
        if not may_have_hooks(module):
            return  # To register a thousand modules takes longer than to import them.
        with self._lock:
            self._beside.add(name)
            self._admit_of_folder(name, module)

    def wake(self) -> None:
        """Load the folders' plugins; a broken one is kept in `broken`, and the rest load."""
        if not self._late:
            return
        with self._lock:
            for name, load in list(self._late.items()):
                info = PluginInfo(name)
                try:
                    module = run_in_time(name, load, self._timeout)
                    self._admit_of_folder(name, module)
                    info = PluginInfo(name, about=_about(module))
                except Exception as error:  # noqa: BLE001 - a plugin may raise anything
                    self._broken[name] = error
                    info = PluginInfo(name, state="broken", about=reason(error))
                if name not in self._beside:
                    self.listed[name] = info
                del self._late[name]

    def demand(self, name: str) -> None:
        """Raise ImplementationError where the folder's plugin `name` does not load."""
        self.wake()
        if (error := self._broken.get(name)) is not None:
            # It may have guards: without them, its folder's tools would be less restricted.
            raise ImplementationError(
                f"{name} can't be loaded: {reason(error)}; calls to its folder's tools are denied"
            ) from error

    def sound(self, name: str) -> bool:
        """Return whether the folder's plugin `name` loads."""
        self.wake()
        return name not in self._broken

    def broken(self) -> Iterator[tuple[str, BaseException]]:
        """Return the folders' plugins that do not load, and why."""
        self.wake()
        yield from self._broken.items()

    def implements(self, hook: str, *, awake: bool = True) -> bool:
        """Return whether any plugin answers this hook; asleep, only those that are loaded."""
        if awake:
            self.wake()
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        return bool(caller.get_hookimpls())

    def ask(
        self, hook: str, *, awake: bool = True, at_load: bool = True, **arguments: Any
    ) -> Iterator[PluginAnswer]:
        """Call a hook of each plugin in turn; a failure is reported, and the next plugin is called.

        Without `at_load`, the hook runs in the caller's thread and has no deadline.
        """
        if awake:
            self.wake()
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        for implementation in reversed(caller.get_hookimpls()):
            plugin = implementation.plugin_name
            try:
                if at_load:
                    answer = partial(_call, implementation, arguments)
                    value = run_in_time(f"{hook} of {plugin}", answer, self._timeout)
                else:
                    value = _call(implementation, arguments)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise  # Perhaps the user's own: without a deadline, this is their thread.
                _log.warning("%s of %s failed", hook, plugin, exc_info=error)
                yield PluginAnswer(plugin, None, error)
            else:
                yield PluginAnswer(plugin, value)

    def tell(self, hook: str, **arguments: Any) -> None:
        """Call a hook of each plugin in turn, in the caller's thread; a failure is logged."""
        self.wake()
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        for implementation in reversed(caller.get_hookimpls()):
            try:
                _call(implementation, arguments)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - foreign code
                _log.warning("%s of %s failed", hook, implementation.plugin_name, exc_info=error)

    def changed(self, project: Path, read: Sequence[Path]) -> Iterator[Diagnostic]:
        """Yield a warning for each plugin whose Python is not the one that runs.

        Python below the folders `read` is left out: each snapshot imports it again.
        """
        told = set()
        for name, path in self._changed:
            if name not in told and not any(Path(path).is_relative_to(place) for place in read):
                told.add(name)
                shown = path_in_project(Path(path), project) if path else name
                message = f"plugin {name} changed since this process imported it"
                help_ = "restart this process to use it"
                yield whole_file(shown, Code.CHANGED_PLUGIN, message, help_, Severity.WARNING)

    def plugin(self, name: str) -> object | None:
        """Return a plugin by its name."""
        plugin: object | None = self.manager.get_plugin(name)
        return plugin

    def modules_of(self, name: str) -> tuple[str, ...]:
        """Return the dotted names of the modules in which a plugin's code begins."""
        own = home_of(self.plugin(name))
        return tuple(dict.fromkeys((own, self._points.get(name, own))))

    def modules_behind(self, hook: str) -> Iterator[str]:
        """Return the modules of the plugins that answer a hook; implementations' own left out."""
        self.wake()
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        for implementation in caller.get_hookimpls():
            if implementation.plugin_name not in self._beside:
                yield implementation.function.__module__
                yield from self.modules_of(implementation.plugin_name)

    def _load(self, name: str, point: Any, package: Any) -> None:
        info = PluginInfo(name, package.name, package.version, "loaded")
        # RECORD has the hash of each file: an installed package may change under one version.
        release = f"{package.version} {package.read_text('RECORD')}"
        self._points[name] = module = point.value.partition(":")[0].strip()
        sources = _sources_of(module.partition(".")[0])
        self.sources |= sources
        try:
            plugin = run_in_time(f"plugin {name}", partial(_instantiate, point), self._timeout)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._report(name, f"can't be loaded from `{point.value}`: {reason(error)}")
        else:
            self._register(name, plugin)
        if self.manager.has_plugin(name):
            self.listed[name] = info._replace(about=_about(self.plugin(name)))
            imported = sys.modules.get(module)
            if module not in _imported or _imported[module][0] is not imported:
                _imported[module] = imported, release, sources
            _, before, known = _imported[module]
            if before != release:
                self._changed.append((name, ""))
            self._changed += [
                (name, path)
                for folder, stamps in known.items()
                for path, stamp in stamps.items()
                if sources.get(folder, {}).get(path) != stamp
            ]
        else:
            self.listed[name] = info._replace(state="broken", about=self.diagnostics[-1].message)

    def _register(self, name: str, plugin: object) -> None:
        try:
            self._admit(name, plugin)
        except UnknownHookError as error:
            self._report(name, str(error), Code.UNKNOWN_HOOK)
        except ToolmdError as error:
            self._report(name, str(error))
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._report(name, f"does not fit: {reason(error)}")

    def _admit_of_folder(self, name: str, module: object) -> None:
        """Register a module of a folder of definitions once; raises ToolmdError."""
        if not (self.manager.has_plugin(name) or self.manager.is_registered(module)):
            reject_early_hooks(module)
            self._admit(name, module)

    def _admit(self, name: str, plugin: object) -> None:
        try:
            self.manager.register(plugin, name)
            reject_unknown_hooks(self.manager, plugin)
        except Exception as error:
            if self.manager.has_plugin(name):
                self.manager.unregister(name=name)
            if isinstance(error, pluggy.PluginValidationError):
                raise ToolmdError(mismatch(error, self.manager)) from error
            raise

    def _report(self, name: str, message: str, code: Code = Code.BROKEN_PLUGIN) -> None:
        self.diagnostics.append(broken_plugin(name, message, code))


Stamps = dict[str, tuple[int, int]]
"""The time of the last change and the size of files, by path."""
_imported: dict[str, tuple[object, str, dict[str, Stamps]]] = {}
"""The module, the release and the sources of plugins when this process imported them, by name."""


def _sources_of(top: str) -> dict[str, Stamps]:
    """Return the files of a package that can be edited, by its folder; none of an installed one."""
    try:
        spec = find_spec(top)
    except Exception:  # noqa: BLE001 - finders of others may raise anything
        return {}
    found: dict[str, Stamps] = {}
    for place in (spec.submodule_search_locations or (spec.origin or "",)) if spec else ():
        folder = os.path.realpath(place)
        if INSTALLED.isdisjoint(Path(folder).parts):
            found[folder] = stamps = {}
            for path in python_below(folder):
                # An editor's lock is a link to nowhere, and a file may be deleted meanwhile.
                with suppress(OSError):
                    status = os.stat(path)  # noqa: PTH116 - texts
                    stamps[path] = status.st_mtime_ns, status.st_size
    return found


def broken_plugin(name: str, message: str, code: Code = Code.BROKEN_PLUGIN) -> Diagnostic:
    """Make the diagnostic of a plugin, which stands in no file: its name is the place."""
    help_ = f"fix or uninstall the package, or leave it out of `plugins`: {name}"
    return whole_file(name, code, f"plugin {name} {message}", help_)


def home_of(plugin: object) -> str:
    """Return the dotted name of the module that is a plugin, or in which its class stands."""
    return plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__module__


def several(answer: Any) -> list[Any]:
    """Return the items that a plugin gave, none where it gave None; raises TypeError."""
    if answer is None:
        return []
    if isinstance(answer, str | bytes | Mapping):
        raise TypeError(f"{reprlib.repr(answer)} is not a list")
    return list(answer)


def reason(error: BaseException) -> str:
    """Return an exception in one line, with the place in which it was raised."""
    if isinstance(error, ForeignExitError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, ToolmdError):
        return " ".join(str(error).split())
    text = " ".join(traceback.format_exception_only(error)[-1].split())
    # The private names of a snapshot's modules tell nobody anything, and change with each.
    text = _PRIVATE.sub("", text)
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError):  # its place is in the file that could not be read
        known = error.filename and error.filename not in text
        return f"{text} ({error.filename}:{error.lineno})" if known else text
    if not frames:
        return text
    return f"{text} ({frames[-1].filename}:{frames[-1].lineno})"


def line_in(error: BaseException, path: str) -> int:
    """Return the line of a file at which its import failed; 1 where it failed elsewhere."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 1
    lines = [
        one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == path
    ]
    return (lines and lines[-1]) or 1


def _about(plugin: object) -> str:
    return (inspect.getdoc(plugin) or "").partition("\n")[0]


def _call(implementation: HookImpl, arguments: Mapping[str, Any]) -> Any:
    value = implementation.function(*[arguments[name] for name in implementation.argnames])
    # A generator has run nothing yet: its body belongs under the same deadline.
    return list(value) if inspect.isgenerator(value) else value


def _instantiate(point: Any) -> Any:
    plugin = point.load()
    return plugin() if inspect.isclass(plugin) else plugin


class Offer(NamedTuple):
    """A function that a plugin offers under a name."""

    plugin: str
    make: Callable[..., Any]


def find_offer(
    plugins: Plugins, hook: str, name: str
) -> tuple[Offer | None, frozenset[str], tuple[str, ...]]:
    """Return the first plugin's offer of this name, all offered names, and the plugins' errors.

    The hook gives functions by name; None means that a plugin has none.
    """
    known: set[str] = set()
    problems: list[str] = []
    found: Offer | None = None
    for answer in plugins.ask(hook):
        if answer.error is not None:
            problems.append(f"plugin {answer.plugin} fails in {hook}: {reason(answer.error)}")
        elif isinstance(answer.value, Mapping):
            known |= {str(one) for one in answer.value}
            if found is None and name in answer.value:
                found = Offer(answer.plugin, answer.value[name])
        elif answer.value is not None:
            odd = reprlib.repr(answer.value)
            problems.append(f"plugin {answer.plugin} gives no functions by name in {hook}: {odd}")
    return found, frozenset(known), tuple(problems)
