"""Find what a new version of a definition weakens, and what stays live until it is accepted.

Each restriction that the new version drops, widens, or changes beyond comparing keeps its old
value; of two conditions both apply. Everything else of the new version is taken, what tightens
among it. Pure: specs in, a spec and the findings out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple, TypeVar

from toolmd._load.edits.one_of import kept_result, kept_shapes
from toolmd._load.edits.strictness import (
    LIMITS,
    METADATA,
    RESULT,
    SAFETY,
    SCHEMA,
    SKILL,
    Looser,
    as_written,
    condition,
    either,
    least,
)
from toolmd._types.call_spec import Batch, Limits, Rate, Rule, Safety
from toolmd._types.definition import FileSpec
from toolmd._types.pending_change import Weakening
from toolmd._types.registry import AnySpec
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import SkillSpec, Step
from toolmd._types.tool import ToolSpec
from toolmd._validation import problems

_Noun = TypeVar("_Noun", ToolSpec, Safety, Limits, Schema, Parameter)
_FREE = (None, None)
"""The properties and the values of an object with any fields."""
_Compared = ToolSpec | SkillSpec | Safety | Limits | Schema


class WeakenedSpec(NamedTuple):
    """The live part of a new version, and what it weakens."""

    spec: AnySpec
    """The new version itself where it weakens nothing."""
    weakened: tuple[Weakening, ...]


def weakened(
    old: AnySpec, new: AnySpec, *, default_min: float | None = None
) -> tuple[Weakening, ...]:
    """Report what `new` lets through that `old` did not; nothing where it is as strict."""
    return keep_stricter(old, new, default_min=default_min).weakened


def keep_stricter(old: AnySpec, new: AnySpec, *, default_min: float | None = None) -> WeakenedSpec:
    """Return the new version with each weakened restriction restored, and the weakenings.

    `default_min` is the confidence (0..1) that is asked for where the file names none. Of a skill,
    whose steps can't be mixed, the old version stays whole. Both must be of one kind.
    """
    found: list[Weakening] = []
    if isinstance(old, ToolSpec) and isinstance(new, ToolSpec):
        held = _tool(found, old, new, default_min)
        return WeakenedSpec(held if found else new, tuple(found))
    if isinstance(old, SkillSpec) and isinstance(new, SkillSpec):
        _skill(found, old, new)
        return WeakenedSpec(old if found else new, tuple(found))
    raise TypeError("a tool and a skill can't be compared")


def tightened(then: ToolSpec, now: ToolSpec, *, default_min: float | None = None) -> ToolSpec:
    """Return a tool as it was, under the stricter of its policies of then and now.

    Held are what it demands (Metadata), its Safety and its Limits; what it takes and gives stays,
    since the steps that use it were written for that.
    """
    policy = _with(now, parameters=then.parameters, returns=then.returns, rules=then.rules)
    held = keep_stricter(policy, then, default_min=default_min).spec
    assert isinstance(held, ToolSpec)
    return _with(held, safety=_with(held.safety, **_either(then.safety, now.safety)))


def _tool(
    found: list[Weakening], old: ToolSpec, new: ToolSpec, default_min: float | None
) -> ToolSpec:
    # In the order of a canonical file, which is that of the findings.
    return _with(
        new,
        **_kept(found, "Metadata", METADATA, old, new),
        parameters=_parameters(found, "Parameters", old.parameters, new.parameters),
        returns=_result(found, "Returns", old.returns, new.returns),
        rules=_rules(found, old.rules, new.rules),
        safety=_safety(found, old.safety, new.safety, default_min),
        limits=_with(new.limits, **_kept(found, "Limits", LIMITS, old.limits, new.limits)),
    )


def _safety(found: list[Weakening], old: Safety, new: Safety, default_min: float | None) -> Safety:
    kept = _kept(found, "Safety", SAFETY, old, new)
    stated = new.min_confidence
    # A tool without a value had the default: naming less isn't a restriction.
    if old.min_confidence is None and stated is not None and least(default_min, stated):
        found.append(Weakening("Safety: Min Confidence", default_min, stated))
        kept["min_confidence"] = None
    # Which of two conditions is stricter can't always be told, so the two apply until then.
    both = {name: text for name, text in _either(old, new).items() if name in kept}
    return _with(new, **(kept | both))


def _either(one: Safety, other: Safety) -> dict[str, str]:
    """Return the conditions that hold where those of either Safety do, if they differ."""
    return {
        name: either(before, after)
        for name in ("confirm_when", "escalate_when")
        if (before := getattr(one, name)) and (after := getattr(other, name)) and before != after
    }


def _kept(
    found: list[Weakening], place: str, table: Mapping[str, Looser], old: _Compared, new: _Compared
) -> dict[str, Any]:
    """Report the fields of a table that got weaker, and return their old values."""
    kept = {}
    for name, looser in table.items():
        before, after = getattr(old, name), getattr(new, name)
        if looser(before, after):
            told = as_written(before, after) if looser is condition else _json(before)
            found.append(Weakening(f"{place}: {_title(name)}", told, _json(after)))
            kept[name] = before
    return kept


def _rules(
    found: list[Weakening], old: tuple[Rule, ...], new: tuple[Rule, ...]
) -> tuple[Rule, ...]:
    said = {rule.expression for rule in new}
    dropped = tuple(rule for rule in old if rule.expression not in said)
    found += [Weakening("Rules", rule.expression, None) for rule in dropped]
    return new + dropped


def _parameters(
    found: list[Weakening], place: str, old: tuple[Parameter, ...], new: tuple[Parameter, ...]
) -> tuple[Parameter, ...]:
    """Compare parameters by name; a new one weakens nothing, a required one must not go.

    A required parameter may be renamed: it is compared with the one of the old name.
    """
    before = {parameter.name: parameter for parameter in old}
    names = {parameter.name for parameter in new}
    gone = [parameter for parameter in old if parameter.required and parameter.name not in names]
    held = []
    for parameter in new:
        known = before.get(parameter.name)
        if known is None and parameter.required and gone:
            known = gone.pop(0)
        if known is None:
            held.append(parameter)
            continue
        inner = f"{place}: {parameter.name}"
        required = parameter.required or known.required
        if required is not parameter.required:
            found.append(Weakening(f"{inner}: Required", True, False))  # noqa: FBT003 - a value
        shape = _shape(found, inner, known.shape, parameter.shape)
        held.append(Parameter(name=parameter.name, shape=shape, required=required))
    found += [Weakening(f"{place}: {parameter.name}", "required", None) for parameter in gone]
    return (*held, *gone)


def _shape(found: list[Weakening], place: str, old: Schema, new: Schema) -> Schema:
    """Compare one value's shape, at every depth."""
    known = len(found)
    kept = _kept(found, place, SCHEMA, old, new)
    inner = {name: (getattr(old, name), getattr(new, name)) for name in ("items", "values")}
    if old.one_of is not None or (new.one_of is not None and (old.properties, old.values) != _FREE):
        kept |= kept_shapes(found, place, old, new, _shape)
        del inner["values"]
    elif old.properties is not None:
        if new.properties is None:
            names = [field.name for field in old.properties]
            found.append(Weakening(f"{place}: Properties", names, None))
            kept["properties"] = old.properties
        else:
            kept["properties"] = _parameters(found, place, old.properties, new.properties)
        if new.values is not None:
            # The object was closed: fields that nobody named must stay out.
            found.append(Weakening(f"{place}: Properties", "closed", "open"))
            kept["values"] = None
    elif old.values is not None and new.properties is not None:
        # What every value had to be, each field must be now.
        kept["properties"] = tuple(
            _with(f, shape=_shape(found, f"{place}: {f.name}", old.values, f.shape))
            for f in new.properties
        )
        del inner["values"]
    for name, (before, after) in inner.items():
        if before is None:
            continue
        below = f"{place}: {_title(name)}"
        if after is None:
            found.append(Weakening(below, before.json_schema, None))
            kept[name] = before
        else:
            kept[name] = _shape(found, below, before, after)
    if len(found) == known:
        return new
    return _fitting_default(old, _with(new, **kept))


