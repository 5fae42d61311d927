"""Find the folders of definitions: the project's own and those of installed packages."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from toolmd._load.files import File, Folder, Walker, read_one, whole_file
from toolmd._load.modules import Modules, module_parts
from toolmd._load.plugins import (
    PluginAnswer,
    Plugins,
    broken_plugin,
    home_of,
    reason,
    several,
)
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity
from toolmd._types.settings import Settings

T = TypeVar("T")
PLUGIN = "plugin.py"
"""At the root of a folder of definitions: that folder's plugin."""


@dataclass(slots=True, eq=False, repr=False)
class Group:
    """A folder of definitions and where its Python is imported from."""

    folder: Folder
    module: Callable[[File], str]
    """Returns the dotted name under which a file of the folder is imported."""
    package: str | None = None
    """The plugin that gave the folder; None for the project's own."""
    default_min: float | None = None
    crisis_words: tuple[str, ...] = ()
    plugin: str | None = None
    """The name of the folder's own plugin, if there is one."""
    may_implement: bool = False
    """Whether the folder's own plugin may give implementations; known without running it."""
    hooked: tuple[str, ...] = ()
    """The modules that may have guards: its plugin, and implementations with hooks."""

    def has_code_of(self, other: "Group") -> bool:
        """Return whether both bring the same Python, and restrict their tools alike."""
        mine, others = self.folder, other.folder
        return (
            (mine.root, mine.shown) == (others.root, others.shown)
            and self.package == other.package
            and self.default_min == other.default_min
            and self.crisis_words == other.crisis_words
            and mine.modules == others.modules
        )


def project_groups(
    settings: Settings,
    plugins: Plugins,
    packages: list[Group] | None = None,
    walker: Walker | None = None,
) -> Iterator[Group]:
    """Read the folders that the settings name; one inside another is read once.

    A folder that is one of
    `packages`, too, is the project's own and leaves them, unless its Python imports from above it.
    """
    walker = walker or Walker()
    roots: dict[Path, Path] = {}
    wanted = dict.fromkeys(settings.tools, "tools") | dict.fromkeys(settings.skills, "skills")
    for name, setting in wanted.items():
        root = settings.root / Path(name).expanduser()
        if not root.is_dir():
            if setting in settings.origin:
                plugins.diagnostics.append(_no_folder(settings, name))
            continue
        real = root.resolve()
        if not any(real.is_relative_to(known) for known in roots):
            roots = {k: v for k, v in roots.items() if not k.is_relative_to(real)} | {real: root}
    for real, root in roots.items():
        folder = walker.read(real, settings.root, Path(os.path.normpath(root)))
        twin = next((group for group in packages or () if group.folder.root == root), None)
        if twin is None or packages is None:
            yield own_group(folder, plugins)
        elif not _imports_from_above(folder):
            packages.remove(twin)
            group = own_group(folder, plugins)
            group.default_min = twin.default_min
            group.crisis_words = twin.crisis_words
            yield group


def package_groups(
    settings: Settings, plugins: Plugins, walker: Walker | None = None
) -> Iterator[Group]:
    """Read the folders that installed plugins provide."""
    rejected: set[str] = set()
    least = _restriction(plugins, "toolmd_default_min", _confidence, "no number 0..1", rejected)
    words = _restriction(plugins, "toolmd_crisis_words", _words, "no list of words", rejected)
    answers = [*plugins.ask("toolmd_definitions", awake=False)]
    for name in {name for name in words if words[name]} - {answer.plugin for answer in answers}:
        # A restriction that counts for nothing must not pass for one.
        fault = "has crisis words, but brings no definitions: write `safety.crisis_words` instead"
        plugins.diagnostics.append(broken_plugin(name, fault))
    for answer in answers:
        if answer.plugin in rejected:
            continue
        for folder in _read_definitions(answer, settings, plugins, walker or Walker()):
            module = _names(plugins.plugin(answer.plugin), folder, plugins.modules)
            group = Group(
                folder,
                module,
                answer.plugin,
                least.get(answer.plugin),
                words.get(answer.plugin, ()),
            )
            _add_hooked(group, plugins)
            yield group


