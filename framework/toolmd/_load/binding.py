"""Bind each definition to its function: next to the file, in an installed module, or a plugin's."""

import ast
import importlib
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from toolmd._load.files import File, path_in_project, whole_file
from toolmd._load.folders import PLUGIN, Group
from toolmd._load.implementation import (
    Find,
    Found,
    Loader,
    SnapshotParts,
    from_plugins,
    own_place,
)
from toolmd._load.modules import PREFIX, contain, tree_of
from toolmd._load.plugins import reason
from toolmd._load.reading import Entry
from toolmd._types.call_spec import CallSpec, ToolCallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.registry import NOT_IMPLEMENTED, Binding, Bound, LateBinding
from toolmd._types.remote import read_operation, read_remote_tool
from toolmd.errors import ForeignExitError, ImplementationError, near_words

_PACKAGE = "__init__.py"
_OUTER = (ast.stmt, ast.excepthandler, ast.match_case)


class Place(NamedTuple):
    """Where a function is: in a file of the folder, or in an installed module."""

    function: str
    file: File | None = None
    module: str = ""
    """The dotted name of an installed module; empty where there is a file."""
    named: bool = False
    """Whether the tool's file says so."""

    @property
    def target(self) -> str:
        """Return the place as people see it: `path:function`, or `module:function`."""
        return f"{self.module if self.file is None else self.file.path}:{self.function}"


class Beside:
    """The Python of one folder of definitions, and of the folders below it."""

    def __init__(self, files: Iterable[File]) -> None:
        self._files = {file.parts: file for file in files}

    def place(self, definition: File, name: str, named: str = "") -> Place | tuple[File, ...]:
        """Find the function of a definition; several files where more than one has a tool's.

        Args:
            definition: The file of the tool or the skill.
            name: Its name.
            named: The `module:function` that a tool's file names, if any.
        """
        if named:
            module, _, function = named.partition(":")
            file = self._module(definition, module)
            return Place(function, file, "" if file is not None else module, named=True)
        if (sibling := self.sibling(definition)) is not None:
            return Place(name, sibling)
        if definition.parts[-1].endswith(".skill.md"):
            return ()  # Its steps run, whatever else has its name.
        found = self.holders(definition, name)
        return Place(name, found[0]) if len(found) == 1 else found

    def sibling(self, definition: File) -> File | None:
        """Find the Python of the same stem in the same folder, written as kebab or as snake."""
        if not self._files:
            return None
        *above, name = definition.parts
        stem = name.rsplit(".", 2)[0]
        for wanted in dict.fromkeys((stem.replace("-", "_"), stem, stem.replace("_", "-"))):
            if (found := self._files.get((*above, f"{wanted}.py"))) is not None:
                return found
        return None

    def holders(self, definition: File, function: str) -> tuple[File, ...]:
        """Return the public modules of the same folder that have a public function of the name.

        A file that is not Python counts where a line of it begins that function.
        """
        return tuple(
            file
            for name, file in self._modules.get(definition.parts[:-1], ())
            if name[0] != "_" and file.parts != (PLUGIN,) and _has(file, function)
        )

    def _module(self, definition: File, name: str) -> File | None:
        """Find a module of the same folder by its name; a file goes before a package."""
        inside = self._modules.get(definition.parts[:-1], ())
        found = [file for known, file in inside if known == name]
        return min(found, key=lambda f: (f.parts[-1] == _PACKAGE, f.path.count("-")), default=None)

    @cached_property
    def _modules(self) -> dict[tuple[str, ...], list[tuple[str, File]]]:
        """Return the modules and packages of each folder, with their names in snake case."""
        found: dict[tuple[str, ...], list[tuple[str, File]]] = {}
        for file in self._files.values():
            parts = file.parts[:-1] if file.parts[-1] == _PACKAGE else file.parts
            if parts:
                found.setdefault(parts[:-1], []).append((module_name(file), file))
        return found


def read_beside(folder: Path) -> Beside:
    """Read the Python of a folder, whatever project it belongs to."""
    files = []
    for path in (*sorted(folder.glob("*.py")), *sorted(folder.glob(f"*/{_PACKAGE}"))):
        with suppress(OSError):
            parts = path.relative_to(folder).parts
            files.append(File(path.as_posix(), str(path), parts, path.read_bytes()))
    return Beside(files)


def module_name(file: File) -> str:
    """Return the name under which `Implemented By` finds a file of its folder."""
    last = file.parts[-2] if file.parts[-1] == _PACKAGE else file.parts[-1].removesuffix(".py")
    return last.replace("-", "_")


def _has(file: File, function: str) -> bool:
    if function.encode() not in file.data:
        return False  # To parse each module costs more than to look.
    if (known := _functions_of(file.data)) is not None:
        return function in known
    begun = rf"^(async\s+)?def\s+{re.escape(function)}\b"
    return re.search(begun.encode(), file.data, re.MULTILINE) is not None