def _fitting_default(old: Schema, held: Schema) -> Schema:
    """The old shape may reject a default of the new version."""
    if not held.has_default or not problems(held.default, held):
        return held
    if old.has_default and not problems(old.default, held):
        return _with(held, default=old.default)
    return _with(held, has_default=False, default=None)


def _result(found: list[Weakening], place: str, old: Schema, new: Schema) -> Schema:
    """Compare the parts of a result that must not be recorded, at every depth."""
    kept = _kept(found, place, RESULT, old, new)
    if old.one_of is not None or new.one_of is not None:
        return _with(kept_result(found, place, old, new, _result), **kept)
    known = {field.name: field.shape for field in old.properties or ()}
    held = []
    for field in new.properties or ():
        # What every value was, each field is now.
        before = known.pop(field.name, old.values or Schema())
        shape = _result(found, f"{place}: {field.name}", before, field.shape)
        held.append(_with(field, shape=shape))
    gone = [name for name, shape in known.items() if shape.holds_sensitive]
    found += [Weakening(f"{place}: {name}: Sensitive", True, None) for name in gone]  # noqa: FBT003
    if new.properties is not None:
        kept["properties"] = (*held, *(Parameter(name, known[name]) for name in gone))
    elif gone:
        kept["properties"] = old.properties
    for name in ("items", "values") if new.properties is None else ("items",):
        before, after = getattr(old, name), getattr(new, name)
        if before is not None and before.holds_sensitive:
            kept[name] = _result(found, f"{place}: {_title(name)}", before, after or Schema())
    return _with(new, **kept)


