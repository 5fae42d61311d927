"""Read the annotations of functions, and make JSON Schemas of them; a part of `python_child`."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from operator import or_
from types import SimpleNamespace, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

from toolmd._load.fits import annotations_of

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


def narrowed(hint: Any) -> tuple[TypeAdapter[Any] | None, list[Any]]:
    """Return a validator for those choices of a union that have a schema, and the other choices.

    The validator is None where only None has a schema.
    """
    choices = get_args(hint) if get_origin(hint) in {Union, UnionType} else ()
    has = [one for one in choices if adapter_of(one) is not None]
    if all(one is type(None) for one in has):
        return None, [hint]
    return TypeAdapter(reduce(or_, has)), [one for one in choices if one not in has]


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
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


def untitled(schema: Any) -> Any:
    """Return a schema without titles, which pydantic makes of names."""
    if isinstance(schema, list):
        return [untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value if key in _VALUES else untitled(value)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def name_of(hint: Any) -> str:
    return hint.__name__ if inspect.isclass(hint) and not get_args(hint) else str(hint)
