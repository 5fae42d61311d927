"""Check what a host passes to public methods, before anything happens."""

import inspect
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import cache, cached_property, wraps
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from toolmd.errors import ArgumentError

MAX_NAME = 4096
"""Characters of a name, an id or a path."""
FREE = frozenset(("message", "text", "arguments", "inputs", "tool", "id", "folder"))
"""Texts of any length and any characters: words, JSON, paths, and what a model names."""
RANGES: Mapping[str, tuple[float, float]] = {
    "limit": (1, 1_000_000),
    "confidence": (0, 1),
    "rows": (1, 2**63 - 1),
    "bytes": (1, 2**63 - 1),
    "timeout_ms": (1, 2**63 - 1),
    "timeout_s": (0, 86_400),
}
"""The lowest and the highest number of a parameter, whichever method has it."""
_OF_A_MODEL = frozenset(("arguments", "confidence"))
"""Fields of a Call that a model may have written: the call pipeline denies what is odd there."""
_NO_LIMITS = (-(2**63), 2**63 - 1)
_PLAIN = {
    NoneType: "None",
    bool: "true or false",
    bytes: "bytes",
    Mapping: "an object with texts as keys",
    Callable: "a function",
}
Fits = Callable[[Any], bool]
_THEIR_OWN: set[Callable[..., Any]] = set()
_Face = TypeVar("_Face", bound=type)
_Method = TypeVar("_Method", bound=Callable[..., Any])


def checks_itself(method: _Method) -> _Method:
    """Mark a method that calls `ArgumentCheck.check` itself: a frame would cost too much."""
    _THEIR_OWN.add(method)
    return method


def is_usual(context: Any, *names: Any) -> bool:
    """Return whether names and context are short ASCII texts, or absent: checked cheaply."""
    texts = [name for name in names if name is not None]
    if context:
        if type(context) is not dict:
            return False
        texts += context
        texts += context.values()
    elif context != {}:
        return False
    for text in texts:
        if (
            type(text) is not str
            or not text.isascii()
            or not 0 < len(text) <= MAX_NAME
            or "\0" in text
        ):
            return False
    return True


def checked(face: _Face) -> _Face:
    """Make each public method of a class, and its `__init__`, raise ArgumentError for odd values.

    What is odd follows from the annotations, and from `RANGES` and `FREE` by the name.
    """
    for name, method in list(vars(face).items()):
        if (name.startswith("_") and name != "__init__") or method in _THEIR_OWN:
            continue
        if isinstance(method, classmethod):
            setattr(face, name, classmethod(_guarded(method.__func__)))
        elif inspect.isfunction(method):
            setattr(face, name, _guarded(method))
    return face


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    check = ArgumentCheck(method).check
    guarded: Callable[..., Any]

    if inspect.iscoroutinefunction(method):

        async def guarded(*args: Any, **named: Any) -> Any:
            check(args, named)
            return await method(*args, **named)

    elif inspect.isasyncgenfunction(method):

        async def guarded(*args: Any, **named: Any) -> AsyncIterator[Any]:
            check(args, named)
            async with aclosing(method(*args, **named)) as items:
                async for item in items:
                    yield item

    elif inspect.isgeneratorfunction(method):

        def guarded(*args: Any, **named: Any) -> Iterator[Any]:
            check(args, named)
            yield from method(*args, **named)

    else:

        def guarded(*args: Any, **named: Any) -> Any:
            check(args, named)
            return method(*args, **named)

    return wraps(method)(guarded)


