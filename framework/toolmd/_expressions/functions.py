"""The language of expressions, one row a function: its types, its code and its sentence."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, NamedTuple, NoReturn

from toolmd._types.schema import Schema
from toolmd.errors import ToolmdError

MAX_DAYS, MAX_RANGE = 366, 1000
MAX_STEPS = 400_000
"""The values that one evaluation may compute or compare within loops."""
MAX_BYTES = 64 << 20
"""The bytes that one evaluation may make and read."""
_TOO_LARGE = f"the expression takes over {MAX_BYTES >> 20} MiB on these values"


class EvaluationError(ToolmdError):
    """The error of an evaluation without a value; the message states the reason."""


class AbsentError(EvaluationError):
    """The error of reading a field that an object lacks."""


class ExhaustedError(EvaluationError):
    """The error of an evaluation that takes too much; `||` does not absorb it."""


class Maybe(NamedTuple):
    """An optional value."""

    value: Any = None
    given: bool = True


NONE = Maybe(given=False)


class Evaluation:
    """The names of one evaluation, its clock, and the steps and bytes that are left."""

    def __init__(self, names: dict[str, Any], now: dt.datetime | None) -> None:
        self.names, self.now = names, now
        self._steps, self._bytes = MAX_STEPS, MAX_BYTES

    def step(self, count: int = 1) -> None:
        """Count steps; raises ExhaustedError if there are too many."""
        self._steps -= count
        if self._steps < 0:
            raise ExhaustedError("the expression takes too many steps on these values")

    def count_bytes(self, value: Any) -> Any:
        """Return a value that is new, and count its bytes."""
        self.spend(value.__sizeof__())
        return value

    def spend(self, size: int) -> None:
        """Count bytes that are written or read; raises ExhaustedError if there are too many."""
        self._bytes -= size
        if self._bytes < 0:
            raise ExhaustedError(_TOO_LARGE)


class Type(NamedTuple):
    """The type of an expression, with that of what is in it, and the schema that it comes from.

    `number` is an integer or a double, because a JSON number may be whole or not. A `record` is
    an object with known fields. A capital letter is a variable of a signature.
    """

    kind: str
    inner: "Type | None" = None
    schema: Schema | None = None

    @property
    def is_known(self) -> bool:
        """Whether no part of the type is unknown."""
        return self.kind != "any" and (self.inner is None or self.inner.is_known)

    @property
    def shown(self) -> str:
        """The type as messages name it."""
        word = {"double": "number", "record": "object"}.get(self.kind, self.kind)
        return f"list({self.inner.shown})" if self.kind == "list" and self.inner else word


ANY = Type("any")
_NUMBERS = frozenset(("integer", "double", "number"))
_KINDS: Mapping[type, str] = {
    str: "string", int: "integer", float: "double", bool: "boolean", type(None): "null",
    list: "list", dict: "object", dt.datetime: "timestamp", dt.timedelta: "duration",
    Maybe: "optional",
}  # fmt: skip


def kind_of(value: Any) -> Type:
    """Return the type of a value, without the types in it."""
    return Type(_KINDS[type(value)])


def common(one: Type, other: Type) -> Type | None:
    """Return the type of either of two types; None if they are unlike."""
    if one == other:
        return one
    if not {"any", "null"}.isdisjoint((one.kind, other.kind)):
        return ANY
    if {one.kind, other.kind} <= _NUMBERS:
        return Type("number")
    if one.shown == other.shown == "object":
        return Type("object", ANY)
    inner = common(one.inner or ANY, other.inner or ANY) if one.kind == other.kind else None
    return Type(one.kind, inner if one.inner else None) if inner else None


def _matches(wanted: Type, given: Type, bound: dict[str, Type]) -> bool:
    """Return whether a type fits a parameter; bind the variables of the signature."""
    if wanted.kind.isupper():
        old = bound.get(wanted.kind)
        new = given if old is None else common(old, given)
        bound[wanted.kind] = new or ANY
        return new is not None
    if "any" in (wanted.kind, given.kind):
        return True
    if wanted.kind == "number":
        return given.kind in _NUMBERS
    if wanted.kind != given.kind:
        return False
    return wanted.inner is None or _matches(wanted.inner, given.inner or ANY, bound)


def _filled(result: Type, bound: Mapping[str, Type]) -> Type:
    """Return a result with the variables of its signature replaced by their types."""
    if result.kind.isupper():
        return bound.get(result.kind, ANY)
    return Type(result.kind, _filled(result.inner, bound)) if result.inner else result


class Signature(NamedTuple):
    """The types that a function takes, and the type that it gives."""

    takes: tuple[Type, ...]
    gives: Type
    repeats: bool
    """Whether the last type may be repeated."""

    def result(self, given: Sequence[Type]) -> Type | None:
        """Return the type of a call with arguments of these types; None if they do not fit."""
        more = self.takes[-1:] * (len(given) - len(self.takes)) if self.repeats else ()
        wanted, bound = self.takes + more, dict[str, Type]()
        fits = len(wanted) == len(given) and all(
            _matches(one, other, bound) for one, other in zip(wanted, given, strict=True)
        )
        return _filled(self.gives, bound) if fits else None


@dataclass(frozen=True, slots=True)
class Function:
    """A function, an operator or a macro, as its row in TABLE writes it.

    Its code is None if the evaluator does the work. With the flag `evaluation`, the code takes the
    Evaluation before the arguments; with `constant`, it takes the same time for any arguments.
    """

    text: str
    code: Callable[..., Any] | None
    says: str
    signatures: tuple[Signature, ...]
    names: tuple[str, ...]
    """Its keys in FUNCTIONS; that of a method begins with a dot."""
    flag: Literal["", "evaluation", "constant"] = ""
    admitted: dict[tuple[type, ...], bool] = field(default_factory=dict)
    """The types of arguments that were found to fit, and whether their size counts."""

    @property
    def is_macro(self) -> bool:
        """Whether it takes a name and an expression: `filter(x, x > 1)`."""
        return "(x, " in self.text

    def result(self, given: Sequence[Type]) -> Type | None:
        """Return the type of a call with arguments of these types; None if no signature fits.

        The first that fits gives it; if a type is unknown, all that fit must give the same.
        """
        found = [one for s in self.signatures if (one := s.result(given)) is not None]
        if not found:
            return None
        is_sure = all(one.is_known for one in given) or all(one == found[0] for one in found)
        return found[0] if is_sure else ANY

    def follows(self, over: Type) -> bool:
        """Return whether a method may follow a value of this type."""
        return any(_matches(signature.takes[0], over, {}) for signature in self.signatures)

    def admit(self, values: Sequence[Any]) -> bool:
        """Return whether the size of arguments counts; raises EvaluationError if none fits."""
        given = [kind_of(value) for value in values]
        if self.result(given) is None:
            fail(
                f"'{self.names[0].lstrip('.')}' does not take {', '.join(one.shown for one in given)}"
            )
        types = tuple(map(type, values))
        self.admitted[types] = counts = self.flag != "constant" and bool({str, list} & {*types})
        return counts


def fail(message: str) -> NoReturn:
    """Raise an EvaluationError."""
    raise EvaluationError(message)


def true(value: Any) -> bool:
    """Return a condition; raises EvaluationError if it is not true or false."""
    return value if value is True or value is False else fail("a condition is not true or false")


_SCALARS = _KINDS.keys() - {list, dict, Maybe}


def same(evaluation: Evaluation, one: Any, other: Any) -> bool:
    """Return whether two values are equal; raises EvaluationError if their types are unlike.

    Whole and other numbers are alike, and null compares with anything.
    """
    kind, of_other = type(one), type(other)
    if kind in _SCALARS and (kind is of_other or {kind, of_other} == {int, float}):
        evaluation.spend(len(one) if kind is str else 0)
        return bool(one == other)
    if one is None or other is None:
        return False
    if kind is not of_other or kind is Maybe:
        fail(f"'==' does not take {kind_of(one).shown}, {kind_of(other).shown}")
    if len(one) != len(other) or (kind is dict and one.keys() != other.keys()):
        return False
    evaluation.step(len(one))
    pairs = ((one[k], other[k]) for k in one) if kind is dict else zip(one, other, strict=True)
    return not any_of(pairs, lambda pair: not same(evaluation, *pair))


def any_of(items: Iterable[Any], test: Callable[[Any], Any]) -> bool:
    """Return whether a test is true for an item; an error counts only if it is for none."""
    error: EvaluationError | None = None
    for item in items:
        try:
            if true(test(item)):
                return True
        except ExhaustedError:
            raise
        except EvaluationError as caught:
            error = error or caught
    if error is not None:
        raise error
    return False


def _contains(evaluation: Evaluation, item: Any, items: Any) -> bool:
    kind = type(item)
    if isinstance(items, dict) or (kind in _SCALARS and set(map(type, items)) == {kind}):
        evaluation.spend(24 * len(items))
        return item in items
    evaluation.step(len(items))
    return any_of(items, lambda one: same(evaluation, item, one))


def _ordered(evaluation: Evaluation, items: list[Any], keys: list[Any]) -> list[Any]:
    kinds = set(map(type, keys))
    if (len(kinds) > 1 and not kinds <= {int, float}) or kinds & {list, dict, Maybe, type(None)}:
        return fail("a list is sorted by values of several types, or by no number or text")
    size = sum(map(len, keys)) if kinds == {str} else 0
    evaluation.spend((16 * len(keys) + size) * len(keys).bit_length())
    return [items[n] for n in sorted(range(len(keys)), key=keys.__getitem__)]


def _distinct(evaluation: Evaluation, items: list[Any]) -> list[Any]:
    def mark(value: Any) -> Any:
        evaluation.step()
        if isinstance(value, list):
            return (list, *map(mark, value))
        if isinstance(value, dict):
            return (dict, frozenset((key, mark(one)) for key, one in value.items()))
        return (bool, value) if isinstance(value, bool) else value

    found: dict[Any, Any] = {}
    for item in items:
        found.setdefault(mark(item), item)
    return list(found.values())


def _added(one: Any, other: Any) -> Any:
    if isinstance(one, str | list):
        room(len(one) + len(other))
    return one + other


def _divided(one: Any, other: Any) -> Any:
    if isinstance(one, int) and isinstance(other, int):
        return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    return one / other


def _remainder(one: int, other: int) -> int:
    return abs(one) % abs(other) * (-1 if one < 0 else 1)


def room(size: int) -> None:
    """Raise ExhaustedError if a text or a list of this size must not be built."""
    if 4 * size > MAX_BYTES:
        raise ExhaustedError(_TOO_LARGE)


def _part(value: Any, start: int, *ends: int) -> Any:
    end = ends[0] if ends else len(value)
    is_right = 0 <= start <= end <= len(value)
    return value[start:end] if is_right else fail(f"there is no part from {start} to {end}")


def _item(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        if key not in value:
            raise AbsentError(f"there is no field '{key}'")
        return value[key]
    is_right = key == int(key) and 0 <= key < len(value)
    return value[int(key)] if is_right else fail(f"there is no item {key} in {len(value)}")


def _split(evaluation: Evaluation, text: str, by: str) -> list[str]:
    evaluation.spend(64 * (text.count(by) + 1))
    return text.split(by) if by else list(text) or [text]


def _joined(items: list[str], between: str = "") -> str:
    if not all(isinstance(item, str) for item in items):
        return fail("'join' takes a list of text: write `.map(x, string(x)).join(…)`")
    room(sum(map(len, items)) + len(between) * len(items))
    return between.join(items)


def _replaced(text: str, old: str, new: str) -> str:
    room(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


_UPPER = {low: low - 32 for low in range(ord("a"), ord("z") + 1)}
_LOWER = {high: low for low, high in _UPPER.items()}


@lru_cache(maxsize=64)
def pattern(text: str) -> Any:
    """Return a compiled regular expression of RE2; raises EvaluationError if it is none."""
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, 1 << 20
    try:
        return re2.compile(text, options)
    except re2.error:
        raise EvaluationError(f"the pattern '{text[:40]}' is no RE2 expression") from None


def _integer(value: Any) -> int:
    if isinstance(value, str):
        is_number = re.fullmatch(r"-?[0-9]{1,19}", value, re.ASCII)
        return int(value) if is_number else fail(f"'{value[:40]}' is no integer")
    if isinstance(value, dt.datetime):
        return math.floor((value - _EPOCH) / dt.timedelta(seconds=1))
    return int(value)


def _double(value: Any) -> float:
    form = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    is_right = not isinstance(value, str) or re.fullmatch(form, value)
    return float(value) if is_right else fail(f"'{value[:40]}' is no number")


def text_of(value: Any) -> str:
    """Return a value as `string(…)` and a result in JSON write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 10**15 else repr(value)
    if isinstance(value, dt.datetime):
        return _ZEROS.sub("Z", value.isoformat(timespec="microseconds"))
    if isinstance(value, dt.timedelta):
        sign, fraction = "-" if value < dt.timedelta() else "", text_of(_EPOCH + abs(value))[19:-1]
        return f"{sign}{abs(value) // _SECOND}{fraction}s"
    return str(value)


