"""Random expressions have the value that CEL's own implementation gives, or a known difference."""

import datetime as dt
import re
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import pytest
from random_expressions import NAMES, SIGNATURES, RandomExpressions

from toolmd._expressions import EvaluationError, ExpressionError, compile_expression
from toolmd._expressions.functions import text_of

cel = pytest.importorskip(
    "cel_expr_python.cel", reason="cel-expr-python is not installed: it has no wheel here"
)
EACH = 1000
"""The expressions of one case."""
QUICK = 4
"""The cases that `make quick` runs."""
CASES = [
    pytest.param(seed, marks=[pytest.mark.slow] if seed >= QUICK else []) for seed in range(20)
]
NOW = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)


class Difference(NamedTuple):
    """A difference from CEL that is on purpose, or that does not matter."""

    reason: str
    only: str
    """Which of the two has a value: `ours`, `CEL` or `both`."""
    error: str
    """A pattern of the error of the other one."""
    source: str = ""
    """A pattern of the expression."""


_MIXED = r"(int|double)(64)?, (int|double)(64)?"
DIFFERENCES = (
    Difference(
        "CEL has no such function", "ours", r"undeclared reference to '(sum|next_days|now)'"
    ),
    Difference("CEL has no names in has()", "ours", r"has\(\) argument must be a field"),
    Difference(
        "whole and other numbers mix", "ours", rf"_(\+|-|\*|/|<=?|>=?|==|!=)_'? .*\({_MIXED}"
    ),
    Difference("whole and other numbers mix", "ours", rf"_(\+|-|\*|/)_\({_MIXED}\)"),
    Difference("whole and other numbers mix", "ours", rf"'_\?_:_' .*\(bool, {_MIXED}"),
    Difference("whole numbers are rounded, too", "ours", r"math\.(ceil|floor|round)\b.*\(int"),
    Difference("a list of mixed numbers is sorted", "ours", "must have the same type"),
    Difference("a whole double is an index", "ours", r"'_\[_\]' applied to '\(list.*, double\)"),
    Difference("CEL's range of a negative number fails by chance", "ours", "vector::reserve"),
    Difference("unlike types are not compared", "CEL", "'[!=]=' does not take"),
    Difference("no number is infinite", "CEL", "divide by zero|number is too large|no root"),
    Difference("only text is looked for in an object", "CEL", "'in' does not take"),
    Difference("lists.range is bounded", "CEL", "lists.range gives at most"),
    Difference("a pattern is checked before it is needed", "CEL", "is no RE2 expression"),
    Difference("the parts of ? : have one type", "CEL", r"'\? :' does not take"),
    Difference("or takes optional values only", "CEL", "'or' takes optional values"),
    Difference("a boolean is no integer", "CEL", "'int' does not take boolean"),
    Difference("the rest of a division never overflows", "ours", "integer overflow", "%"),
    Difference(
        "CEL checks the types of what does not run",
        "ours",
        "^INVALID_ARG.*(overload|range)",
        r"or(Value)?\(|&&|\|\||\?|\[\]|sortBy|filter|map|all|exists",
    ),
    Difference("the names of an object have an order", "both", "", r"\.(map|filter)\("),
    Difference("all digits of a double are written", "both", "", r"string\("),
)


@cache
def environment() -> Any:
    """Return CEL's environment with the same names; each of them has any type."""
    extensions = "".join(f"- name: {name}\n" for name in ("lists", "strings", "math", "optional"))
    config = cel.NewEnvConfigFromYaml(f"name: test\nextensions:\n{extensions}")
    return cel.NewEnv(config=config, variables=dict.fromkeys(NAMES, cel.Type.DYN), functions=[])


def value_of(found: Any) -> Any:
    """Return a value of CEL as JSON; raises RuntimeError for one that is an error."""
    match found.type().name().partition("<")[0]:
        case "LIST":
            return [value_of(one) for one in found.value()]
        case "MAP":
            return {key: value_of(one) for key, one in found.value().items()}
        case "TIMESTAMP" | "DURATION":
            return text_of(found.value())
        case "STRING" | "BOOL" | "INT" | "DOUBLE" | "NULL":
            return found.value()
        case kind:
            raise RuntimeError(f"{kind}: {found.value()}")


def of_cel(source: str, values: dict[str, Any]) -> tuple[Any, str]:
    try:
        compiled = environment().compile(f"({source})")
        if compiled.return_type().name().startswith("optional"):
            compiled = environment().compile(f"({source}).orValue(dyn(null))")
        return value_of(compiled.eval(data=values)), ""
    except (RuntimeError, ValueError, SystemError, MemoryError) as error:
        return None, str(error) or "an error"


def of_ours(source: str, values: dict[str, Any]) -> tuple[Any, str]:
    try:
        return compile_expression(source).evaluate(values, now=NOW), ""
    except (ExpressionError, EvaluationError) as error:
        return None, str(error)


def kind_of_difference(source: str, values: dict[str, Any]) -> str:
    """Return the reason of a difference, or that there is none; empty for an unknown one."""
    (ours, our_error), (theirs, their_error) = of_ours(source, values), of_cel(source, values)
    if our_error and their_error:
        return "both have an error"
    if not our_error and not their_error and ours == theirs:
        return "both have the value"
    only = "CEL" if our_error else "ours" if their_error else "both"
    fitting = (
        d.reason
        for d in DIFFERENCES
        if d.only == only
        and re.search(d.error, our_error or their_error)
        and re.search(d.source, source)
    )
    return next(fitting, "")


@pytest.mark.parametrize("seed", CASES)
def test_random_expressions_have_the_value_that_cel_gives(seed: int) -> None:
    source = RandomExpressions(seed)
    found: Counter[str] = Counter()
    for _ in range(EACH):
        expression, values = source.expression(), source.values()
        kind = kind_of_difference(expression, values)
        if not kind:
            pytest.fail(
                f"{expression}\nwith {values}\nours: {of_ours(expression, values)}\n"
                f"CEL: {of_cel(expression, values)}"
            )
        found[kind] += 1
    assert found["both have the value"] > EACH * 0.4, found
    assert source.used >= {row.names[0] for row, _ in SIGNATURES} - {"lists.range"}
