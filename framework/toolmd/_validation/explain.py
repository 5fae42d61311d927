"""Explain the errors of a value, field by field, so that a model can correct it."""

from collections.abc import Iterator
from typing import Any

from toolmd._types.schema import Parameter, Schema
from toolmd._types.verdict import Problem
from toolmd._validation.formats import FORMATS
from toolmd._validation.identity import identity
from toolmd._validation.patterns import PatternError, whole_match
from toolmd._validation.words import choices_of, joined, shown_value, type_of, types_of
from toolmd.errors import near_words

MAX_PROBLEMS = 32
"""The most errors that are listed: a model corrects what it can read."""


def problems(value: Any, shape: Schema, *, path: str = "") -> tuple[Problem, ...]:
    """List the errors of a JSON value; the list is empty exactly when it fits its shape."""
    found = _value(value, shape, path, sensitive=False)
    return tuple(problem for problem, _ in zip(found, range(MAX_PROBLEMS), strict=False))


def argument_problems(
    arguments: dict[str, Any], parameters: tuple[Parameter, ...]
) -> tuple[Problem, ...]:
    """List the errors of a call's arguments (the arguments check of behaviour.md)."""
    return problems(arguments, Schema(types=("object",), properties=parameters))


def _value(value: Any, shape: Schema, path: str, *, sensitive: bool) -> Iterator[Problem]:
    sensitive = sensitive or shape.sensitive
    kind = type_of(value)
    fits = not shape.types or kind in shape.types or (kind == "integer" and "number" in shape.types)
    if not fits:
        got = shown_value(value, sensitive=sensitive)
        yield _problem("wrong_type", path, f"must be {types_of(shape)}", types_of(shape), got)
        return
    if shape.enum is not None and identity(value) not in {identity(v) for v in shape.enum}:
        yield _not_in_enum(value, shape, path, sensitive=sensitive)
        return
    if isinstance(value, str):
        yield from _text(value, shape, path, sensitive=sensitive)
    elif kind in ("integer", "number"):
        yield from _number(value, shape, path, sensitive=sensitive)
    elif isinstance(value, list):
        yield from _array(value, shape, path, sensitive=sensitive)
    elif isinstance(value, dict):
        yield from _object(value, shape, path, sensitive=sensitive)


def _problem(code: str, path: str, what: str, expected: str, got: str = "") -> Problem:
    ending = f"; got {got}" if got else ""
    return Problem(code, path, f"{path or 'the value'} {what}{ending}", expected, got)


def _not_in_enum(value: Any, shape: Schema, path: str, *, sensitive: bool) -> Problem:
    choices = choices_of(shape)
    what = f"must be one of {choices}"
    if isinstance(value, str) and not sensitive:
        near = _nearest(value, [v for v in shape.enum or () if isinstance(v, str)])
        what += f" (did you mean {shown_value(near)}?)" if near else ""
    return _problem("not_in_enum", path, what, choices, shown_value(value, sensitive=sensitive))


def _text(value: str, shape: Schema, path: str, *, sensitive: bool) -> Iterator[Problem]:
    length = (shape.min_length, shape.max_length)
    yield from _size(len(value), "character", length, ("too_short", "too_long"), path)
    got = shown_value(value, sensitive=sensitive)
    if shape.pattern is not None:
        yield from _pattern(value, shape.pattern, path, got)
    if shape.format is not None and shape.format in FORMATS:
        test, wanted = FORMATS[shape.format]
        if not test(value):
            yield _problem("invalid_format", path, f"must be {wanted}", wanted, got)


def _pattern(value: str, pattern: str, path: str, got: str) -> Iterator[Problem]:
    try:
        fits = whole_match(pattern)(value)
    except PatternError as error:
        yield Problem("invalid_pattern", path, f"{path or 'the value'} can't be checked: {error}")
        return
    if not fits:
        wanted = f"text that matches {pattern} as a whole"
        yield _problem("pattern_mismatch", path, f"must be {wanted}", wanted, got)


def _number(value: float, shape: Schema, path: str, *, sensitive: bool) -> Iterator[Problem]:
    low, high = shape.minimum, shape.maximum
    if (low is None or value >= low) and (high is None or value <= high):
        return
    wanted = (
        f"at least {low}"
        if high is None
        else f"at most {high}"
        if low is None
        else f"{low}..{high}"
    )
    what = f"must be {wanted}" if low is None or high is None else f"must be in {wanted}"
    yield _problem("out_of_range", path, what, wanted, shown_value(value, sensitive=sensitive))


def _array(value: list[Any], shape: Schema, path: str, *, sensitive: bool) -> Iterator[Problem]:
    length = (shape.min_items, shape.max_items)
    yield from _size(len(value), "item", length, ("too_few_items", "too_many_items"), path)
    if shape.unique:
        yield from _repeated(value, path, sensitive=sensitive)
    if shape.items is not None:
        for index, item in enumerate(value):
            yield from _value(item, shape.items, f"{path}[{index}]", sensitive=sensitive)


def _repeated(value: list[Any], path: str, *, sensitive: bool) -> Iterator[Problem]:
    seen = set()
    for index, item in enumerate(value):
        key = identity(item)
        if key in seen:
            got = shown_value(item, sensitive=sensitive)
            at = f"{path}[{index}]"
            yield _problem("not_unique", at, "repeats an earlier item", "no item twice", got)
            return
        seen.add(key)


def _object(
    value: dict[str, Any], shape: Schema, path: str, *, sensitive: bool
) -> Iterator[Problem]:
    fields = {p.name: p for p in shape.properties or ()}
    for name, parameter in fields.items():
        if name not in value and parameter.required and not parameter.shape.has_default:
            yield _missing(parameter, joined(path, name))
    for name, item in value.items():
        at = joined(path, name)
        if name in fields:
            yield from _value(item, fields[name].shape, at, sensitive=sensitive)
        elif shape.values is not None:
            yield from _value(item, shape.values, at, sensitive=sensitive)
        elif shape.properties is not None:
            yield _unknown(name, at, list(fields))


def _missing(parameter: Parameter, at: str) -> Problem:
    shape = parameter.shape
    expected = f"one of {choices_of(shape)}" if shape.enum else types_of(shape)
    words = f" ({shape.description})" if shape.description else ""
    message = f"{at} is missing: give {expected}{words}"
    return Problem("missing_argument", at, message, expected)


def _unknown(name: str, at: str, known: list[str]) -> Problem:
    near = _nearest(name, known)
    expected = near or ", ".join(known[:12]) or "no arguments"
    hint = f"did you mean {near}?" if near else f"known here: {expected}"
    return Problem("unknown_argument", at, f"{at} is not a parameter; {hint}", expected)


def _nearest(word: str, known: list[str]) -> str | None:
    """Return the known word that is nearest; only short words are compared, to save time."""
    folded = {k.casefold().replace("-", "_"): k for k in known}
    near = near_words(word.casefold().replace("-", "_"), folded)
    return folded[near[0]] if near else None


def _size(
    size: int,
    thing: str,
    bounds: tuple[int | None, int | None],
    codes: tuple[str, str],
    path: str,
) -> Iterator[Problem]:
    least, most = bounds
    got = _counted(size, thing)
    if least is not None and size < least:
        wanted = f"at least {_counted(least, thing)}"
        yield _problem(codes[0], path, f"must have {wanted}", wanted, got)
    if most is not None and size > most:
        wanted = f"at most {_counted(most, thing)}"
        yield _problem(codes[1], path, f"must have {wanted}", wanted, got)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