def _restriction(
    plugins: Plugins, hook: str, read: Callable[[Any], T], wanted: str, rejected: set[str]
) -> dict[str, T]:
    """Return what each plugin answers to a hook; `rejected` gets those that can't be read.

    A restriction that can't be read denies: the tools of the plugin do not load.
    """
    found: dict[str, T] = {}
    for answer in plugins.ask(hook, awake=False):
        try:
            if answer.error is None:
                found[answer.plugin] = read(answer.value)
                continue
            fault = reason(answer.error)
        except (TypeError, ValueError):
            fault = f"{answer.value!r} is {wanted}"
        rejected.add(answer.plugin)
        plugins.diagnostics.append(broken_plugin(answer.plugin, f"fails in {hook}: {fault}"))
    return found


def _confidence(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise ValueError
    return float(value)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(word, str) and word for word in value):
        raise ValueError
    return tuple(value)


def _imports_from_above(folder: Folder) -> bool:
    """Check whether a folder's Python imports relative to the package in which it lies."""
    return any(
        len(dots) > len(file.parts)
        for file in folder.modules
        for dots in re.findall(rb"^[ \t]*from[ \t]+(\.+)", file.data, re.MULTILINE)
    )


def own_group(folder: Folder, plugins: Plugins) -> Group:
    """Add a folder of the project's own, with its plugin."""
    modules = plugins.modules
    package = modules.add_folder(folder.root.name, folder.modules)
    group = Group(folder, partial(modules.name_of, package))
    for file in folder.modules:
        if file.parts == (PLUGIN,):
            group.plugin = file.path
            group.may_implement = b"toolmd_implementation" in file.data
            group.hooked = (file.path,)
            plugins.add_late(file.path, partial(modules.load, group.module(file)))
    _add_hooked(group, plugins)
    return group


def _add_hooked(group: Group, plugins: Plugins) -> None:
    """Add the implementations that have hooks of their own, known without running them."""
    for file in group.folder.modules:
        if b"hookimpl" in file.data and file.path != group.plugin:
            load = partial(plugins.modules.load, group.module(file))
            plugins.add_late(file.path, load, implements=True)
            group.hooked += (file.path,)


def _read_definitions(
    answer: PluginAnswer, settings: Settings, plugins: Plugins, walker: Walker
) -> Iterator[Folder]:
    if answer.error is not None:
        fault = f"fails in toolmd_definitions: {reason(answer.error)}"
        plugins.diagnostics.append(broken_plugin(answer.plugin, fault))
        return
    try:
        paths = [Path(str(path)) for path in several(answer.value)]
    except Exception as error:  # noqa: BLE001 - a plugin may return anything
        fault = f"must return a list of paths from toolmd_definitions: {reason(error)}"
        plugins.diagnostics.append(broken_plugin(answer.plugin, fault))
        return
    for path in paths:
        if path.is_dir():
            yield walker.read(path.resolve(), settings.root)
        elif path.is_file():
            yield read_one(path.resolve(), settings.root)
        else:
            fault = f"gives {path}, which is no folder and no file on disk"
            plugins.diagnostics.append(broken_plugin(answer.plugin, fault))


def _names(plugin: Any, folder: Folder, modules: Modules) -> Callable[[File], str]:
    """Return what names a package's files as they are, so that all of it shares its types."""
    top = home_of(plugin).partition(".")[0]
    for base in getattr(sys.modules.get(top), "__path__", ()):
        root = Path(base).resolve()
        if folder.root.is_relative_to(root):
            package = ".".join((top, *folder.root.relative_to(root).parts))
            return lambda file: ".".join((package, *module_parts(file)))
    return partial(modules.name_of, modules.add_folder(folder.root.name, folder.modules))


def _no_folder(settings: Settings, name: str) -> Diagnostic:
    path = settings.file.name if settings.file is not None else "settings"
    message = f"the folder of definitions {name!r} is not there"
    help_ = f"make it, or take it out of the settings (looked in {settings.root})"
    return whole_file(path, Code.MISSING_FOLDER, message, help_, Severity.WARNING)
