"""Convert a tool or skill to the function form of all model APIs, without a target's rules."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolmd._export.exported import Lose, Loss
from toolmd._export.names import NameRule, fit
from toolmd._export.plain import plain
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import are_apart

CONFIDENCE = "_confidence"
"""The argument for the model's confidence; Toolmd removes it."""
SURE = 0.95
"""The confidence in examples: enough for any sensible threshold, but less than certain."""

AsksConfidence = Callable[[ToolSpec | SkillSpec], bool]
"""Returns whether calls of a tool, or calls by a skill's steps, must state a confidence."""


def declares_confidence(spec: ToolSpec | SkillSpec) -> bool:
    """Return whether the file sets a threshold; thresholds of a skill's tools do not count."""
    return isinstance(spec, ToolSpec) and spec.safety.min_confidence is not None


@dataclass(frozen=True, slots=True)
class Function:
    """A tool or skill as a model sees it."""

    name: str
    """Adapted to the target."""
    description: str
    parameters: dict[str, Any]
    """JSON Schema 2020-12, an object at the root."""
    spec: ToolSpec | SkillSpec


def functions(
    specs: Sequence[ToolSpec | SkillSpec],
    rule: NameRule,
    losses: list[Loss],
    asks_confidence: AsksConfidence,
) -> list[Function]:
    """Return the functions of a target; if two have the same name, the first one stays."""
    made: dict[str, Function] = {}
    for spec in specs:
        name = fit(spec.name, rule)
        if name in made:
            kind = "skill" if isinstance(spec, SkillSpec) else "tool"
            losses.append(Loss(spec.name, "", f"the {kind} is left out: its name is taken"))
            continue
        if name != spec.name:
            losses.append(Loss(spec.name, "", f"the name, written {name}"))
        parameters = plain(spec.input_schema, loser(losses, spec.name))
        if asks_confidence(spec):
            least = spec.safety.min_confidence if isinstance(spec, ToolSpec) else None
            parameters = with_confidence(parameters, least)
        made[name] = Function(name, told(spec), parameters, spec)
    return list(made.values())


def loser(losses: list[Loss], tool: str) -> Lose:
    """Return a function that records one tool's losses."""
    return lambda path, what: losses.append(Loss(tool, path, what))


def lose_exactness(spec: ToolSpec | SkillSpec, lose: Lose) -> None:
    """Report each One Of whose shapes `anyOf` can't tell apart, since it allows several."""
    for path, shape in shapes(spec.parameters):
        if shape.one_of is not None and not are_apart(shape):
            lose(path, "that no more than one shape of One Of may fit")


def shapes(parameters: tuple[Parameter, ...], path: str = "") -> Iterator[tuple[str, Schema]]:
    """Return every shape within the parameters with its dotted path, `items[].name`."""
    for parameter in parameters:
        yield from _shapes(parameter.shape, f"{path}{parameter.name}")


def _shapes(shape: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    yield path, shape
    if shape.items is not None:
        yield from _shapes(shape.items, f"{path}[]")
    if shape.values is not None:
        yield from _shapes(shape.values, f"{path}.*")
    for one in shape.objects:
        yield from shapes(one.properties or (), f"{path}.")


def told(spec: ToolSpec | SkillSpec) -> str:
    """Return a description: the purpose, when to use it, and the rules between its arguments."""
    rules = spec.rules if isinstance(spec, ToolSpec) else ()
    ruled = "Rules:\n" + "\n".join(f"- {rule.message}" for rule in rules) if rules else ""
    return "\n\n".join(part for part in (spec.description, spec.when_to_use, ruled) if part)


def with_confidence(parameters: dict[str, Any], threshold: float | None) -> dict[str, Any]:
    """Add the required `_confidence`, a number from 0 to 1 (behaviour.md, "Checks")."""
    enough = "" if threshold is None else f" Below {threshold:g} the call is denied."
    asked = {
        "type": "number",
        "description": f"How sure you are, from 0 to 1, that the user wants exactly this.{enough}",
        "minimum": 0,
        "maximum": 1,
    }
    return {
        **parameters,
        "properties": {**parameters["properties"], CONFIDENCE: asked},
        "required": [*parameters.get("required", ()), CONFIDENCE],
    }
