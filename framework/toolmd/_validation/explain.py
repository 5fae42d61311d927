"""Explain the errors of a value, field by field, so that a model can correct it."""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from toolmd._types.field import JsonType
from toolmd._types.schema import KEYWORDS, Parameter, Schema
from toolmd._types.verdict import Problem
from toolmd._validation.keywords import PatternError, checks_of, identity
from toolmd._validation.shape import lacks_tag, objects_for, shapes_for
from toolmd._validation.words import choices_of, fits_type, joined, shown_value, type_of, types_of
from toolmd.errors import near_words

MAX_PROBLEMS = 32
"""The most errors that are listed: a model corrects what it can read."""


def problems(value: Any, shape: Schema, *, path: str = "") -> tuple[Problem, ...]:
    """List the errors of a JSON value; the list is empty exactly when it fits its shape.

    Args:
        value: The value.
        shape: Its schema.
        path: The place of the value, with which the paths of the errors begin.
    """
    return tuple(islice(_value(value, shape, path, sensitive=False), MAX_PROBLEMS))


def fitting_objects(value: Mapping[str, Any], shape: Schema) -> tuple[Schema, ...]:
    """Return the object that a valid value is: of One Of its shape, or all if it fits none."""
    if len(found := objects_for(value, shape)) == 1:
        return found
    return tuple(one for one in found if not problems(value, one)) or found


def argument_problems(
    arguments: dict[str, Any], shape: Schema, wrong: Collection[str]
) -> tuple[Problem, ...]:
    """List the errors of a call's arguments (the arguments check of behaviour.md).

    Only the arguments named in `wrong` are searched.
    """
    found = _object(arguments, shape, "", sensitive=False, wrong=wrong)
    return tuple(islice(found, MAX_PROBLEMS)) or problems(arguments, shape)


def _value(value: Any, shape: Schema, path: str, *, sensitive: bool) -> Iterator[Problem]:
    sensitive = sensitive or shape.sensitive
    kind = type_of(value)
    if not fits_type(value, shape):
        # In place of a list or an object, one of its Sensitive values may stand.
        got = shown_value(value, sensitive=sensitive or shape.holds_sensitive)
        yield _problem("wrong_type", path, f"must be {types_of(shape)}", types_of(shape), got)
        return
    if shape.enum is not None and identity(value) not in {identity(v) for v in shape.enum}:
        yield _not_in_enum(value, shape, path, sensitive=sensitive)
        return
    if kind in ("string", "array"):
        yield from _size(len(value), kind, shape, path)
    if kind in ("integer", "number"):
        yield from _number(value, shape, path, sensitive=sensitive)
    elif isinstance(value, list):
        yield from _array(value, shape, path, sensitive=sensitive)
    elif isinstance(value, dict):
        yield from _object(value, shape, path, sensitive=sensitive)
    yield from _checked(value, kind, shape, path, sensitive=sensitive)


def _problem(code: str, path: str, what: str, expected: str, got: str = "") -> Problem:
    ending = f"; got {got}" if got else ""
    return Problem(code, path, f"{path or 'the value'} {what}{ending}", expected, got)


def _not_in_enum(value: Any, shape: Schema, path: str, *, sensitive: bool) -> Problem:
    choices = choices_of(shape)
    what = f"must be one of {choices}"
    if isinstance(value, str) and not sensitive:
        near = near_words(value, [v for v in shape.enum or () if isinstance(v, str)])
        what += f" (did you mean {shown_value(near[0])}?)" if near else ""
    return _problem("not_in_enum", path, what, choices, shown_value(value, sensitive=sensitive))


