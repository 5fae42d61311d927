"""Read a project's definitions and their Python into one immutable registry."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from toolmd._load.baseline import Baseline, Known, StoredChanges
from toolmd._load.binding import bind_all
from toolmd._load.cache import Cache
from toolmd._load.files import SETTLED_NS, File, Folder, Walker
from toolmd._load.folders import Group, package_groups, project_groups
from toolmd._load.implementation import SnapshotParts
from toolmd._load.keeping import (
    Keeper,
    Kept,
    Waiting,
    by_kind,
    parted,
    with_silent_store,
    with_unusable_journal,
)
from toolmd._load.plugins import Plugins
from toolmd._load.reading import (
    DefinitionReader,
    FoundDefinition,
    Reading,
    ReadPrompt,
    first_of_each_name,
    read_prompts,
)
from toolmd._load.resources import SnapshotResources
from toolmd._load.skills import Checks, has_errors
from toolmd._store import MEMORY
from toolmd._store.store import Store
from toolmd._types.diagnostic import Diagnostic, in_reading_order
from toolmd._types.registry import BoundTool, Gateway, Registry
from toolmd._types.settings import Settings

if TYPE_CHECKING:
    from toolmd._types.prompt import PromptSpec

_TRIES = 8
"""How often to decide again where another process wrote at the same time."""


class Made(NamedTuple):
    """What a snapshot was made of: the next one takes from it what has not changed."""

    settings: Settings
    groups: Sequence[Group]
    around: SnapshotParts
    definitions: Mapping[str, FoundDefinition]
    """As they were read, by path."""
    prompts: Mapping[str, ReadPrompt]
    kept: Kept
    """What is live."""

    def has_code_of(self, settings: Settings, plugins: Plugins, groups: Sequence[Group]) -> bool:
        """Return whether these settings, plugins and folders bring the same Python."""
        return (
            self.settings == settings
            and self.around.plugins.installed == plugins.installed
            and len(self.groups) == len(groups)
            and all(map(Group.has_code_of, self.groups, groups))
        )

    def same(
        self, named: Mapping[str, FoundDefinition], bound: Mapping[str, BoundTool]
    ) -> dict[str, BoundTool]:
        """Return those of `bound` whose definition has not changed."""
        known = self.kept.named
        return {n: bound[n] for n, one in named.items() if known.get(n) is one and n in bound}


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
    made: Made | None = None
    """What it was made of; None for one that was not read from files."""


def build(  # noqa: PLR0913 - by keyword, but for two
    settings: Settings,
    reader: DefinitionReader,
    *,
    cache: Cache | None = None,
    given: Mapping[str, object] | None = None,
    baseline: Baseline | None = None,
    store: Store | None = None,
    old: Snapshot | None = None,
    settled_ns: int = SETTLED_NS,
) -> Snapshot:
    """Read everything, bind it, and report the errors; a bad file never raises.

    Without a baseline nothing is compared.
    """
    last = old.made if old is not None else None
    changes = StoredChanges(store := store or Store(MEMORY, settings.state))
    fresh = _plugins(settings, given)
    walker = Walker([group.folder for group in last.groups] if last else (), settled_ns)
    groups, around, python, bound = _parts(settings, store, fresh, walker, old)
    reading = Reading(reader, cache, last.definitions if last is not None else None)
    named, broken, prompts, read = _read(reading, groups, last.prompts if last is not None else {})
    said = [*fresh.diagnostics, *reading.diagnostics]

    def decide(known: Known) -> _Decided:
        keeper = Keeper(groups, known, settings, changes)
        kept = keeper.keep(named, broken, last and last.kept)
        checks = Checks(reader, cache, kept.named)
        same = last.same(kept.named, bound) if last is not None else {}
        return _Decided(kept, checks, _registry(kept, keeper, checks, groups, around, said, same))

    kept, checks, registry = _settled(decide, baseline, changes)
    reading.save(checks.done, fresh=checks.fresh)
    return Snapshot(
        replace(registry, prompts=MappingProxyType(prompts)),
        around.plugins,
        around.resources,
        _stamp(folders := [g.folder for g in groups], registry, fresh, digests := kept.digests),
        kept.waiting,
        tuple(folder.root for folder in folders),
        tuple(link for folder in folders for link in folder.links),
        tuple(group.folder for group in groups if group.package is None),
        python,
        digests,
        Made(settings, groups, around, reading.definitions, read, kept),
    )


class _Parts(NamedTuple):
    groups: Sequence[Group]
    around: SnapshotParts
    python: Mapping[str, File]
    bound: Mapping[str, BoundTool]
    """Tools whose binding stays if their definition does."""


def _parts(
    settings: Settings,
    store: Store,
    plugins: Plugins,
    walker: Walker,
    old: Snapshot | None,
) -> _Parts:
    """Return the parts of the snapshot of before where all Python is the same, else new ones."""
    groups, last = _groups(settings, plugins, walker), old.made if old is not None else None
    if old is not None and last and last.has_code_of(settings, plugins, groups):
        for group, new in zip(last.groups, groups, strict=True):
            group.folder = new.folder
        return _Parts(last.groups, last.around, old.python, old.registry.tools)
    resources = SnapshotResources(plugins, settings)
    around = SnapshotParts(settings, plugins, resources, _gateways(plugins, settings, store))
    python = {file.path: file for group in groups for file in group.folder.modules}
    return _Parts(groups, around, python, {})


def _gateways(plugins: Plugins, settings: Settings, store: Store) -> tuple[Gateway, ...]:
    """Return what calls the tools of other programs; the log has the reason of a failure."""
    answers = plugins.ask(
        "toolmd_gateways", awake=False, at_load=False, settings=settings, store=store
    )
    return tuple(one.value for one in answers if one.value is not None)


def _read(
    reading: Reading, groups: Sequence[Group], before: Mapping[str, ReadPrompt]
) -> tuple[
    dict[str, FoundDefinition],
    list[FoundDefinition],
    dict[str, "PromptSpec"],
    Mapping[str, ReadPrompt],
]:
    """Return the definitions by name, the broken ones, and the prompts by name and by path."""
    whole, broken = parted(chain.from_iterable(map(reading.group, groups)))
    named = first_of_each_name(whole, reading.diagnostics)
    found = reading.diagnostics
    return named, broken, *read_prompts(groups, reading.reader, named.values(), found, before)


def _plugins(settings: Settings, given: Mapping[str, object] | None = None) -> Plugins:
    return Plugins(settings.plugins, given, settings.root, import_timeout=settings.import_timeout)


def _groups(settings: Settings, plugins: Plugins, walker: Walker) -> Sequence[Group]:
    """Return the folders of the project, then those of packages."""
    given = list(package_groups(settings, plugins, walker))
    return [*project_groups(settings, plugins, given, walker), *given]


class _Decided(NamedTuple):
    kept: Kept
    checks: Checks
    registry: Registry


def _settled(
    decide: Callable[[Known], _Decided], baseline: Baseline | None, changes: StoredChanges
) -> _Decided:
    """Compare with the last live definitions and store the new ones; repeat where they changed."""
    if baseline is None:
        return decide(Known({}, None))
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
        registry = with_unusable_journal(registry, baseline.problem)
    if changes.problem:
        registry = with_silent_store(registry, changes.problem)
    return decided._replace(registry=registry)


def open_plugins(settings: Settings) -> Plugins:
    """Load the plugins of a project, without reading its definitions."""
    plugins = _plugins(settings)
    for _ in project_groups(settings, plugins):
        pass
    plugins.wake()
    return plugins


def _registry(  # noqa: PLR0913, PLR0917 - the parts of a decision
    kept: Kept,
    keeper: Keeper,
    checks: Checks,
    groups: Sequence[Group],
    around: SnapshotParts,
    said: Iterable[Diagnostic],
    same: Mapping[str, BoundTool],
) -> Registry:
    """Bind the kept definitions, check skills against tools, and leave out the broken ones.

    `same` are the tools that are bound already.
    """
    made = bind_all({n: d for n, d in kept.named.items() if n not in same}, groups, around)
    bound = {name: same.get(name) or made[name] for name in kept.named}
    found = checks.check(*(parts := by_kind(kept, bound)))
    faults: list[Diagnostic] = []
    reverted: dict[str, FoundDefinition] = {}
    for name in [name for name, told in found.items() if has_errors(told)]:
        faults += found[name]
        del bound[name]
        if keeper.revert(kept, name):
            reverted[name] = kept.named[name]
    if faults:
        bound |= bind_all(reverted, groups, around)
        found = checks.check(*by_kind(kept, bound))
    for name, told in found.items():
        bound[name].diagnostics += told
        faults += told
        if has_errors(told):
            del bound[name]
    tools, skills = by_kind(kept, bound) if faults else parts
    diagnostics = {*said, *kept.diagnostics, *faults}
    return Registry(
        MappingProxyType(tools),
        MappingProxyType(skills),
        in_reading_order(diagnostics),
        tuple(waiting.edit for waiting in kept.waiting.values()),
    )


def _stamp(
    folders: Iterable[Folder], registry: Registry, plugins: Plugins, digests: Mapping[str, str]
) -> tuple[Any, ...]:
    return (
        [(f.definitions, f.modules, f.prompts) for f in folders],
        registry.diagnostics,
        digests,
        plugins.installed,
    )
