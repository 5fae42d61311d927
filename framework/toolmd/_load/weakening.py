"""Find what a new version of a definition weakens, and what stays live until it is accepted.

Metadata, Safety and Limits are held field by field: each weakened field keeps its old value, and
of two conditions both apply. Parameters and results are held as a whole, dropped rules stay beside
the new ones, and a skill, whose steps can't be mixed, stays as it was. Pure: specs in, specs out.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from decimal import Decimal
from functools import cache
from operator import ne
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from toolmd._expressions.syntax import MAX_LENGTH
from toolmd._types.approval import ALWAYS, Approval, Escalation, lasting
from toolmd._types.call_spec import Batch, Given, Limits, Rate, Safety, ToolCallSpec
from toolmd._types.field import Row, rows_of
from toolmd._types.pending_change import Weakening
from toolmd._types.quota import Quota, as_strict
from toolmd._types.registry import AnySpec
from toolmd._types.schedule import hours_of
from toolmd._types.schema import Parameter, Schema
from toolmd._validation import are_apart

if TYPE_CHECKING:
    # They need pydantic, which nothing here does.
    from toolmd._types.skill import SkillSpec
    from toolmd._types.tool import ToolSpec
from toolmd._types.settings import AuditSettings, SafetySettings, Settings, TokenSettings

_T = TypeVar("_T")
Looser = Callable[[Any, Any], bool]
"""Returns whether the new value, the second, allows more than the old one.

None and an empty value restrict nothing. Where two values can't be compared, such as two patterns,
the new one counts as looser.
"""


def least(old: Any, new: Any) -> bool:
    """Compare lower bounds."""
    return old is not None and (new is None or new < old)


def most(old: Any, new: Any) -> bool:
    """Compare upper bounds."""
    return old is not None and (new is None or new > old)


def demand(old: Any, new: Any) -> bool:
    """Compare flags that demand something when true."""
    return bool(old) and not new


def claim(old: Any, new: Any) -> bool:
    """Compare flags that lift a restriction when true."""
    return bool(new) and not old


def needs(old: Iterable[str], new: Iterable[str]) -> bool:
    """Compare names that are all required: more are stricter."""
    return not set(old) <= set(new)


def unlike(old: Any, new: Any) -> bool:
    """Compare values that have no order."""
    return old not in (None, {}) and new != old


def choices(old: Any, new: Any) -> bool:
    """Compare JSON values to choose from: fewer are stricter, none at all are no restriction."""
    # As JSON text, where true is not 1.
    known = {json.dumps(value, sort_keys=True) for value in old or ()}
    return bool(old) and (not new or any(json.dumps(v, sort_keys=True) not in known for v in new))


def words(old: Iterable[str], new: Iterable[str]) -> bool:
    """Compare words of which one must be said, in any case."""
    return choices([*map(str.casefold, old)], [*map(str.casefold, new)])


def types(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare types; every integer is a number."""
    return choices((*old, "integer") if "number" in old else old, new)