class ArgumentCheck:
    """The arguments that one method takes."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method

    def check(self, args: Sequence[Any], named: Mapping[str, Any]) -> None:
        """Check the arguments of one call; raises ArgumentError for the first that does not fit."""
        for (name, fits), value in zip(self._fits.items(), args, strict=False):
            if not fits(value):
                raise self._error(name, value)
        for name, value in named.items():
            if name in self._fits and not self._fits[name](value):
                raise self._error(name, value)

    def _error(self, name: str, value: Any) -> ArgumentError:
        expected = _expected(inspect.get_annotations(self._method)[name], name)
        return ArgumentError(name, f"must be {expected}, but it is {_described(value)}")

    # Worked out with the first call: opening a project does not wait for it.
    @cached_property
    def _fits(self) -> dict[str, Fits]:
        hints = inspect.get_annotations(self._method)
        names = inspect.signature(self._method).parameters
        return {name: _fits(hints.get(name, Any), name) for name in names}


def _fits(hint: Any, name: str) -> Fits:  # noqa: PLR0911 - one case, one line
    """Return a check of values for a parameter of this name and annotation."""
    kind = get_origin(hint) or hint
    if kind is Union or kind is UnionType:
        kinds = [_fits(one, name) for one in get_args(hint)]
        return lambda value: any(fits(value) for fits in kinds)
    if kind is Literal:
        return lambda value: isinstance(value, str) and value in get_args(hint)
    if kind is None or kind is NoneType:
        return lambda value: value is None
    if kind is str:
        free = name in FREE
        return lambda value: isinstance(value, str) and (free or _is_name(value))
    if kind is int or kind is float:
        low, high = RANGES.get(name, _NO_LIMITS)
        kinds_of = int if kind is int else (int, float)
        return lambda value: (
            isinstance(value, kinds_of) and not isinstance(value, bool) and low <= value <= high
        )
    if kind is Callable:
        return callable
    if kind is Mapping or kind is dict:
        fits = _fits(get_args(hint)[1], name)
        return lambda value: (
            isinstance(value, kind)
            and all(isinstance(key, str) and fits(one) for key, one in value.items())
        )
    if kind is Sequence or kind is Collection:
        item = _fits(get_args(hint)[0], name)
        return lambda value: (
            isinstance(value, kind)
            and not isinstance(value, str | bytes | Mapping)
            and all(item(one) for one in value)
        )
    if kind is Any or not isinstance(kind, type):
        return lambda _value: True
    if hasattr(kind, "_fields"):
        return lambda value: isinstance(value, kind) and _wrong_field(value) is None
    return lambda value: isinstance(value, kind)


def _is_name(value: str) -> bool:
    if not 0 < len(value) <= MAX_NAME or "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)


def _wrong_field(value: Any) -> str | None:
    """Return the first field of a named tuple that does not fit."""
    kind: Any = type(value)
    for name, fits in _field_checks(kind).items():
        if not fits(getattr(value, name)):
            return name
    return None


@cache
def _field_checks(kind: type) -> dict[str, Fits]:
    """Return the checks of a named tuple's fields."""
    hints = inspect.get_annotations(kind).items()
    return {name: _fits(hint, name) for name, hint in hints if name not in _OF_A_MODEL}


def _expected(hint: Any, name: str) -> str:
    kind = get_origin(hint) or hint
    if kind is Union or kind is UnionType:
        return " or ".join(dict.fromkeys(_expected(one, name) for one in get_args(hint)))
    if kind is str:
        return "a text" if name in FREE else f"a text of 1 to {MAX_NAME:,} characters without NUL"
    if kind is int or kind is float:
        low, high = RANGES.get(name, _NO_LIMITS)
        return f"{'an integer' if kind is int else 'a number'} from {low:,} to {high:,}"
    if kind is Sequence or kind is Collection:
        return f"a list, each item of it {_expected(get_args(hint)[0], name)}"
    if kind is Literal:
        return f"one of {', '.join(map(repr, get_args(hint)))}"
    known = _PLAIN.get(NoneType if kind is None else kind)
    return known or f"of the class {getattr(kind, '__name__', kind)}"


def _described(value: Any) -> str:
    """Return the type of a value without its content, which may be secret."""
    if value is None:
        return "None"
    if value == "":
        return "empty"
    if isinstance(value, str):
        return f"a text of {len(value):,} characters"
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return (
            f"a list of {len(value)} with an item that does not fit" if value else "an empty list"
        )
    if isinstance(value, dict):
        return "an object with a key or value that does not fit"
    if hasattr(value, "_fields"):
        return f"a {type(value).__name__} whose {_wrong_field(value)} does not fit"
    return f"of the class {type(value).__name__}"
