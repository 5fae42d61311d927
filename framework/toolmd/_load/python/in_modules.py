"""Load the function of a definition from a module: of its folder, or an installed one."""

import importlib
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType

from toolmd._load.plugins.manager import reason
from toolmd._load.python.beside import Place, module_name
from toolmd._load.python.implementation import Find, Found, SnapshotParts, own_place
from toolmd._load.source.files import File, shown_path, whole_file
from toolmd._load.source.loading import caught
from toolmd._load.source.modules import PREFIX
from toolmd._types.call_spec import CallSpec
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd.errors import ForeignExitError, ImplementationError, near_words

Holders = Callable[[], Sequence[File]]
"""Returns the modules of the folder that have a function of the wanted name."""


def from_module(around: SnapshotParts, name: str, place: Place, holders: Holders) -> Find:
    """Find a function in a module of the definition's folder; `name` is the dotted one."""
    file = place.file
    assert file is not None

    def find(call_spec: CallSpec) -> Found:
        try:
            module = caught(partial(importlib.import_module, name))
            around.plugins.add_module(file.path, module)
        except Exception as error:
            raise _broken(call_spec, file, error, around.settings.root) from error
        function = getattr(module, place.function, None)
        if not callable(function):
            raise _missing(call_spec, place, module, holders())
        return Found(function, (module.__name__,), file)

    return find


def from_installed(around: SnapshotParts, place: Place, holders: Holders) -> Find:
    """Find a function in a module that is imported by its name, once for the whole process."""

    def find(call_spec: CallSpec) -> Found:
        try:
            module = caught(partial(_imported, place.module))
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and _is_at(place.module, error.name):
                raise _not_there(call_spec, place, holders()) from error
            raise _broken(call_spec, None, error, around.settings.root) from error
        function = getattr(module, place.function, None)
        if not callable(function):
            raise _missing(call_spec, place, module, holders())
        return Found(function, (place.module,))

    return find


def ambiguous(name: str, path: str, line: int, holders: Sequence[File]) -> Diagnostic:
    """Report that several modules of a folder have the function of a tool."""
    listed = " and ".join(file.parts[-1] for file in holders)
    message = f"`{name}` is in {listed}, and {path} names none of them"
    found = whole_file(path, Code.AMBIGUOUS_FUNCTION, message, f"write {_named(name, holders)}")
    return found._replace(span=found.span._replace(line=line, end_line=line))


def _imported(module: str) -> ModuleType:
    first, *within = module.split(".")
    # What a process has by such a name is another snapshot's, or the program itself.
    private = first.startswith(PREFIX) or first == "__main__"
    if private or not all(map(str.isidentifier, (first, *within))):
        raise ModuleNotFoundError(name=module)
    return importlib.import_module(module)


def _is_at(module: str, name: str | None) -> bool:
    """Return whether it is the module itself that was not found, or a package around it."""
    return name is not None and f"{module}.".startswith(f"{name}.")


def _named(function: str, holders: Sequence[File]) -> str:
    return " or ".join(f"`Implemented By: {module_name(file)}:{function}`" for file in holders)


def _elsewhere(function: str, holders: Sequence[File]) -> str:
    """Return the remedy where another module of the folder has the function; else nothing."""
    listed = " and ".join(file.parts[-1] for file in holders)
    return f"`{function}` is in {listed}: write {_named(function, holders)}" if holders else ""


def _broken(
    call_spec: CallSpec, file: File | None, error: BaseException, project: Path
) -> ImplementationError:
    source, said = call_spec.source, reason(error)
    path, line = (file.path, 1) if file is not None else (source.path, source.line)
    if isinstance(error, ForeignExitError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, SyntaxError) and error.filename:
        path, line = shown_path(Path(error.filename), project), error.lineno or 1
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
