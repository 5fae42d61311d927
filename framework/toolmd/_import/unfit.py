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
    if faults := _faults(spec, ()):
        returns = Schema(types=returns.types, description=returns.description)
        lost.append(_sentence("its result", faults))
    bare = spec.model_copy(update={"returns": returns})
    parameters: list[Parameter] = []
    for parameter in spec.parameters:
        if faults := _faults(bare, (parameter,)):
            reduced = (one for one in _reduced(parameter) if not _faults(bare, (one,)))
            left = next(reduced, replace(parameter, shape=Schema()))
            told = differences(object_schema((parameter,)), object_schema((left,)))
            lost.append(
                _sentence(parameter.name, [*faults, *(f"{at} {what}" for at, what in told)])
            )
            parameters.append(left)
        else:
            parameters.append(parameter)
    return bare.model_copy(update={"parameters": tuple(parameters)}), lost


def _sentence(what: str, faults: Collection[str]) -> str:
    return f"{what} has less here than in its source: {'; '.join(faults)}"


def _faults(spec: ToolSpec, parameters: tuple[Parameter, ...]) -> list[str]:
    """Return the errors of a draft with these parameters only."""
    alone = {"parameters": parameters, "rules": (), "examples": (), "implemented_by": ""}
    draft, _, found = finished_tool(spec.model_copy(update=alone))
    return [] if draft else [d.message for d in found if d.severity is Severity.ERROR]


def _reduced(parameter: Parameter) -> Iterator[Parameter]:
    for names in _STEPS:
        yield replace(parameter, shape=_without(parameter.shape, names))
    kept = Schema(types=parameter.shape.types, description=parameter.shape.description)
    yield replace(parameter, shape=replace(kept, sensitive=parameter.shape.sensitive))


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
