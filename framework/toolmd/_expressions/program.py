"""Compile an expression once, and evaluate it on JSON values."""

import datetime as dt
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any

from toolmd._expressions.environment import CLOCK, environment
from toolmd._expressions.error import EvaluationError, ExpressionError
from toolmd._expressions.growth import MOST, ONE_VALUE, GrowthBound, Size, growth_of, is_usual
from toolmd._expressions.messages import compile_error, evaluation_error, undeclared
from toolmd._expressions.number_forms import UNSORTED, as_doubles, as_whole
from toolmd._expressions.plain import NUMBERS, Optional_, measured, plain
from toolmd._expressions.rewrite import CLASHING, GIVEN, Rewritten, rewrite

_ABSENT = object()


class Program:
    """A compiled expression; reusable, and safe to share."""

    __slots__ = (
        "_compiled",
        "_growth",
        "_path",
        "_reads",
        "_tests",
        "_unwrapping",
        "names",
        "source",
        "unguarded",
    )

    def __init__(
        self, rewritten: Rewritten, compiled: Any, reads: frozenset[str], growth: GrowthBound
    ) -> None:
        aliases = rewritten.aliases
        self.source = rewritten.source
        self.names = frozenset(aliases.get(n, n) for n in reads) | set(rewritten.tested.values())
        """The variables that the expression names, those within `has()` among them."""
        self.unguarded = frozenset(aliases.get(n, n) for n in reads) - set(
            rewritten.tested.values()
        )
        """The names that are read and never tested by `has()`: without a value of one of them
        the expression may give none."""
        self._compiled = compiled
        self._growth = growth
        self._reads = tuple((n, aliases.get(n, n)) for n in sorted(reads))
        self._tests = tuple(rewritten.tested.items())
        self._path = rewritten.path
        self._unwrapping: Any = rewritten

    def evaluate(self, values: Mapping[str, Any], *, now: dt.datetime | None = None) -> Any:
        """Return the JSON value for these inputs; an optional without a value is None.

        A name that `values` lacks has no value: `has(name)` is false. `now` is the value of
        `now()`. Raises EvaluationError.
        """
        if self._path:
            return self._walk(values)
        data: dict[str, Any] = {}
        sizes: dict[str, Size] = {}
        is_tame = self._growth.is_tame
        for name, given in self._reads:
            value = values.get(given, _ABSENT)
            if value is _ABSENT:
                continue
            data[name] = value
            if type(value) not in NUMBERS:
                sizes[name] = size = measured(value, given)
                is_tame = is_tame and is_usual(size)
        if not is_tame:
            self._hold(sizes)
        if self._tests:
            data[GIVEN] = {name: True for name, given in self._tests if given in values}
        try:
            return self._result(data, now)
        except EvaluationError as error:
            if UNSORTED not in str(error):
                raise
            return self._sorted(data, now)

    def _result(self, data: dict[str, Any], now: dt.datetime | None) -> Any:
        try:
            return self._run(self._compiled, data, now)
        except Optional_:
            return self._run_unwrapped(data, now)

    def _sorted(self, data: dict[str, Any], now: dt.datetime | None) -> Any:
        """Evaluate again with numbers of one form: CEL sorts no list with both.

        Raises EvaluationError where the list has other values than numbers, too.
        """
        try:
            return as_whole(self._result(as_doubles(data), now))
        except (ValueError, EvaluationError):
            message = "a list is sorted by values of several types"
            raise EvaluationError(message) from None

    def _hold(self, sizes: Mapping[str, Size]) -> None:
        """Raise EvaluationError if values of these sizes may take more than MOST bytes."""
        if self._growth.is_over(sizes, ONE_VALUE):
            message = f"it may take over {MOST >> 20} MiB on these values"
            raise EvaluationError(message)

    def _walk(self, values: Mapping[str, Any]) -> Any:
        root, *fields = self._path
        value = values.get(root, _ABSENT)
        if value is _ABSENT:
            message = f"'{root}' has no value"
            raise EvaluationError(message)
        for field in fields:
            if not isinstance(value, dict):
                message = f"'{self.source}': there is no field '{field}', it is no object"
                raise EvaluationError(message)
            if field not in value:
                message = f"there is no field '{field}'"
                raise EvaluationError(message)
            value = value[field]
        return value

    def _run(self, compiled: Any, data: dict[str, Any], now: dt.datetime | None) -> Any:
        token = CLOCK.set(now) if now is not None else None
        try:
            return plain(compiled.eval(data=data))
        except (RuntimeError, MemoryError, ValueError, UnicodeError, SystemError) as error:
            raise evaluation_error(str(error)) from None
        except RecursionError:
            message = "the result is nested too deeply"
            raise EvaluationError(message) from None
        finally:
            if token is not None:
                CLOCK.reset(token)

    def _run_unwrapped(self, data: dict[str, Any], now: dt.datetime | None) -> Any:
        """Evaluate again with the optional unwrapped: the binding can't convert one."""
        if isinstance(self._unwrapping, Rewritten):
            self._unwrapping = _unwrapping(self._unwrapping, [name for name, _ in self._reads])
        try:
            return self._run(self._unwrapping, data, now)
        except Optional_:
            message = "the result contains an optional value: unwrap it by orValue(…) or [?…]"
            raise EvaluationError(message) from None


