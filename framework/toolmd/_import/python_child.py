"""Describe the functions of a Python module as JSON; runs in a process of its own."""

import contextlib
import importlib
import inspect
import json
import os
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

_TITLES = ("fn", "func")
"""Where decorators of other frameworks keep the function in an object of theirs."""
_VALUES = frozenset(("default", "enum", "const", "examples"))


def main() -> None:
    """Read the module and the names in argv, and write the description to stdout."""
    source, *names = sys.argv[1:]
    # Before Python 3.12, pydantic can read no other TypedDict.
    typing.TypedDict = typing_extensions.TypedDict
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        # What the module prints must not get between the JSON.
        os.dup2(2, 1)
        module = _imported(source)
        said = {
            "file": getattr(module, "__file__", None),
            "module": module.__name__,
            "functions": [_described(name, one) for name, one in _found(module, names)],
        }
        json.dump(said, answer)


def _imported(source: str) -> ModuleType:
    if not source.endswith(".py"):
        sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(source)
    file = Path(source).resolve()
    folder, parts = file.parent, [file.stem]
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    sys.path.insert(0, str(folder))
    return importlib.import_module(".".join(parts))


def _found(module: ModuleType, names: list[str]) -> Iterator[tuple[str, Any]]:
    if names:
        yield from ((name, getattr(module, name, None)) for name in names)
        return
    for name, value in vars(module).items():
        if name.startswith("_") or inspect.isclass(value) or inspect.ismodule(value):
            continue
        if inspect.isfunction(value):
            if value.__module__ == module.__name__:
                yield name, value
        elif any(inspect.isfunction(getattr(value, title, None)) for title in _TITLES):
            yield name, value


def _described(name: str, value: Any) -> dict[str, Any]:
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


class _Reader:
    """Reads the signature of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._signature = inspect.signature(function)
        self.notes: list[tuple[str, str]] = []
        """The parameter and what could not be read of it."""
        self.doubts: list[str] = []
        """What somebody must decide: arguments that a call can't name, or that may be anything."""
        try:
            self._hints = get_type_hints(function, include_extras=True)
        except Exception as error:  # noqa: BLE001 - an annotation is any expression
            self._hints = {}
            self.notes.append(("", f"the annotations can't be read: {error}"))

    def parameters(self) -> Any:
        """Return the JSON Schema of the arguments; raises ValueError where there can be none."""
        adapters: dict[str, TypeAdapter[Any]] = {}
        more: dict[str, dict[str, Any]] = {}
        required = []
        for name, parameter in self._signature.parameters.items():
            if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
                self.doubts.append(
                    f"{name} of the function takes any number of arguments, and no call can pass "
                    "them: write the parameters that are missing, then delete this line"
                )
                continue
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise ValueError(f"`{name}` is positional only: tools are called by name")
            hint, default, described = self._typed(name, parameter)
            if hint is Any and default is None:
                self._doubt(name, "it has no type, and None as its default")
            adapter = self._adapter(name, hint, provided=parameter.kind is parameter.KEYWORD_ONLY)
            if adapter is None:
                continue
            adapters[name] = adapter
            more[name] = {"description": described} if described else {}
            if default is PydanticUndefined:
                required.append(name)
            elif default is not None:
                more[name] |= self._default(name, adapter, default)
        inputs: Any = [(name, "validation", adapter) for name, adapter in adapters.items()]
        made, shared = TypeAdapter.json_schemas(inputs)
        fields = {}
        for name in adapters:
            own = made[name, "validation"]
            if name not in required:
                own = _without_null(own)
            fields[name] = {**own, **more[name]}
        return _untitled({
            "type": "object", "properties": fields, "required": required,
            "additionalProperties": False, "$defs": shared.get("$defs", {}),
        })  # fmt: skip

    def returns(self) -> Any:
        """Return the JSON Schema of the return value; None where none is known."""
        hint = self._hints.get("return", Any)
        if hint is Any or hint is type(None):
            return None
        try:
            return _untitled(TypeAdapter(hint).json_schema(mode="serialization"))
        except Exception:  # noqa: BLE001 - a type that has no JSON
            self.notes.append(("returns", f"the type {_name_of(hint)} has no schema: any value"))
            return None

    def _typed(self, name: str, parameter: inspect.Parameter) -> tuple[Any, Any, str]:
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
        try:
            adapter = TypeAdapter(hint)
            adapter.json_schema()
        except Exception:  # noqa: BLE001 - a type that has no JSON
            if provided:
                self.notes.append((name, f"{_name_of(hint)} is provided by the host: left out"))
                return None
            self._doubt(name, f"its type, {_name_of(hint)}, has no schema")
            return TypeAdapter(Any)
        self.notes += [(name, text) for text in dict.fromkeys(_unlike(adapter.core_schema))]
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


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an optional parameter: an absent one is None in the function."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or {"type": "null"} not in branches:
        return schema
    left = [one for one in branches if one != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**left[0], **rest} if len(left) == 1 else {**rest, "anyOf": left}


_ANY = {"type": "any"}
_UNLIKE = {
    "decimal": "any text is accepted; Python takes digits only",
    "timedelta": "any text is accepted; Python takes ISO 8601 durations only",
    "datetime": "only ISO 8601 is accepted; Python takes seconds in a text, too",
    **dict.fromkeys(("set", "frozenset"), "equal items are rejected; Python drops them"),
}
"""Where a JSON Schema accepts other values than the validator of the type in pydantic."""


def _unlike(schema: Any) -> Iterator[str]:
    """Yield how a type, or one within it, accepts other values in the file than in Python."""
    if isinstance(schema, list | tuple):
        for one in schema:
            yield from _unlike(one)
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
            yield from _unlike(value)


def _untitled(schema: Any) -> Any:
    """Return a schema without titles, which pydantic makes of names."""
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in _VALUES else _untitled(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _name_of(hint: Any) -> str:
    return hint.__name__ if inspect.isclass(hint) and not get_args(hint) else str(hint)
