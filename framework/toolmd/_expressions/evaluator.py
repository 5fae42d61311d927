"""Compile a tree to closures once, and evaluate it on JSON values within bounds."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolmd._expressions.functions import (
    FUNCTIONS,
    NONE,
    AbsentError,
    Evaluation,
    EvaluationError,
    ExhaustedError,
    Function,
    Maybe,
    Type,
    any_of,
    fail,
    kind_of,
    text_of,
    true,
)
from toolmd._expressions.syntax import Node

MAX_DEPTH, MAX_NODES = 64, 100_000
"""How deep a value may nest, and how many values may be in it."""
_LIMIT = 2**63
"""The integers from -_LIMIT to below it are exact."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON: Mapping[type, Callable[[Any], object]] = {
    str: lambda v: not _SURROGATE.search(v), int: lambda v: -_LIMIT <= v < _LIMIT,
    float: math.isfinite, bool: lambda _: True, type(None): lambda _: True,
}  # fmt: skip
"""The types of JSON, each with the test of a value that expressions can hold."""
Run = Callable[[Evaluation], Any]
"""A node that can be evaluated."""


class Program:
    """A compiled expression; reusable, and safe to share."""

    def __init__(
        self,
        source: str,
        tree: Node,
        reads: Mapping[str, str],
        tested: set[str],
        reads_clock: bool,  # noqa: FBT001 - one caller
        facts: Iterable[str],
    ) -> None:
        """Compile a tree; `reads` are the names in it with those that they stand for."""
        self.source = source
        self.reads_clock = reads_clock
        """Whether the expression reads `now`."""
        self.facts = frozenset(facts)
        """The fields of `caller` that the expression reads."""
        self.names = frozenset(reads.values())
        """The variables that the expression names, those within `has()` among them."""
        self.unguarded = frozenset(given for name, given in reads.items() if name not in tested)
        """The names that are read and never tested by `has()`."""
        self._reads = tuple(reads.items())
        # Such as `a.b.c`: a value that only passes through needs no check.
        self._is_path = bool(reads) and re.fullmatch(r"[\w.]+", source) is not None
        self._run = _compiled(tree)

    def evaluate(self, values: Mapping[str, Any], *, now: dt.datetime | None = None) -> Any:
        """Return the JSON value for these inputs; an optional without a value is None.

        A name that `values` lacks has no value: `has(name)` is false. `now` is the value of
        `now` and `now()`. Raises EvaluationError.
        """
        names = {name: values[given] for name, given in self._reads if given in values}
        if self._is_path:
            return self._run(Evaluation(names, now))
        for name, value in names.items():
            _check(value, name)
        if now is not None:
            names.setdefault("now", now)
        try:
            result = self._run(Evaluation(names, now))
            return _plain(result.value if isinstance(result, Maybe) else result)
        except (RecursionError, MemoryError, OverflowError):
            raise EvaluationError("the result is too large, or nested too deeply") from None


def _compiled(node: Node) -> Run:  # noqa: PLR0911 - a return for each kind
    """Return the closure that evaluates a node."""
    parts = [_compiled(part) for part in node.parts] if node.kind != "has" else []
    match node.kind:
        case "value":
            value = node.value
            return lambda _: value
        case "name":
            name = node.name
            return lambda e: e.names[name] if name in e.names else fail(f"'{name}' has no value")
        case "has" if node.parts[0].kind == "name":
            tested = node.parts[0].name
            return lambda e: tested in e.names
        case "has":
            inner = node.parts[0]
            field = _field(_compiled(inner.parts[0]), inner.name, optional=True)
            return lambda e: field(e).given
        case "field":
            return _field(parts[0], node.name, optional=node.optional)
        case "list":
            return lambda e: e.count_bytes([part(e) for part in parts])
        case "object":
            pairs = list(zip(parts[::2], parts[1::2], strict=True))
            return lambda e: e.count_bytes({_key(key(e)): item(e) for key, item in pairs})
        case "macro":
            return _macro(node, *parts)
    if node.name == "? :":
        test, yes, no = parts
        return lambda e: yes(e) if true(test(e)) else no(e)
    if node.name == "||":
        return lambda e: any_of(parts, lambda part: part(e))
    if node.name == "&&":
        return lambda e: not any_of(parts, lambda part: not true(part(e)))
    if node.name in (".or", ".orValue"):
        return _or(*parts, unwraps=node.name == ".orValue")
    return _call(FUNCTIONS[node.name], parts)


