"""Read a project's definitions and their Python into one immutable registry."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from toolmd._load.definitions.cache import Cache
from toolmd._load.definitions.checks import Checks, has_errors
from toolmd._load.definitions.folders import Group, package_groups, project_groups
from toolmd._load.definitions.prompts import read_prompts
from toolmd._load.definitions.reading import DefinitionReader, FoundDefinition, Reading
from toolmd._load.edits.baseline import Baseline, Known
from toolmd._load.edits.keeping import Keeper, Kept, Waiting, parted
from toolmd._load.edits.last_python import Put, path_of, used_of
from toolmd._load.edits.stored_changes import StoredChanges
from toolmd._load.plugins.manager import Plugins
from toolmd._load.plugins.resources import SnapshotResources
from toolmd._load.python.binding import bind_all
from toolmd._load.python.implementation import SnapshotParts
from toolmd._load.source.files import File, Folder, whole_file
from toolmd._remote.mcp.servers import Servers
from toolmd._store import MEMORY
from toolmd._store.store import Store
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, in_reading_order
from toolmd._types.registry import Bound, BoundSkill, BoundTool, Registry
from toolmd._types.settings import Settings

_TRIES = 8
"""How often to decide again where another process wrote at the same time."""


_UNKNOWN = Known({}, None)


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Snapshot:
    """A registry and what its calls need; replaced as a whole."""

    registry: Registry
    plugins: Plugins
    resources: SnapshotResources
    stamp: tuple[Any, ...] = field(repr=False)
    """Equal for two snapshots that were read from the same files."""
    waiting: Mapping[str, Waiting] = field(default_factory=dict, repr=False)
    """The edits that wait to be accepted, by name."""
    folders: tuple[Path, ...] = ()
    """The folders that were read."""
    links: tuple[Path, ...] = ()
    """The files among them that are symbolic links."""
    own: tuple[Folder, ...] = field(default=(), repr=False)
    """The project's own folders."""
    python: Mapping[str, File] = field(default_factory=dict, repr=False)
    """The Python of the folders, by path."""
    digests: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The digest of each live definition, by name."""
    used: frozenset[str] = frozenset()
    """The definitions whose Python was loaded in a snapshot before."""


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection while many files are read: it would free nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def build(  # noqa: PLR0913 - by keyword, but for two
    settings: Settings,
    reader: DefinitionReader,
    *,
    cache: Cache | None = None,
    given: Mapping[str, object] | None = None,
    baseline: Baseline | None = None,
    store: Store | None = None,
    old: Snapshot | None = None,
    put: Put = MappingProxyType({}),
) -> Snapshot:
    """Read everything, bind it, and report the errors; a bad file never raises.

    `given` are plugins by name. The cache and the baseline are brought up to date; without a
    baseline no edit is checked. `store` knows accepted edits. `put` stays of the `old` snapshot.
    """
    plugins = _plugins(settings, given)
    groups, resources = _groups(settings, plugins, put), SnapshotResources(plugins, settings)
    servers = Servers(settings, store := store or Store(MEMORY, settings.state))
    around = SnapshotParts(settings.root, plugins, resources, settings.services, servers)
    reading = Reading(reader, cache)
    whole, broken = parted(d for group in groups for d in reading.group(group))
    named = _first_of_each_name(whole, reading.diagnostics)
    prompts = read_prompts(groups, reader, named.values(), reading.diagnostics)
    said = [*plugins.diagnostics, *reading.diagnostics, *(d for p in put.values() for d in p.said)]
    changes = StoredChanges(store)

    def decide(known: Known) -> _Decided:
        keeper = Keeper(groups, known, settings, changes)
        kept = keeper.keep(named, broken)
        checks = Checks(reader, cache, kept.named)
        return _Decided(kept, checks, _registry(kept, keeper, checks, groups, around, said))

    kept, checks, registry = _settled(decide, baseline, changes)
    reading.save(checks.done, fresh=checks.fresh)
    _mark_stale(registry, put)
    return Snapshot(
        replace(registry, prompts=MappingProxyType(prompts)),
        plugins,
        resources,
        _stamp(groups, registry, plugins, kept),
        kept.waiting,
        tuple(group.folder.root for group in groups),
        tuple(link for group in groups for link in group.folder.links),
        tuple(group.folder for group in groups if group.package is None),
        {file.path: file for group in groups for file in group.folder.modules},
        {name: definition.digest for name, definition in kept.named.items()},
        used_of(old) if old is not None else frozenset(),
    )


def _plugins(settings: Settings, given: Mapping[str, object] | None = None) -> Plugins:
    late = settings.import_timeout
    return Plugins(settings.plugins, given, settings.root, import_timeout=late)


def _groups(settings: Settings, plugins: Plugins, put: Put) -> list[Group]:
    """Return the folders of the project, then those of packages."""
    before = {path: last.file for path, last in put.items()}
    given = list(package_groups(settings, plugins))
    return [*project_groups(settings, plugins, before, given), *given]


def _mark_stale(registry: Registry, put: Put) -> None:
    failed = {path: last.names for path, last in put.items() if last.names}
    names = {name for failing in failed.values() for name in failing}
    every: tuple[Bound[Any], ...] = (*registry.tools.values(), *registry.skills.values())
    for bound in every:
        bound.stale |= bound.name in names or path_of(bound.target) in failed


class _Decided(NamedTuple):
    kept: Kept
    checks: Checks
    registry: Registry


def _settled(
    decide: Callable[[Known], _Decided], baseline: Baseline | None, changes: StoredChanges
) -> _Decided:
    """Compare with the last live definitions and store the new ones; repeat where they changed."""
    if baseline is None:
        return decide(_UNKNOWN)
    tries = 0
    while True:
        known, tries = baseline.load(), tries + 1
        decided = decide(known)
        if baseline.save(known, decided.kept.rows, decided.kept.forget) or tries == _TRIES:
            break
    waiting = decided.kept.waiting.values()
    changes.propose((one.key, one.live.spec, one.live.taken) for one in waiting)
    registry = decided.registry
    if baseline.problem:
        registry = _forgetful(registry, baseline.problem)
    if changes.problem:
        registry = _unasked(registry, changes.problem)
    return decided._replace(registry=registry)


def open_plugins(settings: Settings) -> Plugins:
    """Load the plugins of a project, without reading its definitions."""
    plugins = _plugins(settings)
    for _ in project_groups(settings, plugins):
        pass
    plugins.wake()
    return plugins


def _first_of_each_name(
    read: Iterable[FoundDefinition], diagnostics: list[Diagnostic]
) -> dict[str, FoundDefinition]:
    named: dict[str, FoundDefinition] = {}
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


def _registry(
    kept: Kept,
    keeper: Keeper,
    checks: Checks,
    groups: Sequence[Group],
    around: SnapshotParts,
    said: Iterable[Diagnostic],
) -> Registry:
    """Bind the kept definitions, check skills against tools, and leave out the broken ones."""
    bound = bind_all(kept.named, groups, around)
    found = checks.check(*_by_kind(kept, bound))
    faults: list[Diagnostic] = []
    reverted: dict[str, FoundDefinition] = {}
    for name in [name for name, told in found.items() if has_errors(told)]:
        faults += found[name]
        del bound[name]
        if keeper.revert(kept, name):
            reverted[name] = kept.named[name]
    bound |= bind_all(reverted, groups, around)
    if faults:
        found = checks.check(*_by_kind(kept, bound))
    for name, told in found.items():
        bound[name].diagnostics += told
        faults += told
        if has_errors(told):
            del bound[name]
    tools, skills = _by_kind(kept, bound)
    diagnostics = {*said, *kept.diagnostics, *faults}
    return Registry(
        MappingProxyType(tools),
        MappingProxyType(skills),
        in_reading_order(diagnostics),
        tuple(waiting.edit for waiting in kept.waiting.values()),
    )


def _by_kind(
    kept: Kept, bound: Mapping[str, Bound[Any]]
) -> tuple[dict[str, BoundTool], dict[str, BoundSkill]]:
    tools: dict[str, BoundTool] = {}
    skills: dict[str, BoundSkill] = {}
    for name, one in bound.items():
        if kept.named[name].kind == "tool":
            tools[name] = cast("BoundTool", one)
        else:
            skills[name] = cast("BoundSkill", one)
    return tools, skills


def _forgetful(registry: Registry, problem: str) -> Registry:
    message = f"what is live can't be kept for the next start: {problem}"
    help_ = "mend or remove the file; until then edits are held by this process alone"
    return _warned(registry, message, help_)


def _unasked(registry: Registry, problem: str) -> Registry:
    message = f"the store can't say which edits were accepted: {problem}"
    return _warned(registry, message, "until it answers, edits that weaken a policy stay pending")


def _warned(registry: Registry, message: str, help_: str) -> Registry:
    told = whole_file("settings", Code.UNREADABLE_STATE, message, help_)
    told = told._replace(severity=Severity.WARNING)
    return replace(registry, diagnostics=(*registry.diagnostics, told))


def _stamp(
    groups: Iterable[Group], registry: Registry, plugins: Plugins, kept: Kept
) -> tuple[Any, ...]:
    folders = [group.folder for group in groups]
    return (
        tuple((file.path, file.data) for f in folders for _, file in f.definitions),
        tuple((file.path, file.data) for f in folders for file in (*f.modules, *f.prompts)),
        registry.diagnostics,
        tuple((name, d.digest, d.stale) for name, d in kept.named.items()),
        tuple(info for info in plugins.listed.values() if info.package is not None),
    )