@lru_cache(maxsize=4096)
def _functions_of(data: bytes) -> frozenset[str] | None:
    """Return the functions of a module; None where it is not Python."""
    try:
        return frozenset(_functions_in(tree_of(data)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _functions_in(tree: ast.Module) -> Iterator[str]:
    """Yield the functions of a module, also those below an `if` or a `try`."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif not isinstance(node, ast.ClassDef):
            todo += (inner for inner in ast.iter_child_nodes(node) if isinstance(inner, _OUTER))


Holders = Callable[[], Sequence[File]]
"""Returns the modules of the folder that have a function of the wanted name."""


def from_module(around: SnapshotParts, name: str, place: Place, holders: Holders) -> Find:
    """Find a function in a module; `name` is the dotted one, whatever folder it lies in."""
    file = place.file

    def find(call_spec: CallSpec) -> Found:
        try:
            module = contain(partial(_import, name, private=file is not None))
            if file is not None:
                around.plugins.add_module(file.path, module)
        except Exception as error:
            lacking = error.name if isinstance(error, ModuleNotFoundError) else None
            if file is None and lacking and f"{name}.".startswith(f"{lacking}."):
                raise _not_there(call_spec, place, holders()) from error
            raise _broken(call_spec, file, error, around.settings.root) from error
        function = getattr(module, place.function, None)
        if not callable(function):
            raise _missing(call_spec, place, module, holders())
        return Found(function, (module.__name__ if file is not None else name,), file)

    return find


def _import(module: str, *, private: bool) -> ModuleType:
    first, *within = module.split(".")
    # What a process has by such a name is another snapshot's, or the program itself.
    foreign = not private and (first.startswith(PREFIX) or first == "__main__")
    if foreign or not (private or all(map(str.isidentifier, (first, *within)))):
        raise ModuleNotFoundError(name=module)
    return importlib.import_module(module)


def _name_holders(function: str, holders: Sequence[File]) -> str:
    return " or ".join(f"`Implemented By: {module_name(file)}:{function}`" for file in holders)


def _elsewhere(function: str, holders: Sequence[File]) -> str:
    """Return the remedy where another module of the folder has the function; else nothing."""
    listed = " and ".join(file.parts[-1] for file in holders)
    return (
        f"`{function}` is in {listed}: write {_name_holders(function, holders)}" if holders else ""
    )


def _broken(
    call_spec: CallSpec, file: File | None, error: BaseException, project: Path
) -> ImplementationError:
    source, said = call_spec.source, reason(error)
    path, line = (file.path, 1) if file is not None else (source.path, source.line)
    if isinstance(error, ForeignExitError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, SyntaxError) and error.filename:
        path, line = path_in_project(Path(error.filename), project), error.lineno or 1
        said = said.removesuffix(f" ({error.filename}:{error.lineno})")
    else:
        whole = ""
        for frame in traceback.extract_tb(error.__traceback__):
            # The deepest line of the project's own: that is where the author can act.
            if (place := own_place(frame, file, project)) is not None:
                path, line = place
                whole = f" ({frame.filename}:{line})"
        said = said.removesuffix(whole)
    message = f"the Python of {call_spec.name} ({source.path}) can't be imported: {said}"
    lacks = error.name if isinstance(error, ModuleNotFoundError) else ""
    help_ = f"install what gives `{lacks}`, or fix the import" if lacks else "fix that line"
    found = whole_file(path, Code.BROKEN_IMPLEMENTATION, message, help_)
    found = found._replace(span=found.span._replace(line=line, end_line=line))
    return ImplementationError(f"{message} ({path}:{line})", diagnostics=(found,))


def _not_there(call_spec: CallSpec, place: Place, holders: Sequence[File]) -> ImplementationError:
    source, module = call_spec.source, place.module
    message = f"no module `{module}` is next to {source.path}, and none is installed"
    write = f"write {module}.py there" if "." not in module else "install it"
    help_ = _elsewhere(place.function, holders) or f"{write}, or correct Implemented By"
    found = whole_file(source.path, Code.BROKEN_IMPLEMENTATION, message, help_)
    found = found._replace(span=found.span._replace(line=source.line, end_line=source.line))
    return ImplementationError(message, diagnostics=(found,))


def _missing(
    call_spec: CallSpec, place: Place, module: ModuleType, holders: Sequence[File]
) -> ImplementationError:
    own = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    near = near_words(place.function, own)
    source, function = call_spec.source, place.function
    if place.named:
        hint = f"name `{near[0]}`, or " if near else ""
    else:
        near = near or own[:1]
        hint = f"rename {near[0]}, or " if near else ""
    path = place.file.path if place.file is not None else source.path
    where = place.file.path if place.file is not None else f"the module {place.module}"
    message = f"{where} has no function `{function}` ({source.path}:{source.line})"
    help_ = _elsewhere(function, holders) or f"{hint}define `{function}`"
    found = whole_file(path, Code.MISSING_FUNCTION, message, help_)
    return ImplementationError(message, diagnostics=(found,))


def bind_all(
    named: Mapping[str, Entry], groups: Iterable[Group], around: SnapshotParts
) -> dict[str, Bound[Any]]:
    """Bind each definition to its Python; nothing is imported."""
    if not named:
        return {}
    beside = {id(group): Beside(group.folder.modules) for group in groups}
    asks = around.plugins.implements("toolmd_implementation", awake=False)
    late = [group.plugin for group in groups if group.may_implement and group.plugin is not None]

    def given(definition: Entry, holders: tuple[File, ...]) -> Binding | LateBinding:
        if not late:
            return _from_plugins(definition, around, holders, () if asks else None)
        # Only running a folder's plugin shows which definitions it implements.
        decide = partial(_from_plugins, definition, around, holders, late)
        return LateBinding(f"toolmd_implementation:{definition.name}", decide)

    bound: dict[str, Bound[Any]] = {}
    for name, definition in named.items():
        group = definition.group
        named_by = _implemented_by(definition)
        binding: Binding | LateBinding
        if read_operation(named_by) is not None or read_remote_tool(named_by) is not None:
            ways = (one.bind(named_by, definition.call_spec) for one in around.gateways)
            binding = next((one for one in ways if one is not None), NOT_IMPLEMENTED)
        elif isinstance(
            place := beside[id(group)].place(definition.file, definition.name, named_by), Place
        ):
            binding = _at(definition, place, beside[id(group)], around)
        else:
            binding = given(definition, place)
        bound[name] = Bound(
            name,
            definition.spec,
            binding,
            call_part=definition.call_spec,
            content_hash=definition.content_hash,
            diagnostics=definition.diagnostics,
            stale=definition.stale,
            default_min=group.default_min, crisis_words=group.crisis_words, hooked=group.hooked,
        )  # fmt: skip
    return bound


def _implemented_by(definition: Entry) -> str:
    """Return what a tool's file names in Implemented By; empty if it names nothing."""
    # To decode each tool's JSON costs more than all else that is done here.
    may_name = not definition.encoded or b'"implemented_by"' in definition.encoded
    call_spec = definition.call_spec() if may_name else None
    return call_spec.implemented_by if isinstance(call_spec, ToolCallSpec) else ""


def _at(definition: Entry, place: Place, beside: Beside, around: SnapshotParts) -> Binding:
    group, file = definition.group, place.file
    holders = partial(beside.holders, definition.file, place.function)
    name = group.module(file) if file is not None else place.module
    find = from_module(around, name, place, holders)
    loader = Loader(around, definition.call_spec, definition.file, find, place.target, group.plugin,
                    file)  # fmt: skip
    return loader.binding(
        "sibling" if group.package is None and file is not None else "entry_point"
    )


def _from_plugins(
    definition: Entry,
    around: SnapshotParts,
    holders: tuple[File, ...],
    late: Sequence[str] | None,
) -> Binding:
    """Bind to the first plugin that returns an implementation or fails.

    `late` names the folders' plugins, of which one that does not load may be the implementer; None
    asks no plugin. `holders` are the modules that have the function, where they are several.
    """
    plugins, found = around.plugins, None
    if late is not None:
        asked = plugins.ask("toolmd_implementation", awake=bool(late), spec=definition.spec())
        answers = (one for one in asked if one.error is not None or one.value is not None)
        broken = ((name, name) for name in late if not plugins.sound(name))
        found = next(((one.plugin, definition.group.plugin) for one in answers), None)
        found = found or next(broken, None)
    if found is not None:
        target = f"{found[0]}:{definition.name}"
        find = from_plugins(around, definition.spec)
        loader = Loader(around, definition.call_spec, definition.file, find, target, found[1])
        return loader.binding("entry_point")
    if not holders:
        return NOT_IMPLEMENTED
    return NOT_IMPLEMENTED._replace(inspect=lambda: (_ambiguous(definition, holders),))


def _ambiguous(definition: Entry, holders: Sequence[File]) -> Diagnostic:
    """Report that several modules of a folder have the function of a tool."""
    source, name = definition.call_spec().source, definition.name
    listed = " and ".join(file.parts[-1] for file in holders)
    message = f"`{name}` is in {listed}, and {source.path} names none of them"
    help_ = f"write {_name_holders(name, holders)}"
    found = whole_file(source.path, Code.AMBIGUOUS_FUNCTION, message, help_)
    return found._replace(span=found.span._replace(line=source.line, end_line=source.line))
