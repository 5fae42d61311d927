"""Bind definitions to the Python next to them, or to implementations from plugins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from toolmd._load.definitions.folders import Group
from toolmd._load.definitions.reading import FoundDefinition
from toolmd._load.python.beside import Beside, Place
from toolmd._load.python.implementation import Loader, SnapshotParts, from_plugins
from toolmd._load.python.in_modules import ambiguous, from_installed, from_module
from toolmd._load.source.files import File
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.operation import read_operation
from toolmd._types.registry import NOT_IMPLEMENTED, Binding, Bound, Implementation, LateBinding
from toolmd._types.remote_tool import read_remote_tool


def bind_all(
    named: Mapping[str, FoundDefinition], groups: Iterable[Group], around: SnapshotParts
) -> dict[str, Bound[Any]]:
    """Bind each definition to its Python; nothing is imported."""
    if not named:
        return {}
    beside = {id(group): Beside(group.folder.modules) for group in groups}
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
        named_by = _named_by(definition)
        binding: Binding | LateBinding
        if read_operation(named_by) is not None or read_remote_tool(named_by) is not None:
            ways = (one.bind(named_by, definition.call_spec) for one in around.gateways)
            binding = next((one for one in ways if one is not None), NOT_IMPLEMENTED)
        elif isinstance(
            place := beside[id(group)].place(definition.file, definition.name, named_by), Place
        ):
            binding = _at(definition, place, beside[id(group)], around)
        else:
            binding = _saying(given(definition), definition, place)
        bound[name] = Bound(
            name,
            definition.get,
            binding,
            call_spec=definition.call_spec,
            content_hash=definition.content_hash,
            diagnostics=definition.diagnostics,
            stale=definition.stale,
            default_min=group.default_min, crisis_words=group.crisis_words, hooked=group.hooked,
        )  # fmt: skip
    return bound


def _named_by(definition: FoundDefinition) -> str:
    """Return what a tool's file names in Implemented By; empty if it names nothing."""
    # To decode each tool's JSON costs more than all else that is done here.
    may_name = not definition.encoded or b'"implemented_by"' in definition.encoded
    call_spec = definition.call_spec() if may_name else None
    return call_spec.implemented_by if isinstance(call_spec, ToolCallSpec) else ""


def _at(
    definition: FoundDefinition, place: Place, beside: Beside, around: SnapshotParts
) -> Binding:
    group, file = definition.group, place.file
    holders = partial(beside.holders, definition.file, place.function)
    module = place.module if file is None else group.module(file)
    if file is None:
        find = from_installed(around, place, holders)
    else:
        find = from_module(around, module, place, holders)
    loader = Loader(around, definition.call_spec, definition.file, find, place.target, group.plugin,
                    file, definition.digest, (module,))  # fmt: skip
    own = group.package is None and file is not None
    return Binding("sibling" if own else "entry_point", place.target, *_ways(loader))


def _saying(
    binding: Binding | LateBinding, definition: FoundDefinition, holders: tuple[File, ...]
) -> Binding | LateBinding:
    """Add what there is to say where several modules have the function and no plugin gives one."""
    if not holders:
        return binding
    if isinstance(binding, LateBinding):
        decide = binding.decide
        return binding._replace(decide=lambda: _undecided(decide(), definition, holders))
    return _undecided(binding, definition, holders)


def _undecided(binding: Binding, definition: FoundDefinition, holders: tuple[File, ...]) -> Binding:
    def inspect() -> tuple[Diagnostic, ...]:
        source = definition.call_spec().source
        return (ambiguous(definition.name, source.path, source.line, holders),)

    return binding if binding.kind != "none" else binding._replace(inspect=inspect)


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
    target = f"{plugin}:{definition.name}"
    loader = Loader(around, definition.call_spec, definition.file, find, target, needed)
    return Binding("entry_point", target, *_ways(loader))


def _ways(
    loader: Loader,
) -> tuple[
    Callable[[], Implementation],
    Callable[[], tuple[Diagnostic, ...]],
    Callable[[], bool],
    Callable[[float], bool],
    Callable[[], bool],
]:
    return loader.load, loader.inspect, loader.ready, loader.start, loader.fits
