"""Read a project's definitions and their Python into one immutable registry."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, cast

from toolmark._bind.baseline import Baseline, Known
from toolmark._bind.cache import Cache
from toolmark._bind.checks import Checks, refused
from toolmark._bind.folders import Group, package_groups, project_groups
from toolmark._bind.implementation import Loader, Surroundings, from_module, from_plugins
from toolmark._bind.keeping import Keeper, Kept, Waiting, parted
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

_TRIES = 8
"""How often to decide anew where another process wrote at the same time."""


_UNKNOWN = Known({}, None)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Snapshot:
    """A registry and what its calls need; replaced as a whole."""

    registry: Registry
    plugins: Plugins
    resources: Resources
    stamp: tuple[Any, ...] = field(repr=False)
    """Equal for two snapshots that read the same."""
    waiting: Mapping[str, Waiting] = field(default_factory=dict, repr=False)
    """The edits that wait to be acknowledged, by name."""
    folders: tuple[Path, ...] = ()
    """The folders that were read."""


def build(
    settings: Settings,
    reader: Reader,
    *,
    cache: Cache | None = None,
    given: Mapping[str, object] | None = None,
    baseline: Baseline | None = None,
) -> Snapshot:
    """Read everything, bind it, and say what is wrong; a bad file never raises.

    `given` are plugins by name, beside the installed ones. The cache and the baseline, where
    there are any, are brought up to date; without a baseline no edit is held to anything.
    """
    plugins = Plugins(settings.plugins, given)
    groups = [*project_groups(settings, plugins), *package_groups(settings, plugins)]
    resources = Resources(plugins, settings)
    around = Surroundings(settings.root, plugins, resources)
    reading = Reading(reader, cache)
    whole, broken = parted(d for group in groups for d in reading.group(group))
    named = _first_of_each_name(whole, reading.diagnostics)
    said = [*plugins.diagnostics, *reading.diagnostics]

    def decide(known: Known) -> _Decided:
        keeper = Keeper(groups, known, settings)
        kept = keeper.keep(named, broken)
        checks = Checks(reader, cache, kept.named)
        return _Decided(kept, checks, _registry(kept, keeper, checks, groups, around, said))

    kept, checks, registry = _settled(decide, baseline)
    reading.save(checks.done, fresh=checks.fresh)
    stamp = _stamp(groups, registry, plugins, kept)
    folders = tuple(group.folder.root for group in groups)
    return Snapshot(registry, plugins, resources, stamp, kept.waiting, folders)


class _Decided(NamedTuple):
    kept: Kept
    checks: Checks
    registry: Registry


def _settled(decide: Callable[[Known], _Decided], baseline: Baseline | None) -> _Decided:
    """Decide by what was live last, and remember what is live now; anew where it changed."""
    if baseline is None:
        return decide(_UNKNOWN)
    tries = 0
    while True:
        known, tries = baseline.load(), tries + 1
        decided = decide(known)
        if baseline.save(known, decided.kept.rows, decided.kept.forget) or tries == _TRIES:
            break
    if baseline.trouble:
        return decided._replace(registry=_forgetful(decided.registry, baseline.trouble))
    return decided


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
            stale=definition.stale,
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
    kept: Kept,
    keeper: Keeper,
    checks: Checks,
    groups: Sequence[Group],
    around: Surroundings,
    said: Iterable[Diagnostic],
) -> Registry:
    """Bind what was kept, hold the skills against the tools, and leave out the broken ones."""
    bound = _bind_all(kept.named, groups, around)
    found = checks.check(*_by_kind(kept, bound))
    faults: list[Diagnostic] = []
    for name in [name for name, told in found.items() if refused(told)]:
        faults += found[name]
        if keeper.revert(kept, name):
            bound |= _bind_all({name: kept.named[name]}, groups, around)
        else:
            del bound[name]
    if faults:
        found = checks.check(*_by_kind(kept, bound))
    for name, told in found.items():
        bound[name].diagnostics += told
        faults += told
        if refused(told):
            del bound[name]
    tools, skills = _by_kind(kept, bound)
    diagnostics = {*said, *kept.diagnostics, *faults}
    return Registry(
        MappingProxyType(tools),
        MappingProxyType(skills),
        tuple(sorted(diagnostics, key=lambda d: (d.span, d.code, d.message))),
        tuple(waiting.edit for waiting in kept.waiting.values()),
    )


def _by_kind(
    kept: Kept, bound: Mapping[str, Bound[Any]]
) -> tuple[dict[str, Bound[ToolSpec]], dict[str, Bound[SkillSpec]]]:
    tools: dict[str, Bound[ToolSpec]] = {}
    skills: dict[str, Bound[SkillSpec]] = {}
    for name, one in bound.items():
        if kept.named[name].kind == "tool":
            tools[name] = cast("Bound[ToolSpec]", one)
        else:
            skills[name] = cast("Bound[SkillSpec]", one)
    return tools, skills


def _forgetful(registry: Registry, trouble: str) -> Registry:
    message = f"what is live can't be kept for the next start: {trouble}"
    help_ = "mend or remove the file; until then edits are held by this process alone"
    told = whole_file("settings", Code.UNREADABLE_STATE, message, help_)
    told = told._replace(severity=Severity.WARNING)
    return replace(registry, diagnostics=(*registry.diagnostics, told))


def _stamp(
    groups: Iterable[Group], registry: Registry, plugins: Plugins, kept: Kept
) -> tuple[Any, ...]:
    folders = [group.folder for group in groups]
    return (
        tuple((file.path, file.data) for f in folders for _, file in f.definitions),
        tuple((file.path, file.data) for f in folders for file in f.modules),
        registry.diagnostics,
        tuple((name, d.digest, d.stale) for name, d in kept.named.items()),
        tuple(info for info in plugins.listed.values() if info.package is not None),
    )