_ZEROS = re.compile(r"((\.000)?000)?\+00:00")
"""What a time in UTC ends with: a fraction of a second has no digits, 3 or 6."""
_SECOND = dt.timedelta(seconds=1)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SPAN = r"(\d+\.?\d*|\.\d+)(h|ms|us|ns|m|s)"
_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1, "ns": 1e-3}


def _timestamp(value: Any) -> dt.datetime:
    try:
        if isinstance(value, int):
            return _EPOCH + dt.timedelta(seconds=value)
        if _TIME.fullmatch(value):
            return dt.datetime.fromisoformat(value).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    return fail(f"'{str(value)[:40]}' is no time (2026-03-02T10:30:00Z)")


def _duration(value: str) -> dt.timedelta:
    if not re.fullmatch(rf"[+-]?({_SPAN})+", value, re.ASCII):
        return fail(f"'{value[:40]}' is no duration (1h30m)")
    micro = math.fsum(float(number) * _UNITS[unit] for number, unit in re.findall(_SPAN, value))
    return dt.timedelta(microseconds=-micro if value.startswith("-") else micro)


def _local(moment: dt.datetime, zone: str) -> dt.datetime:
    from zoneinfo import ZoneInfo

    try:
        return moment.astimezone(ZoneInfo(zone))
    except (OSError, ValueError, KeyError):
        fail(f"'{zone[:40]}' is no time zone (Europe/Berlin)")