def _field(over: Run, name: str, *, optional: bool) -> Run:
    """Return a field's closure: of an optional value, the field is optional, too."""

    def run(evaluation: Evaluation) -> Any:
        value = over(evaluation)
        is_optional = optional
        if isinstance(value, Maybe):
            if not value.given:
                return NONE
            value, is_optional = value.value, True
        if not isinstance(value, dict):
            return fail(f"there is no field '{name}': {kind_of(value).shown} has no fields")
        if name not in value:
            if is_optional:
                return NONE
            raise AbsentError(f"there is no field '{name}'")
        return Maybe(value[name]) if is_optional else value[name]

    return run


def _key(value: Any) -> str:
    return value if isinstance(value, str) else fail("a key of an object must be text")


def _or(one: Run, other: Run, *, unwraps: bool) -> Run:
    def run(evaluation: Evaluation) -> Any:
        value = one(evaluation)
        if not isinstance(value, Maybe):
            fail(f"'or' takes an optional value, not {kind_of(value).shown}")
        if value.given:
            return value.value if unwraps else value
        found = other(evaluation)
        return found if unwraps or isinstance(found, Maybe) else fail("'or' takes optional values")

    return run


def _macro(node: Node, over: Run, body: Run) -> Run:
    function, name, size = FUNCTIONS[node.name], str(node.value), node.parts[1].size + 4
    code = function.code
    assert code is not None
    of_objects = function.follows(Type("object"))

    def run(evaluation: Evaluation) -> Any:
        value, names = over(evaluation), evaluation.names
        if not isinstance(value, list) and not (of_objects and isinstance(value, dict)):
            return fail(f"{kind_of(value).shown} is no list to go through")
        outer = {name: names[name]} if name in names else {}

        def each(item: Any) -> Any:
            evaluation.step(size)
            names[name] = item
            return body(evaluation)

        try:
            leading = (evaluation,) if function.flag == "evaluation" else ()
            found = code(*leading, list(value), each)
        finally:
            names.pop(name, None)
            names.update(outer)
        return evaluation.count_bytes(found) if isinstance(found, list) else found

    return run


def _call(function: Function, parts: list[Run]) -> Run:
    code, admitted = function.code, function.admitted
    needs_evaluation = function.flag == "evaluation"
    assert code is not None

    def run(evaluation: Evaluation) -> Any:
        values = [part(evaluation) for part in parts]
        counts = admitted.get(tuple(map(type, values)))
        if counts is None:
            counts = function.admit(values)
        if counts:
            for value in values:
                if isinstance(value, str):
                    evaluation.spend(len(value))
                elif isinstance(value, list):
                    evaluation.spend(32 * len(value))
        try:
            found = code(evaluation, *values) if needs_evaluation else code(*values)
        except ZeroDivisionError:
            return fail("divide by zero")
        except (ValueError, OverflowError):
            return fail(f"'{function.names[0].lstrip('.')}' gives no value that is small enough")
        kind = type(found)
        if kind is int or kind is float:
            is_right = -_LIMIT <= found < _LIMIT if kind is int else math.isfinite(found)
            return found if is_right else fail("a number is too large")
        return evaluation.count_bytes(found) if kind is str or kind is list else found

    return run


def _check(value: Any, name: str) -> None:
    """Raise EvaluationError for an input that is no JSON, too large or too deep."""
    level, count = [value], 0
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                below += [*item, *item.values()]
            elif isinstance(item, list):
                below += item
            elif not _JSON.get(type(item), lambda _: False)(item):
                fail(f"'{name}' has a value that is no JSON, or a number of more than 64 bits")
        count += len(below)
        if count > MAX_NODES:
            fail(f"'{name}' is too large for an expression (over {MAX_NODES} values)")
        level = below
        if not level:
            return
    fail(f"'{name}' is nested deeper than {MAX_DEPTH} levels")


def _plain(value: Any) -> Any:
    """Return a result as JSON; a value that stands twice in it counts twice."""
    left = MAX_NODES

    def plain(value: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise ExhaustedError(f"the result is too large (over {MAX_NODES} values)")
        match value:
            case str() | int() | float() | None:
                return value
            case list():
                return [plain(item) for item in value]
            case dict():
                return {key: plain(item) for key, item in value.items()}
            case Maybe():
                return fail("the result contains an optional value: unwrap it by `.orValue(…)`")
        return text_of(value)

    return plain(value)
