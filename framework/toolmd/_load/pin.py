"""Pin the Python of a snapshot by its bytes, and make a snapshot of pinned bytes again."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from toolmd._load.build import Snapshot
from toolmd._load.definitions.folders import Group, own_group, package_groups
from toolmd._load.definitions.reading import FoundDefinition, requires_of
from toolmd._load.plugins.manager import Plugins
from toolmd._load.plugins.resources import SnapshotResources
from toolmd._load.python.binding import bind_all
from toolmd._load.python.implementation import SnapshotParts
from toolmd._load.source.files import DefinitionKind, File, Folder
from toolmd._load.source.modules import code_hash
from toolmd._remote.mcp.servers import Servers
from toolmd._remote.services import Services
from toolmd._store.store import Store
from toolmd._types.registry import AnySpec, Bound, Registry
from toolmd._types.settings import Settings
from toolmd._types.tool import ToolSpec
from toolmd.errors import ImplementationError


class Pin(NamedTuple):
    """The Python of a project's folders of definitions, and the packages that provide the rest."""

    hash: str
    """Hex sha256 of `manifest`."""
    manifest: str
    """JSON: the folders with the hash of each file, and the versions of the packages."""
    files: Mapping[str, bytes]
    """The files' bytes by their hex sha256."""


@dataclass(frozen=True, slots=True)
class Pinned:
    """What of a snapshot a run keeps, so that it is finished as it began."""

    specs: tuple[AnySpec, ...]
    given: tuple[str, ...]
    """The names of those whose Python a package or a plugin gave."""
    manifest: str
    files: Mapping[str, bytes]


def pin_of(snapshot: Snapshot, project: Path) -> Pin:
    """Pin a snapshot's Python; what packages give is pinned by their versions.

    Folders within the project are named as they lie there, so that they are the same elsewhere.
    """
    files: dict[str, bytes] = {}
    folders = []
    for folder in snapshot.own:
        kept = {}
        for file in folder.modules:
            digest = code_hash(file)
            files[digest] = file.data
            kept["/".join(file.parts)] = digest
        if kept:
            inside = folder.root.is_relative_to(project)
            root = folder.root.relative_to(project) if inside else folder.root
            folders.append({"root": root.as_posix(), "shown": folder.shown, "files": kept})
    packages = {
        info.package: info.version
        for info in snapshot.plugins.listed.values()
        if info.package is not None and info.state == "loaded"
    }
    manifest = json.dumps({"folders": folders, "packages": packages}, sort_keys=True)
    return Pin(hashlib.sha256(manifest.encode()).hexdigest(), manifest, files)


def unpin(
    pinned: Pinned, settings: Settings, given: Mapping[str, object] | None = None
) -> Snapshot:
    """Make a snapshot of the pinned specs and Python, whatever the files hold by now.

    `given` are plugins by name, besides the installed ones. Raises ImplementationError where
    something can't be had as it was, and says what.
    """
    manifest = json.loads(pinned.manifest)
    plugins = Plugins(
        settings.plugins, given, settings.root, import_timeout=settings.import_timeout
    )
    folders = (_folder(h, settings.root / h["root"], pinned.files) for h in manifest["folders"])
    groups = [own_group(folder, plugins) for folder in folders]
    given_groups = list(package_groups(settings, plugins))
    resources = SnapshotResources(plugins, settings)
    store = Store(settings.store, settings.state)
    servers, services = Servers(settings, store), Services(settings, store)
    around = SnapshotParts(settings, plugins, resources, services, servers, pinned=pinned)
    named = {spec.name: _definition(spec, groups, given_groups) for spec in pinned.specs}
    bound = bind_all(named, [*groups, *given_groups, *_lone(named)], around)
    for name in pinned.given:
        if name in bound:
            _same_package(bound[name], named[name].group, manifest["packages"], plugins)
    registry = Registry(
        {name: one for name, one in bound.items() if named[name].kind == "tool"},
        {name: one for name, one in bound.items() if named[name].kind == "skill"},
    )
    return Snapshot(registry, plugins, resources, (pinned.manifest,))


def _folder(kept: Mapping[str, Any], root: Path, files: Mapping[str, bytes]) -> Folder:
    shown = kept["shown"]
    folder = Folder(root, shown)
    below = "" if shown == "." else f"{shown}/"
    for path, digest in kept["files"].items():
        if (data := files.get(digest)) is None or hashlib.sha256(data).hexdigest() != digest:
            raise ImplementationError(f"the pinned bytes of {below}{path} are gone or changed")
        parts = tuple(path.split("/"))
        folder.modules.append(File(below + path, str(root.joinpath(*parts)), parts, data))
    return folder


def _definition(spec: AnySpec, own: Iterable[Group], given: Iterable[Group]) -> FoundDefinition:
    """Put a spec into the folder in which its file stood."""
    kind: DefinitionKind = "tool" if isinstance(spec, ToolSpec) else "skill"
    path = PurePosixPath(spec.source.path)
    for group in own:
        shown = group.folder.shown
        if shown == "." or path.is_relative_to(shown):
            parts = path.parts if shown == "." else path.relative_to(shown).parts
            return _made(kind, spec, File(str(path), str(group.folder.root), parts, b""), group)
    for group in given:
        for _, file in group.folder.definitions:
            if file.path == spec.source.path:
                return _made(kind, spec, file, group)
    # Nothing stood beside it: its Python, if any, comes from a plugin.
    alone = Group(Folder(Path(), ""), _no_module)
    return _made(kind, spec, File(str(path), str(path), (path.name,), b""), alone)


def _made(kind: DefinitionKind, spec: AnySpec, file: File, group: Group) -> FoundDefinition:
    return FoundDefinition(kind, file, "", group, spec.name, spec, requires_of(spec), (), b"")


def _lone(named: Mapping[str, FoundDefinition]) -> Iterator[Group]:
    for definition in named.values():
        if not definition.group.folder.shown:
            yield definition.group


def _no_module(file: File) -> str:
    raise LookupError(f"{file.path} has no module")


def _same_package(
    one: Bound[Any], group: Group, before: Mapping[str, str], plugins: Plugins
) -> None:
    """Reject the Python of a package whose version changed, or that is gone."""
    if one.binding.kind == "none":
        raise ImplementationError(f"the package that gave {one.name} is not installed any more")
    info = plugins.listed.get(group.package or one.binding.target.rpartition(":")[0])
    if info is not None and info.package is not None and before.get(info.package) != info.version:
        was = before.get(info.package, "not installed")
        message = f"{one.name} is given by {info.package} {info.version}, which was {was} then"
        raise ImplementationError(message)
