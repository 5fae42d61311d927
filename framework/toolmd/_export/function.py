"""Convert a tool or skill to the function form of all model APIs, without a target's rules."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from toolmd._export.exported import Lose, Loss, NameRule, fit
from toolmd._types.approval import ALWAYS, Approval, either, lasting
from toolmd._types.schema import KEYWORDS, Parameter, Schema, plain_numbers
from toolmd._types.skill import SkillSpec
from toolmd._types.tool import ToolSpec
from toolmd._validation import are_apart

_FOREIGN = re.compile(
    r"\(\?[imsU]|\(\?-|\\[AzZQEC]|\[\[:|\\[pP][A-Z]",
)
"""Syntax of RE2 that JSON Schema's ECMA patterns lack."""


def with_parts(
    schema: dict[str, Any], change: Callable[[dict[str, Any], str], dict[str, Any]], path: str = ""
) -> dict[str, Any]:
    """Return the schema with each schema directly below it changed, which has a dotted path."""
    shown = dict(schema)
    prefix = f"{path}." if path else ""
    if "properties" in shown:
        fields = shown["properties"].items()
        shown["properties"] = {name: change(field, f"{prefix}{name}") for name, field in fields}
    if "items" in shown:
        shown["items"] = change(shown["items"], f"{path}[]")
    if isinstance(shown.get("additionalProperties"), dict):
        shown["additionalProperties"] = change(shown["additionalProperties"], f"{prefix}*")
    for union in ("anyOf", "oneOf"):
        if union in shown:
            shown[union] = [change(one, path) for one in shown[union]]
    return shown


def parts_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schema and each schema below it, at any depth."""
    yield schema
    below: list[dict[str, Any]] = []

    def add(part: dict[str, Any], _path: str) -> dict[str, Any]:
        below.append(part)
        return part

    with_parts(schema, add)
    for part in below:
        yield from parts_of(part)


def plain(schema: dict[str, Any], lose: Lose, path: str = "") -> dict[str, Any]:
    """Return the schema with standard JSON Schema keywords only.

    Units and verbatim values (`x-unit`, `x-verbatim`) move into the description.
    """
    shown = {k: v for k, v in schema.items() if not k.startswith("x-")}
    shown = with_parts(shown, lambda part, below: plain(part, lose, below), path)
    if "required" in shown:
        fields = schema.get("properties", {})
        filled = {name for name, one in fields.items() if "x-from-caller" in one}
        shown["required"] = [name for name in shown["required"] if name not in filled]
    if schema.get("x-accepts-handle"):
        shown = _or_handle(shown)
    words = []
    for keyword, row in _ROWS.items():
        if keyword.startswith("x-") and row.sentence and (value := schema.get(keyword)):
            words.append(in_words(keyword, value))
    if "pattern" in shown:
        pattern = _ecma(shown.pop("pattern"))
        if pattern is None:
            words.append(in_words("pattern", schema["pattern"]))
            lose(path, f"pattern {schema['pattern']}")
        else:
            shown["pattern"] = pattern
    return add_sentences(shown, words)


def _or_handle(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that may be a handle instead.

    An object of its own fields, or an Enum, stays: their handles are only told of in words.
    """
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if not types or "object" in types or "enum" in schema:
        return schema
    return {**schema, "type": [*types, "object"], **HANDLE_SHAPE}


HANDLE_SHAPE: dict[str, Any] = {
    "properties": {
        "$result": {"type": "string", "description": "The handle of an earlier result."},
        "path": {"type": "string", "description": "The part of it, such as `papers[*].id`."},
    },
    "required": ["$result"],
    "additionalProperties": False,
}
"""The fields of a handle, as an argument."""


def add_sentences(schema: dict[str, Any], words: list[str]) -> dict[str, Any]:
    """Return the schema with these sentences after its description, which is an early key."""
    if not words:
        return schema
    said = schema.get("description", "")
    if said and said[-1] not in ".!?:;":
        said += "."
    description = " ".join(part for part in (said, *words) if part)
    head = {k: schema[k] for k in ("type",) if k in schema}
    return {**head, "description": description} | {
        k: v for k, v in schema.items() if k not in {"type", "description"}
    }


_ROWS = {row.word: row for row in KEYWORDS.values()}