def _of_time(part: Callable[[dt.datetime], int], unit: float = 1) -> Callable[..., int]:
    """Return the code of a getter; `unit` is that of a duration's, in seconds."""

    def code(value: Any, zone: str = "") -> int:
        if isinstance(value, dt.timedelta):
            whole = math.trunc(value / dt.timedelta(seconds=unit))
            return whole if unit >= 1 else _remainder(whole, 1000)
        return part(_local(value, zone) if zone else value)

    return code


def next_days(date: str | dt.datetime, count: float) -> list[str]:
    """Return the `count` days after a date, as ISO dates; format.md, "Steps"."""
    if count != int(count) or not 0 <= count <= MAX_DAYS:
        return fail(f"next_days gives 0 to {MAX_DAYS} days, not {count}")
    try:
        first = (dt.datetime.fromisoformat(date) if isinstance(date, str) else date).date()
        return [(first + dt.timedelta(days=n)).isoformat() for n in range(1, int(count) + 1)]
    except ValueError:
        return fail(f"'{str(date)[:40]}' is no date (YYYY-MM-DD)")
    except OverflowError:
        return fail(f"there are no {count} days after {date}")


_SPACES = ("math", "lists")


def _type(text: str) -> Type:
    kind, _, inner = text.partition("<")
    return Type(kind, _type(inner[:-1]) if inner else None)