def domains(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare hosts; `*.suffix` stands for every host below it."""

    def within(host: str, allowed: str) -> bool:
        return host == allowed or (allowed.startswith("*.") and host.endswith(allowed[1:]))

    known, wanted = [*map(str.casefold, old)], [*map(str.casefold, new)]
    return bool(old) and (not new or not all(any(within(n, o) for o in known) for n in wanted))


def rate(old: Rate | None, new: Rate | None) -> bool:
    """Compare rates; as strict is only what allows no more starts in no shorter window."""
    return old is not None and (new is None or new.calls > old.calls or new.per_s < old.per_s)


def batch(old: Batch | None, new: Batch | None) -> bool:
    """Compare batches of the same parameter."""
    return old is not None and (
        new is None or new.parameter != old.parameter or new.size > old.size
    )


def hours(old: str | None, new: str | None) -> bool:
    """Compare opening hours: a part of the old ones is as strict."""
    if old is None or new is None:
        return old is not None
    was, now = hours_of(old), hours_of(new)
    return was.zone != now.zone or not now.minutes <= was.minutes


def quotas(old: tuple[Quota, ...], new: tuple[Quota, ...]) -> bool:
    """Compare quotas: each old one must surely be implied by a new one."""
    return any(not any(as_strict(one, other) for other in new) for one in old)


_THRESHOLD = re.compile(r"([\w.]+) *(<=?|>=?) *(-?\d+(?:\.\d+)?)")
_MOST_CONDITIONS = 8
"""The most conditions that are joined; with more, a condition always holds."""


def condition(old: str | None, new: str | None) -> bool:
    """Compare conditions: as strict is only what surely holds wherever the old one held."""
    found = _conditions(new)
    return any(not any(_follows(one, other) for other in found) for one in _conditions(old))


def either(old: str, new: str) -> str:
    """Return the condition that holds where one of the two does; `true` where they are many."""
    parts = list(dict.fromkeys((*_conditions(old), *_conditions(new))))
    if len(parts) == 1:
        return old
    # A comment ends with its line.
    joined = " || ".join(f"({part}\n)" if "//" in part else f"({part})" for part in parts)
    many = "true" in parts or len(parts) > _MOST_CONDITIONS or len(joined) > MAX_LENGTH
    return "true" if many else joined


def _conditions(text: str | None) -> list[str]:
    """Return the parts of what `either` joined; any other condition is its own only part."""
    if text is None:
        return []
    parts = text[1:-1].split(") || (") if text.startswith("(") and text.endswith(")") else []
    whole = len(parts) > 1 and all(map(_is_balanced, parts))
    return [part.strip() for part in (parts if whole else [text])]


def _is_balanced(text: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0 or sign in "'\"\\":
            return False  # A parenthesis may be part of a text, so nothing is split.
    return depth == 0


def _follows(old: str, new: str) -> bool:
    """Return whether the new condition surely holds where the old one does."""
    before, after = _THRESHOLD.fullmatch(old), _THRESHOLD.fullmatch(new)
    if old == new or before is None or after is None:
        return old == new
    if before[1] != after[1] or before[2][0] != after[2][0]:
        return False
    was, now = Decimal(before[3]), Decimal(after[3])
    if was == now:
        return len(after[2]) >= len(before[2])
    return now < was if after[2][0] == ">" else now > was


_COMPARISONS: Mapping[str, Looser] = {
    one.__name__: one
    for one in (
        *(least, most, demand, claim, needs, unlike, choices, words, types, domains, rate, batch),
        *(condition, hours, quotas),
    )
}


@cache
def comparisons(owner: type) -> Mapping[str, Looser]:
    """Return the comparison of each field of a class whose row has one, by the field's name.

    What lies within a value (items, properties, values, One Of) is compared value by value.
    """
    return {row.attribute: looser for row, looser in _comparisons_of(owner)}


def _comparisons_of(owner: type) -> Iterator[tuple[Row, Looser]]:
    return ((row, _comparison(row)) for row in rows_of(owner) if row.compared)


def _comparison(row: Row) -> Looser:
    if isinstance(ranks := row.compared, str):
        return _COMPARISONS[ranks]
    return lambda old, new: ranks.index(new) < ranks.index(old)


class WeakenedSpec(NamedTuple):
    """The live part of a new version, and what it weakens."""

    spec: AnySpec
    """The new version itself where it weakens nothing."""
    weakened: tuple[Weakening, ...]


def list_weakened(
    old: AnySpec, new: AnySpec, *, default_min: float | None = None
) -> tuple[Weakening, ...]:
    """Return what `new` lets through that `old` did not; nothing where it is as strict.

    `default_min` is the confidence (0..1) that is asked for where the file names none. Raises
    TypeError for a tool and a skill.
    """
    tools = isinstance(old, ToolCallSpec), isinstance(new, ToolCallSpec)
    if tools[0] is not tools[1]:
        raise TypeError("a tool and a skill can't be compared")
    compare: Any = _tool if tools[0] else _skill
    found: list[Weakening] = []
    for one in compare(old, new, default_min):
        if one not in found:
            found.append(one)
    return tuple(found)


def keep_stricter(old: AnySpec, new: AnySpec, *, default_min: float | None = None) -> WeakenedSpec:
    """Return the new version with each weakened restriction restored, and the weakenings."""
    found = list_weakened(old, new, default_min=default_min)
    if not found:
        return WeakenedSpec(new, ())
    if not isinstance(old, ToolCallSpec) or not isinstance(new, ToolCallSpec):
        return WeakenedSpec(old, found)
    places = {one.place.partition(":")[0] for one in found}
    kept = {rule.expression for rule in new.rules}
    shape = {
        "parameters": old.parameters if "Parameters" in places else new.parameters,
        "returns": old.returns if "Returns" in places else new.returns,
        "given": _join_given(old, new),
        "rules": (*new.rules, *(rule for rule in old.rules if rule.expression not in kept)),
    }
    return WeakenedSpec(_with(new, **shape, **_policy(new, old, default_min)), found)


def tighten(then: "ToolSpec", now: "ToolSpec", *, default_min: float | None = None) -> "ToolSpec":
    """Return a tool as it was, under the stricter of its policies of then and now.

    Held are what it demands (Metadata), its Safety and its Limits; what it takes and gives stays,
    since the steps that use it were written for that.
    """
    held: ToolSpec = _with(then, **_policy(then, now, default_min))
    return held


def _policy(then: "ToolSpec", now: "ToolSpec", default_min: float | None) -> dict[str, Any]:
    """Return the policy of one tool, with each field of another tool that is stricter."""
    safety = _stricter(Safety, then.safety, now.safety)
    stated = then.safety.min_confidence
    # A tool without a value has the default: naming less isn't a restriction.
    if now.safety.min_confidence is None and stated is not None and least(default_min, stated):
        safety["min_confidence"] = None
    return {
        **_stricter(ToolCallSpec, then, now),
        "safety": replace(then.safety, **safety),
        "approvals": (*then.approvals, *_lost_approvals(now, then)),
        "limits": replace(then.limits, **_stricter(Limits, then.limits, now.limits)),
    }


def _stricter(owner: type, then: object, now: object) -> dict[str, Any]:
    found = {}
    for name, looser in comparisons(owner).items():
        mine, other = getattr(then, name), getattr(now, name)
        if looser(other, mine):
            # Which of two conditions is stricter can't always be told, so both apply.
            joins = looser is condition and mine is not None and condition(mine, other)
            found[name] = either(mine, other) if joins else other
    return found


def _with(spec: Any, **changes: Any) -> Any:
    """Return a spec with other values, or itself."""
    # By their text: 0 and False are equal, and allow different values.
    if all(repr(getattr(spec, name)) == repr(value) for name, value in changes.items()):
        return spec
    # A new model: `model_copy` would keep values computed from the old fields.
    return type(spec)(**{name: getattr(spec, name) for name in type(spec).model_fields} | changes)


def _tool(old: "ToolSpec", new: "ToolSpec", default_min: float | None) -> Iterator[Weakening]:
    # In the order of a canonical file.
    yield from _fields("Metadata", ToolCallSpec, old, new)
    yield from _parameters("Parameters", old.parameters, new.parameters)
    yield from _result("Returns", old.returns, new.returns)
    for given in old.given:
        if given not in new.given:
            now = next((f"{one}" for one in new.given if one.name == given.name), None)
            yield Weakening("Rules: Given", f"{given}", now)
    kept = {rule.expression for rule in new.rules}
    for rule in old.rules:
        if rule.expression not in kept:
            yield Weakening("Rules", rule.expression, None)
    before = old.safety
    if before.min_confidence is None and new.safety.min_confidence is not None:
        before = replace(before, min_confidence=default_min)
    yield from _fields("Safety", Safety, before, new.safety)
    for one in _lost_approvals(old, new):
        # One of the same title was changed.
        successor = next((each for each in new.approvals if each.title == one.title), None)
        yield from _approval_fields(one, successor)
    yield from _fields("Limits", Limits, old.limits, new.limits)


def _join_given(old: ToolCallSpec, new: ToolCallSpec) -> tuple[Given, ...]:
    """Return what the conditions of both read; a name of both stands for what it was."""
    known = {one.name: one for one in old.given}
    return (*(known.pop(one.name, one) for one in new.given), *known.values())


def _lost_approvals(old: ToolCallSpec, new: ToolCallSpec) -> list[Approval]:
    """Return the approvals that no new one surely demands; each needs one of its own."""
    return _unmatched(old.approvals, new.approvals, lambda was, now: _demands(now, was))


def _unmatched(old: Iterable[_T], new: Iterable[_T], fits: Callable[[_T, _T], bool]) -> list[_T]:
    """Return the old ones that have no new one of their own."""
    every, lost = [*new], []
    free = every.copy()
    # One that few fit chooses first.
    for one in sorted(old, key=lambda was: sum(fits(was, now) for now in every)):
        own = next((now for now in free if fits(one, now)), None)
        if own is None:
            lost.append(one)
        else:
            free.remove(own)
    return lost


def _approval_fields(old: Approval, new: Approval | None) -> Iterator[Weakening]:
    """Yield each field in which an approval differs from the one that takes its place."""
    fields = () if new is None else [row for row in rows_of(Approval)
                                     if getattr(new, row.attribute) != getattr(old, row.attribute)
                                     and row.restricts]  # fmt: skip
    for row in fields:
        as_written: Callable[[Any], Any] = lasting if row.kind == "term" else _json
        before, after = (as_written(getattr(one, row.attribute)) for one in (old, new))
        yield Weakening(f"Approval: {row.name}", before, after)
    if not fields:
        yield Weakening("Approval", f"{old.title or old.when}", None)


def _demands(new: Approval, old: Approval) -> bool:
    """Return whether an approval is needed, given and kept at least as strictly as an old one."""
    when = new.when in {old.when, ALWAYS}
    when = when or (old.when != ALWAYS and not condition(old.when, new.when))
    fewer = not isinstance(old.by, str) and not isinstance(new.by, str) and {*new.by} <= {*old.by}
    escalates = all(
        any(one.after_s >= was.after_s and {*one.to} <= {*was.to} for was in old.escalate)
        for one in new.escalate
    )
    return when and (new.by == old.by or fewer) and new.expires_s <= old.expires_s and escalates


def _skill(old: "SkillSpec", new: "SkillSpec", _default_min: float | None) -> Iterator[Weakening]:
    yield from _fields("Metadata", type(old), old, new)
    yield from _parameters("Input Schema", old.parameters, new.parameters)
    before = list(_guards(old))
    for used, guards in _guards(new):
        known: list[frozenset[str]] = [each for name, each in before if name == used]
        if known and not any(all(_holds(one, guards) for one in each) for each in known):
            weakest = min(map(sorted, known), key=len)
            yield Weakening(f"Workflow: {used}", weakest, sorted(guards) or None)
    for _, approval in _unmatched(
        _approvals(old), _approvals(new),
        lambda was, now: was[0] == now[0] and _demands(now[1], was[1]),
    ):  # fmt: skip
        by = approval.by if isinstance(approval.by, str) else ", ".join(approval.by)
        yield Weakening(f"Workflow: {approval.title}", f"By {by}", None)


def _holds(guard: str, guards: frozenset[str]) -> bool:
    """Return whether guards have one, one without its condition, or a confirmation of the call."""
    asks = guard.startswith("Ask") and "Ask" in guards
    return asks or guard in guards or guard.partition(" when ")[0] in guards


def _approvals(skill: "SkillSpec") -> Iterator[tuple[str, Approval]]:
    """Yield each approval of another person that a step asks for, with what the step uses."""
    for section in skill.workflow_sections:
        for step in section.steps:
            if (approval := step.approval) is not None:
                yield "" if step.use is None else step.use.name, approval


def _guards(skill: "SkillSpec") -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each use of a tool or skill, and what its own step and those before it demand."""
    for section in skill.workflow_sections:
        before: set[str] = set()
        for step in section.steps:
            when = "" if step.when is None else f" when {step.when.cel}"
            check = set() if step.check is None else {f"Check: {step.check.cel}"}
            if step.use is not None:
                yield (
                    step.use.name,
                    frozenset(before | check | ({"Ask"} if step.ask is not None else set())),
                )
                continue
            before |= {f"{one}{when}" for one in check}
            if step.stop is not None:
                before.add(f"Stop{when}")
            if step.ask is not None and (step.if_no is None or step.if_no.kind == "stop"):
                before.add(f"Ask before{when}")


def _fields(place: str, owner: type, old: object, new: object) -> Iterator[Weakening]:
    for row, looser in _comparisons_of(owner):
        before, after = getattr(old, row.attribute), getattr(new, row.attribute)
        if looser(before, after):
            if looser is condition:
                # Without what `either` added of the edit that waits.
                own = [one for one in _conditions(before) if one not in _conditions(after)]
                before = own[0] if len(own) == 1 else before
            yield Weakening(f"{place}: {row.name}", _json(before), _json(after))


def _parameters(
    place: str, old: Iterable[Parameter], new: Iterable[Parameter]
) -> Iterator[Weakening]:
    """Compare parameters by name; a new one weakens nothing, a required one must not go.

    A parameter may be renamed: it is compared with the one of the old name.
    """
    before, names = {one.name: one for one in old}, {one.name for one in new}
    gone = [one for one in old if one.name not in names]
    for one in new:
        known = before.get(one.name)
        if known is None:
            known = next((was for was in gone if was.required is one.required), None)
            gone = [was for was in gone if was is not known]
        if known is not None:
            if known.required and not one.required:
                yield Weakening(f"{place}: {one.name}: Required", True, False)  # noqa: FBT003 - a value
            yield from _shape(f"{place}: {one.name}", known.shape, one.shape)
    for one in gone:
        if one.required:
            yield Weakening(f"{place}: {one.name}", "required", None)


def _shape(place: str, old: Schema, new: Schema) -> Iterator[Weakening]:
    """Compare one value's shape, at every depth."""
    yield from _fields(place, Schema, old, new)
    if old.one_of is not None or (new.one_of is not None and (old.properties, old.values) != _FREE):
        yield from _one_of(place, old, new)
    elif old.properties is not None:
        if new.properties is None:
            yield Weakening(f"{place}: Properties", [one.name for one in old.properties], None)
        else:
            yield from _parameters(place, old.properties, new.properties)
        if new.values is not None:
            # The object was closed: fields that nobody named must stay out.
            yield Weakening(f"{place}: Properties", "closed", "open")
    elif old.values is not None and new.properties is not None:
        for one in new.properties:  # What every value had to be, each field must be now.
            yield from _shape(f"{place}: {one.name}", old.values, one.shape)
    elif old.values is not None:
        yield from _inner(f"{place}: Values", old.values, new.values)
    if old.items is not None:
        yield from _inner(f"{place}: Items", old.items, new.items)


_FREE = (None, None)
"""The properties and the values of an object with any fields."""


def _inner(place: str, old: Schema, new: Schema | None) -> Iterator[Weakening]:
    if new is None:
        yield Weakening(place, old.json_schema, None)
    else:
        yield from _shape(place, old, new)


def _one_of(place: str, old: Schema, new: Schema) -> Iterator[Weakening]:
    """Compare the shapes of One Of: a new shape allows more.

    Where an object may fit two of the old shapes, and so none, any change may allow more.
    """
    before, after = ({p.name: p.shape for p in one.one_of or ()} for one in (old, new))
    if new.one_of is None:
        yield Weakening(f"{place}: One Of", [*before], None)
    elif old.one_of is None:
        whole = Schema(types=("object",), properties=old.properties, values=old.values)
        for name, shape in after.items():
            yield from _shape(f"{place}: {name}", whole, shape)
    elif not are_apart(old):
        both = [(before[name], after[name]) for name in before.keys() & after.keys()]
        same = before.keys() == after.keys()
        if not same or any([*_shape("", *pair), *_shape("", *pair[::-1])] for pair in both):
            yield Weakening(f"{place}: One Of", [*before], [*after])
    else:
        for name, shape in after.items():
            if name in before:
                yield from _shape(f"{place}: {name}", before[name], shape)
            else:
                yield Weakening(f"{place}: One Of", None, name)


def _result(place: str, old: Schema, new: Schema) -> Iterator[Weakening]:
    """Compare what of a result must not be recorded, and what a model must not see."""
    if choices(old.to_model, new.to_model):
        yield Weakening(f"{place}: To Model", _json(old.to_model), _json(new.to_model))
    if old.sensitive and not new.sensitive:
        yield Weakening(f"{place}: Sensitive", True, False)  # noqa: FBT003 - a value
    later = [field for shape in new.objects for field in shape.properties or ()]
    for shape in old.objects:
        known = {one.name: one.shape for one in shape.properties or () if one.shape.holds_sensitive}
        for name in known:
            if all(field.name != name for field in later):
                yield Weakening(f"{place}: {name}: Sensitive", True, None)  # noqa: FBT003 - a value
        named = {one.name for one in shape.properties or ()}
        for field in later:
            # What every value was, each field is now.
            before = known.get(field.name) if field.name in named else shape.values
            if before is not None and before.holds_sensitive:
                yield from _result(f"{place}: {field.name}", before, field.shape)
        if shape.values is not None and shape.values.holds_sensitive and not later:
            yield from _result(f"{place}: Values", shape.values, new.values or Schema())
    if old.items is not None and old.items.holds_sensitive:
        yield from _result(f"{place}: Items", old.items, new.items or Schema())


def _json(value: Any) -> Any:
    """Return a field's value as JSON; what restricts nothing as None."""
    if isinstance(value, Rate | Batch):
        return asdict(value)
    if not isinstance(value, tuple):
        return value
    return [str(one) if isinstance(one, Quota | Escalation) else one for one in value] or None


def hold_settings(old: Settings, new: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the new settings with each dropped restriction restored, and their keys.

    A half-written file looks like one that drops the rest. A restart accepts the new settings.
    """
    if old.trust_edits:
        return new, ()
    whole: dict[str, Any] = {}
    found: list[str] = []
    for table, fields in _LOOSER.items():
        before, after = getattr(old, table), getattr(new, table)
        kept = {
            name: getattr(before, name)
            for name, looser in fields.items()
            if looser(getattr(before, name), getattr(after, name))
        }
        if table == "safety" and (lost := _lost(before.crisis_words, after.crisis_words)):
            kept["crisis_words"] = (*after.crisis_words, *lost)
        if kept:
            whole[table] = after._replace(**kept)
            found += [f"{table}.{name}" for name in kept]
    if old.time_zone and new.time_zone != old.time_zone:
        whole["time_zone"] = old.time_zone
        found.append("time_zone")
    if new.trust_edits:
        whole["trust_edits"] = False
        found.append("trust_edits")
    return new._replace(**whole) if whole else new, tuple(found)


def _lost(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    return [word for word in old if word not in new]


def _asks(old: str, new: str) -> bool:
    return old == "deny" and new == "confirm"


def _acts_for_more(old: Iterable[TokenSettings], new: Iterable[TokenSettings]) -> bool:
    """Return whether a token may act for other users, roles or facts than before."""
    known = {one.sha256: (one.may, one.act_as) for one in old}
    return any("act_as" in one.may and known.get(one.sha256) != (one.may, one.act_as)
               for one in new)  # fmt: skip


def _retypes(old: Mapping[str, str], new: Mapping[str, str]) -> bool:
    """Return whether a fact has another type than before, or none."""
    return any(new.get(name) != kind for name, kind in old.items())


def _deletes(old: float | None, new: float | None) -> bool:
    return new is not None and (old is None or new < old)


_LOOSER: Mapping[str, Mapping[str, Callable[[Any, Any], bool]]] = {
    "safety": {"default_min": least, "floor": least, "on_missing_confidence": _asks},
    "audit": {
        "enabled": lambda old, new: old and not new,
        "sync": lambda old, new: old == "batch" and new == "none",
        "keep_days": _deletes,
    },
    # Who a token stands for, and what its facts mean: a change may let somebody else through.
    "identity": {"issuers": ne, "facts": _retypes},
    "serve": {"tokens": _acts_for_more},
}
"""For each setting that is a restriction, whether a new value drops it."""
assert {*_LOOSER["safety"], "crisis_words", "crisis_message"} == {*SafetySettings._fields}
assert {*_LOOSER["audit"]} == {*AuditSettings._fields}
