"""Check what a host passes to public methods, before anything happens."""

import inspect
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import cache, cached_property, wraps
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

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
_PLAIN: Mapping[type, str] = {bool: "true or false", bytes: "bytes", tuple: "a tuple"}
_THEIR_OWN: set[Callable[..., Any]] = set()
_Face = TypeVar("_Face", bound=type)
_Method = TypeVar("_Method", bound=Callable[..., Any])


def checks_itself(method: _Method) -> _Method:
    """Mark a method that calls `ArgumentCheck.check` itself: a frame would cost too much."""
    _THEIR_OWN.add(method)
    return method


def is_usual(context: Any, *names: Any) -> bool:
    """Return whether names and context are short ASCII texts, or absent: checked cheaply."""
    if context:
        if type(context) is not dict:
            return False
        names = (*names, *context, *context.values())
    elif context != {}:
        return False
    for text in names:
        if text is not None and (
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
        kinds = self._kinds
        for name, value in (*zip(kinds, args, strict=False), *named.items()):
            if name in kinds and not kinds[name].fits(value):
                expected = kinds[name].words
                raise ArgumentError(name, f"must be {expected}, but it is {_described(value)}")

    # Worked out with the first call: opening a project does not wait for it.
    @cached_property
    def _kinds(self) -> dict[str, "_Kind"]:
        hints = inspect.get_annotations(self._method)
        names = inspect.signature(self._method).parameters
        return {name: _kind(hints.get(name, Any), name) for name in names}


class _Kind(NamedTuple):
    """The values that a parameter takes."""

    fits: Callable[[Any], bool]
    words: str = ""


def _kind(hint: Any, name: str) -> _Kind:  # noqa: PLR0911 - one case, one return
    """Return what a parameter of this name and annotation takes."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Union or kind is UnionType:
        kinds = [_kind(one, name) for one in inner]
        words = " or ".join(dict.fromkeys(one.words for one in kinds))
        return _Kind(lambda value: any(one.fits(value) for one in kinds), words)
    if kind is Literal:
        words = f"one of {', '.join(map(repr, inner))}"
        return _Kind(lambda value: isinstance(value, str) and value in inner, words)
    if kind is None or kind is NoneType:
        return _Kind(lambda value: value is None, "None")
    if kind is str and name in FREE:
        return _Kind(lambda value: isinstance(value, str), "a text")
    if kind is str:
        return _Kind(_is_name, f"a text of 1 to {MAX_NAME:,} characters without NUL")
    if kind is int or kind is float:
        return _number((int,) if kind is int else (int, float), *RANGES.get(name, _NO_LIMITS))
    if kind is Callable:
        return _Kind(callable, "a function")
    if kind is Mapping or kind is dict:
        one = _kind(inner[1], name)
        is_context = name == "context"  # An empty fact is an absent one.
        return _Kind(
            lambda value: (
                isinstance(value, kind)
                and all(
                    isinstance(key, str) and (one.fits(item) or (is_context and item in (None, "")))
                    for key, item in value.items()
                )
            ),
            "an object with texts as keys",
        )
    if kind is Sequence or kind is Collection:
        one = _kind(inner[0], name)
        return _Kind(
            lambda value: (
                isinstance(value, kind)
                and not isinstance(value, str | bytes | Mapping)
                and all(one.fits(item) for item in value)
            ),
            f"a list, each item of it {one.words}",
        )
    if kind is Any or not isinstance(kind, type):
        return _Kind(lambda _value: True)
    words = _PLAIN.get(kind) or f"of the class {kind.__name__}"
    if hasattr(kind, "_fields"):
        return _Kind(lambda value: isinstance(value, kind) and not _wrong_field(value), words)
    return _Kind(lambda value: isinstance(value, kind), words)


def _number(kinds: Any, low: float, high: float) -> _Kind:
    words = f"{'a number' if float in kinds else 'an integer'} from {low:,} to {high:,}"
    return _Kind(
        lambda value: (
            isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high
        ),
        words,
    )


def _is_name(value: Any) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME or "\0" in value:
        return False
    return value.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in value)


def _wrong_field(value: Any) -> str | None:
    """Return the first field of a named tuple that does not fit, and what it must be."""
    of: Any = type(value)
    for name, kind in _field_kinds(of).items():
        if not kind.fits(one := getattr(value, name)):
            inner = _wrong_field(one) if hasattr(one, "_fields") else None
            return f"{name}.{inner}" if inner else f"{name} must be {kind.words}"
    return None


@cache
def _field_kinds(kind: type) -> dict[str, _Kind]:
    hints = inspect.get_annotations(kind).items()
    return {name: _kind(hint, name) for name, hint in hints if name not in _OF_A_MODEL}


def _described(value: Any) -> str:
    """Return the type of a value without its content, which may be secret."""
    if value is None:
        return "None"
    if isinstance(value, str):
        return f"a text of {len(value):,} characters" if value else "empty"
    if hasattr(value, "_fields"):
        return f"a {type(value).__name__} whose {_wrong_field(value)}"
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)} with something that does not fit"
    return f"of the class {type(value).__name__}"
