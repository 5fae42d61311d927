"""Read a project's definitions and their Python into one immutable registry."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from toolmd._load.accepted import FILE, AcceptedKey, read_accepted
from toolmd._load.baseline import Baseline, Known, StoredChanges
from toolmd._load.binding import bind_all
from toolmd._load.cache import Cache
from toolmd._load.files import SETTLED_NS, Walker, whole_file
from toolmd._load.folders import Group, package_groups, project_groups
from toolmd._load.implementation import SnapshotParts
from toolmd._load.keeping import Keeper, Kept, by_kind, with_problems
from toolmd._load.plugins import Plugins
from toolmd._load.reading import (
    DefinitionReader,
    Entry,
    Reading,
    first_of_each_name,
)
from toolmd._load.resources import SnapshotResources
from toolmd._load.skills import Checks, has_errors
from toolmd._store import MEMORY
from toolmd._store.store import Store
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Severity, in_reading_order
from toolmd._types.registry import BoundTool, Gateway, Registry
from toolmd._types.settings import Settings
from toolmd.errors import ConfigError

_TRIES = 8
"""How often to decide again where another process wrote at the same time."""


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Snapshot:
    """A registry and what its calls need; replaced as a whole.

    The next snapshot takes from it what has not changed.
    """

    registry: Registry
    settings: Settings
    groups: Sequence[Group]
    """The folders that were read."""
    around: SnapshotParts
    """What the implementations share."""
    entries: Mapping[str, Entry]
    """The definitions as they were read, by path."""
    kept: Kept
    """What is in force, and which edits wait to be accepted."""
    stamp: tuple[Any, ...]
    """Equal for two snapshots that were read from the same files."""

    @property
    def plugins(self) -> Plugins:
        """The plugins of the snapshot."""
        return self.around.plugins

    @property
    def resources(self) -> SnapshotResources:
        """What implementations ask for by type."""
        return self.around.resources

    @property
    def policy(self) -> str:
        """The hash of the definitions and thresholds that are in force."""
        said = sorted((name, one.digest) for name, one in self.kept.named.items())
        text = repr((said, self.settings.safety))
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that were read."""
        return tuple(group.folder.root for group in self.groups)

    @property
    def links(self) -> tuple[Path, ...]:
        """The files that are symbolic links."""
        return tuple(link for group in self.groups for link in group.folder.links)

    def has_code_of(self, settings: Settings, plugins: Plugins, groups: Sequence[Group]) -> bool:
        """Return whether these settings, plugins and folders bring the same Python."""
        return (
            self.settings == settings
            and self.plugins.installed == plugins.installed
            and len(self.groups) == len(groups)
            and all(map(Group.has_code_of, self.groups, groups))
        )


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
    """Scan, parse, decide and bind; a bad file never raises, and the workspace swaps the result in.

    What has not changed is taken from `old`. Without a baseline nothing is compared.
    """
    store = store or Store(MEMORY, settings.state)
    plugins = _plugins(settings, given)
    groups, around = scan(settings, plugins, store, old, settled_ns)
    reading = Reading(reader, cache, old.entries if old is not None else None)
    named, broken = parse(reading, groups)
    own = [group.folder.root for group in groups if group.package is None]
    outdated = plugins.changed(settings.root, own)
    changes, said = StoredChanges(store), (*plugins.diagnostics, *outdated, *reading.diagnostics)
    accepted, problem = frozenset[AcceptedKey](), ""
    if baseline is not None and old is None:
        try:
            accepted = read_accepted(settings.root)
        except ConfigError as error:
            problem = str(error)
    tries = 0
    while True:
        known, tries = baseline.load() if baseline is not None else Known({}, None), tries + 1
        keeper = Keeper(groups, known, settings, changes, accepted)
        kept = keeper.keep(named, broken)
        checks = Checks(reader, cache, kept.named)
        registry = bind(kept, keeper, checks, groups, around, said, old)
        if baseline is None or baseline.save(known, kept.rows, kept.forget) or tries == _TRIES:
            break
    if baseline is not None:
        waiting = kept.waiting.values()
        changes.propose((one.key, one.live.spec, one.live.taken) for one in waiting)
        registry = with_problems(registry, baseline.problem, changes.problem)
    if problem:
        help_ = "repair it: until then, edits that weaken a policy stay pending"
        found = whole_file(FILE, Code.UNREADABLE_SETTINGS, problem, help_, Severity.WARNING)
        registry = replace(registry, diagnostics=(*registry.diagnostics, found))
    reading.save(checks.done, fresh=checks.fresh)
    files = [(g.folder.definitions, g.folder.modules) for g in groups]
    digests = {name: one.digest for name, one in kept.named.items()}
    stamp = files, registry.diagnostics, digests, plugins.installed
    return Snapshot(registry, settings, groups, around, reading.entries, kept, stamp)


def scan(
    settings: Settings, plugins: Plugins, store: Store, old: Snapshot | None, settled_ns: int
) -> tuple[Sequence[Group], SnapshotParts]:
    """Read the folders; return the parts of before where all Python is the same, else new ones."""
    walker = Walker([group.folder for group in old.groups] if old else (), settled_ns)
    given = list(package_groups(settings, plugins, walker))
    groups = [*project_groups(settings, plugins, given, walker), *given]
    if old is not None and old.has_code_of(settings, plugins, groups):
        for group, new in zip(old.groups, groups, strict=True):
            group.folder = new.folder
        return old.groups, old.around
    resources = SnapshotResources(plugins, settings)
    return groups, SnapshotParts(settings, plugins, resources, _gateways(plugins, settings, store))


def parse(reading: Reading, groups: Sequence[Group]) -> tuple[dict[str, Entry], list[Entry]]:
    """Parse the files that changed; return the entries by name, and those that are broken."""
    read = [entry for group in groups for entry in reading.group(group)]
    named = first_of_each_name((one for one in read if one.name), reading.diagnostics)
    return named, [one for one in read if not one.name]


def bind(  # noqa: PLR0913, PLR0917 - the parts of a decision
    kept: Kept,
    keeper: Keeper,
    checks: Checks,
    groups: Sequence[Group],
    around: SnapshotParts,
    said: Iterable[Diagnostic],
    old: Snapshot | None,
) -> Registry:
    """Bind what is in force, check skills against tools, and leave out the broken ones."""
    same: dict[str, BoundTool] = {}
    if old is not None and old.around is around:
        known, tools = old.kept.named, old.registry.tools
        same = {n: tools[n] for n, one in kept.named.items() if known.get(n) is one and n in tools}
    made = bind_all({n: d for n, d in kept.named.items() if n not in same}, groups, around)
    bound = {name: same.get(name) or made[name] for name in kept.named}
    found = checks.check(*(parts := by_kind(kept, bound)))
    faults: list[Diagnostic] = []
    reverted: dict[str, Entry] = {}
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


def _gateways(plugins: Plugins, settings: Settings, store: Store) -> tuple[Gateway, ...]:
    """Return what calls the tools of other programs; the log has the reason of a failure."""
    answers = plugins.ask(
        "toolmd_gateways", awake=False, at_load=False, settings=settings, store=store
    )
    return tuple(one.value for one in answers if one.value is not None)


def _plugins(settings: Settings, given: Mapping[str, object] | None = None) -> Plugins:
    return Plugins(settings.plugins, given, settings.root, import_timeout=settings.import_timeout)


def open_plugins(settings: Settings) -> Plugins:
    """Load the plugins of a project, without reading its definitions."""
    plugins = _plugins(settings)
    for _ in project_groups(settings, plugins):
        pass
    plugins.wake()
    return plugins