def _skill(found: list[Weakening], old: SkillSpec, new: SkillSpec) -> None:
    _kept(found, "Metadata", SKILL, old, new)
    _parameters(found, "Input Schema", old.parameters, new.parameters)
    before, after = list(_guards(old)), list(_guards(new))
    for used, guards in after:
        known = [guarded for name, guarded in before if name == used]
        if known and not any(guarded <= guards for guarded in known):
            weakest = min(known, key=len)
            told = Weakening(f"Workflow: {used}", sorted(weakest), sorted(guards) or None)
            if told not in found:
                found.append(told)


def _guards(skill: SkillSpec) -> Iterator[tuple[str, frozenset[str]]]:
    """Return each use of a tool or skill, and what stands before or behind it."""
    for section in skill.workflow_sections:
        for step in section.steps:
            if step.use is not None:
                yield step.use.name, frozenset(_guarded(step))


def _guarded(step: Step) -> Iterator[str]:
    if step.ask is not None:
        yield "Ask"
    if step.check is not None:
        yield f"Check: {step.check.cel}"


def _with(noun: _Noun, **changes: Any) -> _Noun:
    """Return a noun with other values, or itself."""
    if all(getattr(noun, name) is value for name, value in changes.items()):
        return noun
    # A new model: `model_copy` would keep values computed from the old fields.
    names = [field.name for field in fields(noun)]
    if isinstance(noun, FileSpec):
        names = list(type(noun).model_fields)
    return type(noun)(**{name: getattr(noun, name) for name in names} | changes)


def _title(name: str) -> str:
    """Return a field's name as authors write it."""
    if name == "types":
        return "Type"
    return name.removesuffix("_s").replace("_", " ").title()


def _json(value: Any) -> Any:
    """Return a field's value as JSON; what restricts nothing as None."""
    if isinstance(value, Rate | Batch):
        return asdict(value)
    if isinstance(value, tuple):
        return list(value) or None
    return value