def _row(text: str, code: Callable[..., Any] | None, says: str, flag: Any = "") -> Function:
    """Build a function from its row: `list<T>.first() optional<T>; …`.

    A method has the type of its value before the dot, `any*` is one or more, and `x` is the name
    that a macro binds.
    """
    names: list[str] = []
    signatures: list[Signature] = []
    for one in text.split("; "):
        call, _, gives = one.rpartition(" ")
        head, _, takes = call.removesuffix(")").partition("(")
        receiver, dot, name = head.rpartition(".")
        is_method = dot and receiver not in _SPACES
        kinds = [receiver] * bool(is_method) + (takes.split(", ") if takes else [])
        types = tuple(_type(kind.rstrip("*")) for kind in kinds if kind != "x")
        signatures.append(Signature(types, _type(gives), repeats=takes.endswith("*")))
        names.append(f".{name}" if is_method else head)
    return Function(text, code, says, tuple(signatures), tuple(dict.fromkeys(names)), flag)


def _rows(text: str, *rows: tuple[str, Callable[..., Any], str]) -> Iterator[Function]:
    """Yield functions that have the same types; `@` in the text is the name."""
    for name, code, says in rows:
        yield _row(text.replace("@", name), code, says)


# ruff: noqa: E501 - a row of the table is a line, however long
# fmt: off
_NUMERIC = "@(integer, integer) integer; @(double, number) double; @(number, double) double; @(number, number) number"
_ORDER = "; ".join(f"@({kind}, {kind}) boolean" for kind in "number string boolean timestamp duration".split())
_OF_TIME = "timestamp.@() integer; timestamp.@(string) integer"
TABLE: Mapping[str, tuple[Function, ...]] = {
    "Operators": (
        _row("||(boolean, boolean*) boolean", None, "True if at least one side is true. An error on one side matters only if no other side is true."),
        _row("&&(boolean, boolean*) boolean", None, "True if all sides are true. An error on one side matters only if no other side is false."),
        _row("!(boolean) boolean", lambda a: not a, "True if the value is false, and false if it is true."),
        _row("? :(boolean, T, T) T", None, "`condition ? a : b` is `a` if the condition is true, and `b` if it is false."),
        _row("==(T, T) boolean", same, "True if both values are equal: 1 equals 1.0. Values of unlike types are an error, except null.", "evaluation"),
        _row("!=(T, T) boolean", lambda e, a, b: not same(e, a, b), "True if the values differ.", "evaluation"),
        *_rows(_ORDER,
            ("<", lambda a, b: a < b, "True if the first value is smaller or earlier. Texts are compared character by character."),
            ("<=", lambda a, b: a <= b, "True if the first value is smaller or equal."),
            (">", lambda a, b: a > b, "True if the first value is greater."),
            (">=", lambda a, b: a >= b, "True if the first value is greater or equal.")),
        _row("in(T, list<T>) boolean; in(string, object) boolean", _contains, "True if the list has the item, or the object has the field.", "evaluation"),
        _row(_NUMERIC.replace("@", "+") + "; +(string, string) string; +(list<T>, list<T>) list<T>; +(timestamp, duration) timestamp; +(duration, timestamp) timestamp; +(duration, duration) duration", _added, "Adds two numbers or durations, or a duration to a time. Joins two texts or lists."),
        _row(_NUMERIC.replace("@", "-") + "; -(timestamp, timestamp) duration; -(timestamp, duration) timestamp; -(duration, duration) duration; -(integer) integer; -(double) double; -(number) number", lambda a, b=None: -a if b is None else a - b, "Subtracts the second value from the first. Before a single number, it changes the sign."),
        _row(_NUMERIC.replace("@", "*"), lambda a, b: a * b, "Multiplies two numbers."),
        _row("/(integer, integer) integer; /(double, number) double; /(number, double) double", _divided, "Divides. If both numbers are integers, the result is an integer, and the remainder is dropped."),
        _row("%(integer, integer) integer", _remainder, "The remainder of a division. It has the sign of the first number."),
        _row("[](list<T>, number) T; [](object<T>, string) T", _item, "`list[0]` is the first item of a list, and `object['name']` is a field of an object.", "constant"),
        _row("has(any) boolean", None, "`has(name)` is true if `name` has a value. `has(a.b)` is true if `a` has the field `b`."),
    ),
    "Any value": (
        _row("string(string) string; string(number) string; string(boolean) string; string(timestamp) string; string(duration) string", text_of, "The value as text."),
        _row("int(number) integer; int(string) integer; int(timestamp) integer", _integer, "The integer that a text states, a number without its fraction, or the seconds between the start of 1970 and a time."),
        _row("double(number) double; double(string) double", _double, "A number, or the number that a text states, as a double."),
        _row("dyn(any) any", lambda a: a, "The same value, whose type `toolmd check` does not check.", "constant"),
    ),
    "Text": (
        _row("string.size() integer; list.size() integer; object.size() integer; size(string) integer; size(list) integer; size(object) integer", len, "The number of characters, items or fields.", "constant"),
        _row("string.contains(string) boolean", lambda a, b: b in a, "True if the text contains the argument."),
        _row("string.startsWith(string) boolean", str.startswith, "True if the text begins with the argument."),
        _row("string.endsWith(string) boolean", str.endswith, "True if the text ends with the argument."),
        _row("string.matches(string) boolean; matches(string, string) boolean", lambda a, b: pattern(b).search(a) is not None, "True if a part of the text matches a regular expression (RE2)."),
        _row("string.lowerAscii() string", lambda a: a.translate(_LOWER), "The text with the letters A to Z in lower case."),
        _row("string.upperAscii() string", lambda a: a.translate(_UPPER), "The text with the letters a to z in upper case."),
        _row("string.trim() string", lambda a: a.strip(), "The text without spaces at both ends."),
        _row("string.split(string) list<string>", _split, "The parts of the text between the occurrences of the argument.", "evaluation"),
        _row("list<string>.join() string; list<string>.join(string) string", _joined, "Joins the texts of a list, and puts the argument between them."),
        _row("string.replace(string, string) string", _replaced, "The text in which the second argument replaces each occurrence of the first."),
        _row("string.substring(integer) string; string.substring(integer, integer) string", _part, "The part of the text from one position up to, but without, a second position. The first position is 0."),
    ),
    "Lists": (
        _row("list<T>.filter(x, boolean) list<T>; object.filter(x, boolean) list<string>", lambda items, body: [item for item in items if true(body(item))], "The items for which the expression is true. The items of an object are the names of its fields."),
        _row("list.map(x, B) list<B>; object.map(x, B) list<B>", lambda items, body: [body(item) for item in items], "A list with the value of the expression for each item."),
        _row("list.all(x, boolean) boolean; object.all(x, boolean) boolean", lambda items, body: not any_of(items, lambda item: not true(body(item))), "True if the expression is true for every item, or if there are no items."),
        _row("list.exists(x, boolean) boolean; object.exists(x, boolean) boolean", any_of, "True if the expression is true for at least one item."),
        _row("list.exists_one(x, boolean) boolean; object.exists_one(x, boolean) boolean", lambda items, body: sum([true(body(item)) for item in items]) == 1, "True if the expression is true for exactly one item."),
        _row("list<T>.sortBy(x, any) list<T>", lambda e, items, body: _ordered(e, items, [body(item) for item in items]), "The items, sorted by the value of the expression for each item.", "evaluation"),
        _row("list<T>.first() optional<T>", lambda a: Maybe(a[0]) if a else NONE, "The first item, if there is one.", "constant"),
        _row("list<T>.last() optional<T>", lambda a: Maybe(a[-1]) if a else NONE, "The last item, if there is one.", "constant"),
        _row("list<T>.slice(integer, integer) list<T>", _part, "The items from one position up to, but without, a second position. The first position is 0."),
        _row("list<T>.distinct() list<T>", _distinct, "The items without repetitions.", "evaluation"),
        _row("list<list<T>>.flatten() list<T>; list.flatten() list<any>", lambda a: list(chain.from_iterable(one if isinstance(one, list) else [one] for one in a)), "One list with the items of all inner lists."),
        _row("list<integer>.sum() integer; list<double>.sum() double; list<number>.sum() number", lambda a: sum(a) if {*map(type, a)} <= {int, float} else fail("'sum' takes a list of numbers"), "The sum of the numbers. The sum of an empty list is 0."),
        _row("lists.range(integer) list<integer>", lambda a: list(range(a)) if a <= MAX_RANGE else fail(f"lists.range gives at most {MAX_RANGE} numbers, not {a}"), f"The integers that begin with 0. The argument is their number, at most {MAX_RANGE}."),
    ),
    "Numbers": (
        *_rows("math.@(integer*) integer; math.@(double*) double; math.@(number*) number",
            ("greatest", lambda *a: max(a), "The greatest of the numbers."),
            ("least", lambda *a: min(a), "The least of the numbers.")),
        *_rows("math.@(integer) integer; math.@(double) double; math.@(number) number",
            ("abs", abs, "The number without its sign.")),
        *_rows("math.@(number) double",
            ("ceil", lambda a: float(math.ceil(a)), "Rounds the number up."),
            ("floor", lambda a: float(math.floor(a)), "Rounds the number down."),
            ("round", lambda a: math.trunc(a) + float(math.trunc(2 * math.fmod(a, 1))), "Rounds the number. A half is rounded away from 0."),
            ("sqrt", lambda a: math.sqrt(a) if a >= 0 else fail("no root of a negative number"), "The square root.")),
    ),
    "Times": (
        _row("timestamp(string) timestamp; timestamp(integer) timestamp", _timestamp, "The time that a text such as `2026-03-02T10:30:00Z` states. An integer is the number of seconds since the start of 1970 (UTC)."),
        _row("duration(string) duration", _duration, "The duration that a text such as `1h30m`, `90s` or `500ms` states."),
        *_rows(_OF_TIME,
            ("getFullYear", _of_time(lambda t: t.year), "The year, in UTC or in the time zone that the argument names."),
            ("getMonth", _of_time(lambda t: t.month - 1), "The month. January is 0."),
            ("getDate", _of_time(lambda t: t.day), "The day of the month. The first day is 1."),
            ("getDayOfMonth", _of_time(lambda t: t.day - 1), "The day of the month. The first day is 0."),
            ("getDayOfWeek", _of_time(lambda t: t.isoweekday() % 7), "The day of the week. Sunday is 0."),
            ("getDayOfYear", _of_time(lambda t: t.timetuple().tm_yday - 1), "The day of the year. The first day is 0.")),
        *_rows(f"{_OF_TIME}; duration.@() integer",
            ("getHours", _of_time(lambda t: t.hour, 3600), "The hour of a time, or all hours of a duration."),
            ("getMinutes", _of_time(lambda t: t.minute, 60), "The minute of a time, or all minutes of a duration."),
            ("getSeconds", _of_time(lambda t: t.second), "The second of a time, or all seconds of a duration."),
            ("getMilliseconds", _of_time(lambda t: t.microsecond // 1000, 0.001), "The milliseconds after the last full second.")),
        _row("now() timestamp", lambda e: e.now or fail("now() has no clock here"), "The time of the check or of the step. You may also write `now`.", "evaluation"),
        _row("next_days(string, number) list<string>; next_days(timestamp, number) list<string>", next_days, f"The dates of the days that follow a date. The second argument is their number, at most {MAX_DAYS}."),
    ),
    "Optional values": (
        _row("optional<T>.orValue(T) T", None, "The value, or the argument if there is no value."),
        _row("optional<T>.or(optional<T>) optional<T>", None, "The optional value, or the argument if there is no value."),
    ),
}
"""The language, by subject."""
# fmt: on
FUNCTIONS: Mapping[str, Function] = {
    name: row for rows in TABLE.values() for row in rows for name in row.names
}
"""Each function, operator and macro by its key: `size`, `.size`, `math.abs`, `==`."""