def _unwrapping(rewritten: Rewritten, reads: Iterable[str]) -> Any:
    text = f"cel.bind(__v, dyn({rewritten.text}\n), type(__v) == optional_type"
    try:
        return _compiled(f"{text} ? __v.orValue(null) : __v)", rewritten, reads, functions=True)
    except (RuntimeError, ValueError) as error:
        raise evaluation_error(str(error)) from None


def compile_expression(
    source: str, names: Iterable[str] = (), *, functions: bool = False
) -> Program:
    """Compile without types; cached.

    `names` are variables known to be there, needed only where one is called as a word of CEL
    (`type`, `package`) or is not an identifier (`child-name`, written child_name).
    With `functions`, `now()` and `next_days()` are available: only skills use them, a rule has
    no clock. Raises ExpressionError.
    """
    odd = frozenset(name for name in names if name in CLASHING or not name.isidentifier())
    return _program(source, odd, functions=functions)


@lru_cache(maxsize=2048)
def _program(source: str, names: frozenset[str], *, functions: bool) -> Program:
    rewritten = rewrite(source, names)

    def compiles(proposed: str) -> bool:
        try:
            _compile(rewrite(proposed, names), functions=functions)
        except (ExpressionError, RuntimeError, ValueError, MemoryError, SystemError):
            return False
        return True

    try:
        compiled, reads = _compile(rewritten, functions=functions)
        growth = growth_of(compiled)
    except (RuntimeError, ValueError, MemoryError, SystemError) as error:
        raise compile_error(str(error), rewritten, names, compiles) from None
    return Program(rewritten, compiled, reads, growth)


def _compile(rewritten: Rewritten, *, functions: bool) -> tuple[Any, frozenset[str]]:
    """Compile without names to find the ones in use, then with them."""
    reads: frozenset[str] = frozenset()
    try:
        return _compiled(rewritten.text, rewritten, reads, functions=functions), reads
    except RuntimeError as error:
        reads = frozenset(undeclared(str(error)) & _candidates(rewritten))
        if not reads:
            raise
    return _compiled(rewritten.text, rewritten, reads, functions=functions), reads


def _candidates(rewritten: Rewritten) -> set[str]:
    renamed = {given: name for name, given in rewritten.aliases.items()}
    return {renamed.get(n, n) for n in rewritten.variables}


def _compiled(text: str, rewritten: Rewritten, reads: Iterable[str], *, functions: bool) -> Any:
    from cel_expr_python import cel

    variables = dict.fromkeys(reads, cel.Type.DYN)
    if rewritten.tested:
        variables[GIVEN] = cel.Type.Map(cel.Type.STRING, cel.Type.BOOL)
    made = environment(variables, functions=functions) if variables else _bare(functions=functions)
    compiled = made.compile(text)
    if compiled.return_type().name().startswith("optional_type"):
        return made.compile(f"({text}\n).orValue(dyn(null))")
    return compiled


@cache
def _bare(*, functions: bool) -> Any:
    """Return the environment without names; the first compilation in a new one takes 0.7 ms."""
    return environment({}, functions=functions)


__all__ = ["ExpressionError", "Program", "compile_expression"]
