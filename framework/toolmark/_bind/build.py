"""Read a project's definitions and their Python into one immutable registry."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, cast

from toolmark._bind.cache import Cache
from toolmark._bind.checks import Checks
from toolmark._bind.folders import Group, package_groups, project_groups
from toolmark._bind.implementation import Loader, Surroundings, from_module, from_plugins
from toolmark._bind.manager import Plugins
from toolmark._bind.reading import Definition, Reader, Reading
from toolmark._bind.resources import Resources
from toolmark._bind.walk import File, whole_file
from toolmark._model.code import Code
from toolmark._model.diagnostic import Diagnostic, Severity
from toolmark._model.registry import NOT_IMPLEMENTED, Binding, Bound, Registry
from toolmark._model.settings import Settings
from toolmark._model.skill import SkillSpec
from toolmark._model.tool import ToolSpec


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot:
    """A registry and what its calls need; replaced as a whole."""

    registry: Registry
    plugins: Plugins
    resources: Resources
    stamp: tuple[Any, ...] = field(repr=False)
    """Equal for two snapshots that read the same."""


def build(
    settings: Settings,
    reader: Reader,
    *,
    cache: Cache | None = None,
    given: Mapping[str, object] | None = None,
) -> Snapshot:
    """Read everything, bind it, and say what is wrong; a bad file never raises.

    `given` are plugins by name, beside the installed ones. The cache, where there is one, is
    brought up to date.
    """
    plugins = Plugins(settings.plugins, given)
    groups = [*project_groups(settings, plugins), *package_groups(settings, plugins)]
    resources = Resources(plugins, settings)
    around = Surroundings(settings.root, plugins, resources)
    reading = Reading(reader, cache)
    read = [definition for group in groups for definition in reading.group(group)]
    named = _first_of_each_name(read, reading.diagnostics)
    bound = _bind_all(named, groups, around)
    checks = Checks(reader, cache, named)
    registry = _registry(named, bound, checks, [*plugins.diagnostics, *reading.diagnostics])
    reading.save(checks.done, fresh=checks.fresh)
    return Snapshot(registry, plugins, resources, _stamp(groups, registry, plugins))


def open_plugins(settings: Settings) -> Plugins:
    """Load the plugins of a project, without reading its definitions."""
    plugins = Plugins(settings.plugins)
    for _ in project_groups(settings, plugins):
        pass
    plugins.wake()
    return plugins


def _first_of_each_name(
    read: Iterable[Definition], diagnostics: list[Diagnostic]
) -> dict[str, Definition]:
    named: dict[str, Definition] = {}
    for definition in read:
        first = named.setdefault(definition.name, definition)
        if first is not definition:
            message = (
                f"{definition.name} is the name of two definitions: {first.file.path} stays, "
                f"{definition.file.path} does not load"
            )
            help_ = "give one of them another Name, or remove it"
            diagnostics.append(
                whole_file(definition.file.path, Code.DUPLICATE_NAME, message, help_)
            )
    return named


def _bind_all(
    named: Mapping[str, Definition], groups: Iterable[Group], around: Surroundings
) -> dict[str, Bound[Any]]:
    beside = {id(group): {file.parts: file for file in group.folder.modules} for group in groups}
    asks = around.plugins.implements("toolmark_implementation", awake=False)
    late = any(group.may_implement for group in groups)
    bound: dict[str, Bound[Any]] = {}
    for name, definition in named.items():
        group = definition.group
        sibling = _sibling(definition.file, beside[id(group)])
        if sibling is not None:
            binding = _beside(definition, sibling, around)
        elif asks or late:
            binding = _from_plugins(definition, around, ask=not late)
        else:
            binding = NOT_IMPLEMENTED
        bound[name] = Bound(
            name,
            definition.spec,
            binding,
            diagnostics=definition.diagnostics,
            default_min=group.default_min,
        )
    return bound


def _sibling(file: File, beside: Mapping[tuple[str, ...], File]) -> File | None:
    """Find the Python of the same stem in the same folder, written as kebab or as snake."""
    if not beside:
        return None
    *above, name = file.parts
    stem = name.rsplit(".", 2)[0]
    for wanted in dict.fromkeys((stem.replace("-", "_"), stem, stem.replace("_", "-"))):
        if (found := beside.get((*above, f"{wanted}.py"))) is not None:
            return found
    return None


def _beside(definition: Definition, sibling: File, around: Surroundings) -> Binding:
    group = definition.group
    find = from_module(around, lambda: group.module(sibling), sibling)
    loader = Loader(around, definition.get, definition.file, find, sibling.path, group.plugin)
    kind: Literal["sibling", "entry_point"] = "sibling" if group.package is None else "entry_point"
    return Binding(kind, f"{sibling.path}:{definition.name}", loader.load, loader.inspect)


def _from_plugins(definition: Definition, around: Surroundings, *, ask: bool) -> Binding:
    """Bind to what plugins give; where a folder's plugin may, nobody can know before it runs."""
    target = "toolmark_implementation"
    if ask:
        for answer in around.plugins.ask(target, awake=False, spec=definition.get()):
            if answer.error is not None or answer.value is not None:
                target = answer.plugin
                break
        else:
            return NOT_IMPLEMENTED
    loader = Loader(
        around, definition.get, definition.file, from_plugins(around), target,
        definition.group.plugin,
    )  # fmt: skip
    return Binding("entry_point", f"{target}:{definition.name}", loader.load, loader.inspect)


def _registry(
    named: Mapping[str, Definition],
    bound: Mapping[str, Bound[Any]],
    checks: Checks,
    diagnostics: list[Diagnostic],
) -> Registry:
    tools: dict[str, Bound[ToolSpec]] = {}
    skills: dict[str, Bound[SkillSpec]] = {}
    for name, definition in named.items():
        if definition.kind == "tool":
            tools[name] = cast("Bound[ToolSpec]", bound[name])
        else:
            skills[name] = cast("Bound[SkillSpec]", bound[name])
    for name, said in checks.check(tools, skills).items():
        diagnostics += said
        skills[name].diagnostics += said
        if any(diagnostic.severity is Severity.ERROR for diagnostic in said):
            del skills[name]
    diagnostics.sort(key=lambda d: (d.span.path, d.span.line, d.span.column))
    return Registry(MappingProxyType(tools), MappingProxyType(skills), tuple(diagnostics))


def _stamp(groups: Iterable[Group], registry: Registry, plugins: Plugins) -> tuple[Any, ...]:
    folders = [group.folder for group in groups]
    return (
        tuple((file.path, file.data) for f in folders for _, file in f.definitions),
        tuple((file.path, file.data) for f in folders for file in f.modules),
        registry.diagnostics,
        tuple(info for info in plugins.listed.values() if info.package is not None),
    )