def in_words(keyword: str, value: Any) -> str:
    """Return a sentence that means the same as a keyword."""
    if keyword == "examples":
        return f"Example: {compact(value[0])}."
    if keyword == "enum":
        return f"One of {', '.join(compact(item) for item in value)}."
    said = value if isinstance(value, str) else compact(value)
    if keyword == "default":
        return f"Default: {said}."
    row = _ROWS[keyword]
    if row.sentence:
        return row.sentence.replace("{}", said)
    return f"At {row.compared} {row.size(value)}."


_ORDER = ("enum", *(row.word for row in KEYWORDS.values() if row.fits), "default", "examples")


def argument_lines(parameters: dict[str, Any]) -> list[str]:
    """Return a bullet for each argument, with nested bullets for nested fields."""
    return _below(parameters, "")


def _lines(name: str, schema: dict[str, Any], indent: str, *, required: bool) -> list[str]:
    need = "required" if required else "optional"
    line = f"{indent}- `{name}` ({type_of(schema)}, {need})"
    if said := " ".join(_sentences(schema)):
        line += f": {said}"
    return [line, *_below(schema, indent + "  ")]


def _below(schema: dict[str, Any], indent: str) -> list[str]:
    required = schema.get("required", ())
    fields = schema.get("properties", {})
    lines = [
        line for k, v in fields.items() for line in _lines(k, v, indent, required=k in required)
    ]
    for one in schema.get("oneOf", ()):
        if "properties" in one:
            said = " ".join(_sentences(one))
            lines.append(f"{indent}- shape `{one['title']}`" + (f": {said}" if said else ""))
            lines += _below(one, indent + "  ")
    items = schema.get("items")
    if items and (
        "oneOf" in items or "properties" in items or "items" in items or _sentences(items)
    ):
        said = " ".join(_sentences(items))
        each = f"{indent}- each ({type_of(items)})" + (f": {said}" if said else "")
        lines += [each, *_below(items, indent + "  ")]
    return lines


def _sentences(schema: dict[str, Any]) -> list[str]:
    words = []
    if description := schema.get("description", ""):
        words.append(description if description[-1] in ".!?:;" else f"{description}.")
    return words + [in_words(keyword, schema[keyword]) for keyword in _ORDER if keyword in schema]


def type_of(schema: dict[str, Any]) -> str:
    """Return the type of a schema in words."""
    types = schema.get("type", "anything")
    named = types if isinstance(types, list) else [types]
    items = schema.get("items")
    shown = [f"array of {type_of(items)}" if n == "array" and items else n for n in named]
    told = ", exactly one of these shapes" if "oneOf" in schema else ""
    return " or ".join(shown) + told


def compact(value: Any) -> str:
    """Return a JSON value on one line, as its author would write it."""
    return json.dumps(value, ensure_ascii=False)


def _ecma(pattern: str) -> str | None:
    if _FOREIGN.search(pattern):
        return None
    return pattern.replace("(?P<", "(?<")


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
        made[name] = Function(name, description_of(spec), parameters, spec)
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


def description_of(spec: ToolSpec | SkillSpec) -> str:
    """Return a description: the purpose, when to use it, and the rules between its arguments."""
    rules = spec.rules if isinstance(spec, ToolSpec) else ()
    ruled = "Rules:\n" + "\n".join(f"- {rule.message}" for rule in rules) if rules else ""
    roles = spec.allowed_roles if isinstance(spec, ToolSpec) else ()
    for_whom = f"Only for {either(roles)}." if roles else ""
    approvals = spec.approvals if isinstance(spec, ToolSpec) else ()
    waits = " ".join(map(_needs_approval, approvals))
    hours = spec.limits.allowed_hours if isinstance(spec, ToolSpec) else None
    is_open = f"Open {hours}." if hours else ""
    parts = (spec.description, spec.when_to_use, for_whom, is_open, waits, ruled)
    return "\n\n".join(part for part in parts if part)


def _needs_approval(one: Approval) -> str:
    who = "another person" if isinstance(one.by, str) else either(one.by)
    when = "Each call" if one.when == ALWAYS else f"When {one.when}, the call"
    return f"{when} must be approved by {who}, and waits up to {lasting(one.expires_s)}."


def with_confidence(parameters: dict[str, Any], threshold: float | None) -> dict[str, Any]:
    """Add the required `_confidence`, a number from 0 to 1 (behaviour.md, "Checks")."""
    enough = "" if threshold is None else f" Below {plain_numbers(threshold)} the call is denied."
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
