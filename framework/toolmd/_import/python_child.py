"""Describe the functions of a Python module as JSON; runs in a process of its own."""

import contextlib
import importlib
import inspect
import json
import os
import sys
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterator,
    Mapping,
)
from functools import reduce
from operator import or_
from pathlib import Path
from types import ModuleType, SimpleNamespace, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from toolmd._import.functions import without_null
from toolmd._load.fits import annotations_of, signature_of

_VALUES = frozenset(("default", "enum", "const", "examples"))


def hints_of(function: Callable[..., Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the annotations of a function, and which of them can't be read and why."""
    with contextlib.suppress(Exception):  # An annotation is any expression.
        return get_type_hints(function, include_extras=True), []
    function = inspect.unwrap(function)
    read: dict[str, Any] = {}
    unread = []
    for name, annotation in annotations_of(function).items():
        # By itself: one that can't be read must not hide another.
        one = SimpleNamespace(__annotations__={name: annotation})
        try:
            names = getattr(function, "__globals__", None)
            read |= get_type_hints(one, names, include_extras=True)
        except Exception as error:  # noqa: BLE001 - as above
            where = "returns" if name == "return" else name
            unread.append((where, f"the annotation can't be read: {error}"))
    return read, unread


def adapter_of(hint: Any) -> TypeAdapter[Any] | None:
    """Return the validator of a type; None for a type that has no JSON."""
    try:
        adapter = TypeAdapter(hint)
        adapter.json_schema()
    except Exception:  # noqa: BLE001 - pydantic has many ways to say so
        return None
    return adapter


def narrow(hint: Any) -> tuple[TypeAdapter[Any] | None, list[Any]]:
    """Return a validator for those choices of a union that have a schema, and the other choices.

    The validator is None where only None has a schema.
    """
    choices = get_args(hint) if get_origin(hint) in {Union, UnionType} else ()
    has = [one for one in choices if adapter_of(one) is not None]
    if all(one is type(None) for one in has):
        return None, [hint]
    return TypeAdapter(reduce(or_, has)), [one for one in choices if one not in has]


_ANY = {"type": "any"}
_UNLIKE = {
    "decimal": "any text is accepted; Python takes digits only",
    "timedelta": "any text is accepted; Python takes ISO 8601 durations only",
    "datetime": "only ISO 8601 is accepted; Python takes seconds in a text, too",
    **dict.fromkeys(("set", "frozenset"), "equal items are rejected; Python drops them"),
}
"""Where a JSON Schema accepts other values than the validator of the type in pydantic."""


def unlike(schema: Any) -> Iterator[str]:
    """Yield how a type, or one within it, accepts other values in the file than in Python."""
    if isinstance(schema, list | tuple):
        for one in schema:
            yield from unlike(one)
    if not isinstance(schema, Mapping):
        return
    kind = str(schema.get("type"))
    if kind in _UNLIKE:
        yield _UNLIKE[kind]
    elif kind in {"model", "typed-dict", "dataclass"}:
        said = schema.get("config", {}).get("extra_fields_behavior") or schema.get("extra_behavior")
        if said in {None, "ignore"}:
            yield "fields that its class does not name are rejected; Python ignores them"
    elif kind == "dict" and schema.get("keys_schema", _ANY)["type"] not in {"str", "any"}:
        yield "any text is accepted as a key; Python checks the keys"
    elif kind.startswith("function-"):
        made_by = getattr(schema["function"].get("function"), "__module__", "") or ""
        if made_by.partition(".")[0] not in {"pydantic", "pydantic_core", "functools"}:
            yield "its validator runs in Python only, when the call passed the checks of the file"
    for key, value in schema.items():
        if key not in {"metadata", "serialization"}:
            yield from unlike(value)


def remove_titles(schema: Any) -> Any:
    """Return a schema without titles, which pydantic makes of names."""
    if isinstance(schema, list):
        return [remove_titles(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in _VALUES else remove_titles(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def name_of(hint: Any) -> str:
    return hint.__name__ if inspect.isclass(hint) and not get_args(hint) else str(hint)


_TITLES = ("fn", "func")
"""Where decorators of other frameworks keep the function in an object of theirs."""


def main() -> None:
    """Read the module and the names in argv, and write the description to stdout."""
    source, *names = sys.argv[1:]
    # Before Python 3.12, pydantic can read no other TypedDict.
    typing.TypedDict = typing_extensions.TypedDict
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        # What the module prints must not get between the JSON.
        os.dup2(2, 1)
        module = _import(source)
        said = {
            "file": getattr(module, "__file__", None),
            "module": module.__name__,
            "functions": [_describe(name, one) for name, one in _find_functions(module, names)],
        }
        json.dump(said, answer)


def _import(source: str) -> ModuleType:
    if not source.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(source)
    file = Path(source).resolve()
    folder, parts = file.parent, [] if file.stem == "__init__" else [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return importlib.import_module(".".join(parts))


def _find_functions(module: ModuleType, names: list[str]) -> Iterator[tuple[str, Any]]:
    if names:
        yield from ((name, getattr(module, name, None)) for name in names)
        return
    offered = getattr(module, "__all__", None)
    for name in list(vars(module) if offered is None else offered):
        # A module may make some of its names when they are looked at.
        value = getattr(module, name, None)
        if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value):
            continue
        if inspect.isfunction(value):
            if offered is not None or _is_within(module, value):
                yield name, value
        elif any(inspect.isfunction(getattr(value, title, None)) for title in _TITLES):
            yield name, value


def _is_within(module: ModuleType, function: Callable[..., Any]) -> bool:
    """Return whether a function belongs to a module, or to a module of that package."""
    return f"{function.__module__}.".startswith(f"{module.__name__}.")


def _describe(name: str, value: Any) -> dict[str, Any]:
    if not inspect.isfunction(value):
        inner = any(inspect.isfunction(getattr(value, title, None)) for title in _TITLES)
        other = f"a {type(value).__name__}: keep the plain function under a name of its own"
        return {"name": name, "refused": other if inner else "no such function in the module"}
    reader = _Reader(value)
    said: dict[str, Any] = {"name": name, "line": value.__code__.co_firstlineno}
    try:
        said["parameters"] = reader.parameters()
    except ValueError as error:
        return {**said, "refused": str(error)}
    return {
        **said,
        "doc": inspect.getdoc(value) or "",
        "returns": reader.returns(),
        "notes": reader.notes,
        "doubts": reader.doubts,
    }


_STREAMS = (AsyncIterator, AsyncIterable, AsyncGenerator)


class _Reader:
    """Reads the signature of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._signature = signature_of(function)
        self.notes: list[tuple[str, str]] = []
        """The parameter and what could not be read of it."""
        self.doubts: list[str] = []
        """What somebody must decide: arguments that a call can't name, or that may be anything."""
        self._hints, unread = hints_of(function)
        self.notes += unread

    def parameters(self) -> Any:
        """Return the JSON Schema of the arguments; raises ValueError where there can be none."""
        adapters: dict[str, TypeAdapter[Any]] = {}
        more: dict[str, dict[str, Any]] = {}
        required = []
        absent: set[str] = set()
        """Those for which an absent argument and null are the same."""
        for name, parameter in self._signature.parameters.items():
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
                self.doubts.append(
                    f"{name} of the function takes any number of arguments, and no call can pass "
                    "them: write the parameters that are missing, then delete this line"
                )
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise ValueError(f"`{name}` is positional only: tools are called by name")
            hint, default, described = self._read_type(name, parameter)
            if hint is Any and default is None:
                self._doubt(name, "it has no type, and None as its default")
            adapter = self._adapter(name, hint, provided=parameter.kind is parameter.KEYWORD_ONLY)
            if adapter is None:
                continue
            adapters[name] = adapter
            more[name] = {"description": described} if described else {}
            if default is PydanticUndefined:
                required.append(name)
            elif default is None:
                absent.add(name)
            else:
                more[name] |= self._default(name, adapter, default)
        inputs: Any = [(name, "validation", adapter) for name, adapter in adapters.items()]
        made, shared = TypeAdapter.json_schemas(inputs)
        fields = {}
        for name in adapters:
            own = made[name, "validation"]
            if name in absent:
                own = without_null(own) or own  # An absent one is None in the function.
            fields[name] = {**own, **more[name]}
        return remove_titles({
            "type": "object", "properties": fields, "required": required,
            "additionalProperties": False, "$defs": shared.get("$defs", {}),
        })  # fmt: skip

    def returns(self) -> Any:
        """Return the JSON Schema of the return value; None where none is known."""
        hint = self._hints.get("return", Any)
        if get_origin(hint) in _STREAMS:
            hint = get_args(hint)[0]  # The last item is the result.
        if hint is Any or hint is type(None):
            return None
        try:
            return remove_titles(TypeAdapter(hint).json_schema(mode="serialization"))
        except Exception:  # noqa: BLE001 - a type that has no JSON
            self.notes.append(("returns", f"the type {name_of(hint)} has no schema: any value"))
            return None

    def _read_type(self, name: str, parameter: inspect.Parameter) -> tuple[Any, Any, str]:
        """Return the type, the default and the description of a parameter."""
        hint = self._hints.get(name, Any)
        if hint is Any:
            self.notes.append((name, "no type in the source: any value"))
        default = PydanticUndefined if parameter.default is parameter.empty else parameter.default
        if isinstance(default, FieldInfo):
            hint, default = Annotated[hint, default], default.default
            if default is PydanticUndefined and not parameter.default.is_required():
                default = None
                self.notes.append((name, "its default is made by a function: not written"))
        described = ""
        if get_origin(hint) is Annotated:
            for one in get_args(hint)[1:]:
                said = one if isinstance(one, str) else getattr(one, "documentation", "")
                described = described or (said if isinstance(said, str) else "")
        return hint, default, described

    def _adapter(self, name: str, hint: Any, *, provided: bool) -> TypeAdapter[Any] | None:
        adapter = adapter_of(hint)
        if adapter is None and provided:
            self.notes.append((name, f"{name_of(hint)} is provided by the host: left out"))
            return None
        if adapter is None:
            adapter, lacks = narrow(hint)
            if adapter is None:
                self._doubt(name, f"its type, {name_of(hint)}, has no schema")
                return TypeAdapter(Any)
            for one in lacks:
                self.notes.append((name, f"{name_of(one)} has no schema: no call can pass one"))
        self.notes += [(name, text) for text in dict.fromkeys(unlike(adapter.core_schema))]
        return adapter

    def _doubt(self, name: str, why: str) -> None:
        self.doubts.append(
            f"{name} accepts any value of a call, because {why}: write its Type, or delete the "
            "parameter if the function gets it elsewhere; then delete this line"
        )

    def _default(self, name: str, adapter: TypeAdapter[Any], default: Any) -> dict[str, Any]:
        with contextlib.suppress(Exception):
            value = adapter.dump_python(default, mode="json", warnings="error")
            json.dumps(value, allow_nan=False)
            return {"default": value}
        self.notes.append((name, f"its default {default!r:.80} has no JSON: not written"))
        return {}
