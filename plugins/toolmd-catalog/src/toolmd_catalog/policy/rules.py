"""Conditions between arguments, said in words, as expressions."""

import re
from typing import NamedTuple

from toolmd import Parameter
from toolmd_catalog.policy.demands import Condition


class Rule(NamedTuple):
    """A condition over the arguments, and what to say when it does not hold."""

    expression: str
    message: str


_WORD_SIGNS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "!=": "other than"}


def compared(one: Parameter | None, other: Parameter | None, sign: str) -> Rule | None:
    """Return the rule of a comparison between two numbers, or two dates."""
    if one is None or other is None:
        return None
    numeric = all(set(p.shape.types) <= {"integer", "number"} for p in (one, other))
    dates = all(p.shape.format == "date" for p in (one, other))
    if not (numeric or dates):
        return None
    names = [p.name.replace("-", "_") for p in (one, other)]
    guards = [
        f"!has({name}) || "
        for p, name in zip((one, other), names, strict=True)
        if not p.required and not p.shape.has_default
    ]
    words = one.name.replace("_", " ")
    message = (
        f"{words[0].upper()}{words[1:]} must be {_WORD_SIGNS[sign]} {other.name.replace('_', ' ')}."
    )
    return Rule(expression=f"{''.join(guards)}{names[0]} {sign} {names[1]}", message=message)


def choice(sides: list[list[str]], how: str) -> Rule:
    """Return the rule that one of several sets of parameters is given."""
    terms = [" && ".join(f"has({name.replace('-', '_')})" for name in side) for side in sides]
    terms = [f"({term})" if "&&" in term else term for term in terms]
    words = " or ".join(" and ".join(side) for side in sides)
    if how == "at least one":
        return Rule(expression=" || ".join(terms), message=f"Give {words}.")
    if len(terms) == 2:  # noqa: PLR2004 - then a comparison says it
        return Rule(expression=" != ".join(terms), message=f"Give {words}.")
    return Rule(
        expression=f"[{', '.join(terms)}].exists_one(s, s)", message=f"Give exactly one of {words}."
    )


def condition_of(condition: Condition, parameters: tuple[Parameter, ...]) -> str | None:
    """Return the expression of `batch > 800 abstracts`; an unknown size counts as over."""
    words = set(re.findall(r"[a-z]+", condition.words.lower()))
    numeric = [
        p for p in parameters if set(p.shape.types) <= {"integer", "number"} and p.shape.types
    ]
    for p in numeric:
        if words & {*p.name.lower().split("_")}:
            guard = "" if p.required or p.shape.has_default else f"has({p.name}) && "
            return f"{guard}{p.name} {condition.sign} {condition.than}"
    arrays = [p for p in parameters if p.shape.types == ("array",)]
    named = [p for p in arrays if words & {*p.name.lower().split("_"), p.name.rstrip("s")}]
    chosen = named or (arrays if len(arrays) == 1 else [])
    if not chosen:
        return None
    p = chosen[0]
    guard = "" if p.required else f"!has({p.name}) || "
    return f"{guard}size({p.name}) {condition.sign} {condition.than}"