def _checked(
    value: Any, kind: JsonType, shape: Schema, path: str, *, sensitive: bool
) -> Iterator[Problem]:
    for check, keyword in checks_of(shape, kind):
        try:
            test = check.test(keyword)
        except PatternError as error:
            message = f"{path or 'the value'} can't be checked: {error}"
            yield Problem("invalid_pattern", path, message)
            continue
        if test is not None and not test(value):
            wanted, got = check.wanted(keyword), shown_value(value, sensitive=sensitive)
            yield _problem(check.code, path, f"must be {wanted}", wanted, got)


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
    if shape.unique:
        hides = sensitive or (shape.items is not None and shape.items.holds_sensitive)
        yield from _repeated(value, path, sensitive=hides)
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
    value: dict[str, Any],
    shape: Schema,
    path: str,
    *,
    sensitive: bool,
    wrong: Collection[str] | None = None,
) -> Iterator[Problem]:
    if shape.one_of is not None:
        yield from _one_of(value, shape, path, sensitive=sensitive)
        return
    fields = {p.name: p for p in shape.properties or ()}
    for name, parameter in fields.items():
        if name not in value and parameter.required and not parameter.shape.has_default:
            yield _missing(parameter, joined(path, name))
    for name, item in value.items():
        if wrong is not None and name not in wrong:
            continue
        at = joined(path, name)
        if name in fields:
            yield from _value(item, fields[name].shape, at, sensitive=sensitive)
        elif shape.values is not None:
            yield from _value(item, shape.values, at, sensitive=sensitive)
        elif shape.properties is not None:
            yield _unknown(name, at, list(fields))


def _one_of(
    value: dict[str, Any], shape: Schema, path: str, *, sensitive: bool
) -> Iterator[Problem]:
    """Explain an object by its own shape, or by the nearest one if it fits none."""
    if (field := shape.discriminator) is not None:
        if known := shapes_for(value, shape):
            yield from _object(value, known[0].shape, path, sensitive=sensitive)
        else:
            yield _without_tag(value, shape, field, path, sensitive=sensitive)
        return
    wrong: dict[str, list[Problem]] = {}
    rank: dict[str, tuple[bool, int]] = {}
    for each in shape.one_of or ():
        found = _object(value, each.shape, path, sensitive=sensitive)
        wrong[each.name] = list(islice(found, MAX_PROBLEMS))
        rank[each.name] = lacks_tag(value, each), len(wrong[each.name])
    fitting = [name for name, problems_ in wrong.items() if not problems_]
    if len(fitting) == 1:
        return
    every = ", ".join(fitting or wrong)
    if fitting:
        what = f"fits {len(fitting)} of its shapes ({every}); give the fields of only one"
        yield _problem("several_shapes_fit", path, what, "one shape")
        return
    nearest = min(rank, key=lambda name: rank[name])
    what = f"fits none of its shapes ({every}); the nearest is {nearest}"
    yield _problem("no_shape_fits", path, what, f"one of {every}")
    yield from wrong[nearest]


def _without_tag(
    value: dict[str, Any], shape: Schema, field: str, path: str, *, sensitive: bool
) -> Problem:
    """Explain an object whose Discriminator names no shape."""
    sensitive = sensitive or any(known.sensitive for known in shape.of_field(field))
    if field in value:
        known = Schema(enum=shape.tags)
        return _not_in_enum(value[field], known, joined(path, field), sensitive=sensitive)
    return _missing(Parameter(field, Schema(enum=shape.tags)), joined(path, field))


def _missing(parameter: Parameter, at: str) -> Problem:
    shape = parameter.shape
    expected = f"one of {choices_of(shape)}" if shape.enum else types_of(shape)
    words = f" ({shape.description})" if shape.description else ""
    message = f"{at} is missing: give {expected}{words}"
    return Problem("missing_argument", at, message, expected)


def _unknown(name: str, at: str, known: list[str]) -> Problem:
    near = near_words(name, known)
    expected = near[0] if near else ", ".join(known[:12]) or "no arguments"
    hint = f"did you mean {expected}?" if near else f"known here: {expected}"
    return Problem("unknown_argument", at, f"{at} is not a parameter; {hint}", expected)


_SIZES: Mapping[str, str] = {
    "min_length": "too_short",
    "max_length": "too_long",
    "min_items": "too_few_items",
    "max_items": "too_many_items",
}
"""The code of each bound of a size."""


def _size(size: int, kind: JsonType, shape: Schema, path: str) -> Iterator[Problem]:
    for name, code in _SIZES.items():
        row, bound = KEYWORDS[name], getattr(shape, name)
        if kind not in row.fits or bound is None:
            continue
        if size < bound if row.compared == "least" else size > bound:
            wanted = f"at {row.compared} {row.size(bound)}"
            yield _problem(code, path, f"must have {wanted}", wanted, row.size(size))
