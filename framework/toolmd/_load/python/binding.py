"""Bind definitions to the Python next to them, or to implementations from plugins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from toolmd._load.definitions.folders import Group
from toolmd._load.definitions.reading import FoundDefinition
from toolmd._load.python.implementation import Loader, SnapshotParts, from_module, from_plugins
from toolmd._load.source.files import File
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import NOT_IMPLEMENTED, Binding, Bound, Implementation, LateBinding


def bind_all(
    named: Mapping[str, FoundDefinition], groups: Iterable[Group], around: SnapshotParts
) -> dict[str, Bound[Any]]:
    """Bind each definition to its Python; nothing is imported."""
    beside = {id(group): {file.parts: file for file in group.folder.modules} for group in groups}
    asks = around.plugins.implements("toolmd_implementation", awake=False)
    late = [group.plugin for group in groups if group.may_implement and group.plugin is not None]

    def given(definition: FoundDefinition) -> Binding | LateBinding:
        if late:
            # Only running a folder's plugin shows which definitions it implements.
            decide = partial(_from_plugins, definition, around, late)
            return LateBinding(f"toolmd_implementation:{definition.name}", decide)
        return _from_plugins(definition, around) if asks else NOT_IMPLEMENTED

    bound: dict[str, Bound[Any]] = {}
    for name, definition in named.items():
        group = definition.group
        sibling = _sibling(definition.file, beside[id(group)])
        binding = _beside(definition, sibling, around) if sibling else given(definition)
        bound[name] = Bound(
            name,
            definition.get,
            binding,
            call_spec=definition.call_spec,
            content_hash=definition.content_hash,
            diagnostics=definition.diagnostics,
            stale=definition.stale,
            default_min=group.default_min,
            crisis_words=group.crisis_words,
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


def _beside(definition: FoundDefinition, sibling: File, around: SnapshotParts) -> Binding:
    group = definition.group
    find = from_module(around, lambda: group.module(sibling), sibling)
    loader = Loader(around, definition.call_spec, definition.file, find, sibling.path, group.plugin,
                    sibling)  # fmt: skip
    kind: Literal["sibling", "entry_point"] = "sibling" if group.package is None else "entry_point"
    return Binding(kind, f"{sibling.path}:{definition.name}", *_ways(loader))


def _from_plugins(
    definition: FoundDefinition, around: SnapshotParts, late: Sequence[str] = ()
) -> Binding:
    """Bind to the first plugin that returns an implementation or fails.

    `late` names the folders' plugins; one that does not load may be the implementer.
    """
    hook, plugins = "toolmd_implementation", around.plugins
    for answer in plugins.ask(hook, awake=bool(late), spec=definition.get()):
        if answer.error is not None or answer.value is not None:
            return _given(definition, around, answer.plugin, definition.group.plugin)
    for name in late:
        if not plugins.sound(name):
            return _given(definition, around, name, name)
    return NOT_IMPLEMENTED


def _given(
    definition: FoundDefinition, around: SnapshotParts, plugin: str, needed: str | None
) -> Binding:
    find = from_plugins(around, definition.get)
    loader = Loader(around, definition.call_spec, definition.file, find, plugin, needed)
    return Binding("entry_point", f"{plugin}:{definition.name}", *_ways(loader))


def _ways(
    loader: Loader,
) -> tuple[
    Callable[[], Implementation],
    Callable[[], tuple[Diagnostic, ...]],
    Callable[[], bool],
    Callable[[float], bool],
]:
    return loader.load, loader.inspect, loader.ready, loader.start
