"""Reduce the values of a tool that no definition can contain, and state what was left out."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from toolmd._import.differences import differences
from toolmd._import.finish import finished_tool
from toolmd._types.diagnostic import Severity
from toolmd._types.schema import KEYWORDS, Parameter, Schema, object_schema
from toolmd._types.tool import ToolSpec

_VALUES = ("default", "example")
_KEPT = frozenset(("sensitive", "verbatim", "sent_in", "unit", "discriminator", "example"))
"""Keywords that any value may have; without them a draft would reveal or send something else."""
_BOUNDS = ("enum", *(name for name in KEYWORDS if name not in _KEPT))
_STEPS = (
    _VALUES,
    ("format",),
    ("pattern",),
    (*_VALUES, "format", "pattern"),
    (*_VALUES, *_BOUNDS),
)
"""What is left out of a value, by increasing loss; the first step that helps is taken."""


def fitting(spec: ToolSpec) -> tuple[ToolSpec, list[str]]:
    """Return the tool with only values that a definition can contain.

    Args:
        spec: The tool as an importer read it.

    Returns:
        The tool, and for each value that was reduced a sentence with the reason. The sentences
        restrict: the caller writes them so that the draft fails `check` until somebody decides.
    """
    lost: list[str] = []
    returns = spec.returns
    if faults := _faults(spec, returns, ()):
        fits = (one for one in _reduced(returns) if not _faults(spec, one, ()))
        returns = next(fits, Schema())
        told = differences(spec.returns.json_schema, returns.json_schema, "result")
        lost.append(_sentence("its result", faults, told))
    parameters: list[Parameter] = []
    for parameter in spec.parameters:
        kept = parameter
        if faults := _faults(spec, returns, (parameter,)):
            reduced = (replace(parameter, shape=shape) for shape in _reduced(parameter.shape))
            fitting_ones = (one for one in reduced if not _faults(spec, returns, (one,)))
            kept = next(fitting_ones, replace(parameter, shape=Schema()))
            told = differences(object_schema((parameter,)), object_schema((kept,)))
            lost.append(_sentence(parameter.name, faults, told))
        parameters.append(kept)
    update = {"returns": returns, "parameters": tuple(parameters)}
    return spec.model_copy(update=update), lost


def _sentence(what: str, faults: list[str], told: Iterator[tuple[str, str]]) -> str:
    reasons = [*faults, *(f"{at} {change}" for at, change in told)]
    return f"{what} has less here than in its source: {'; '.join(reasons)}"


def _faults(spec: ToolSpec, returns: Schema, parameters: tuple[Parameter, ...]) -> list[str]:
    """Return the errors of a draft with this result and these parameters only."""
    alone = {"parameters": parameters, "rules": (), "examples": (), "implemented_by": ""}
    draft, _, found = finished_tool(spec.model_copy(update={**alone, "returns": returns}))
    return [] if draft else [d.message for d in found if d.severity is Severity.ERROR]


def _reduced(shape: Schema) -> Iterator[Schema]:
    yield from (_without(shape, names) for names in _STEPS)
    kept = Schema(types=shape.types, description=shape.description)
    yield replace(kept, sensitive=shape.sensitive)


def _without(shape: Schema, names: Collection[str]) -> Schema:
    """Return a schema without these attributes, at any depth."""
    plain = Schema()
    update: dict[str, Any] = {name: getattr(plain, name) for name in names}
    update |= {f"has_{name}": False for name in names if name in _VALUES}
    for name in ("items", "values"):
        if (inner := getattr(shape, name)) is not None:
            update[name] = _without(inner, names)
    for name in ("properties", "one_of"):
        if (fields := getattr(shape, name)) is not None:
            update[name] = tuple(replace(p, shape=_without(p.shape, names)) for p in fields)
    return replace(shape, **update)
