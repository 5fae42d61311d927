"""Compare the shapes of One Of in two versions of a value, and find what is weaker."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from toolmd._types.pending_change import Weakening
from toolmd._types.schema import Parameter, Schema
from toolmd._validation import are_apart

CompareShapes = Callable[[list[Weakening], str, Schema, Schema], Schema]
"""Reports the weaker parts of the second shape, and returns it with those of the first."""


def kept_shapes(
    found: list[Weakening], place: str, old: Schema, new: Schema, compare: CompareShapes
) -> dict[str, Any]:
    """Report what `new` allows of objects beyond `old`; return the attributes that stay.

    A new shape allows more. Where an object may fit two of the old shapes, and so none, any
    change may allow more.
    """
    if new.one_of is None:
        found.append(Weakening(f"{place}: One Of", _names(old), None))
        return {**_shapes(old), "properties": None, "values": None}
    if old.one_of is None:
        before = Schema(types=("object",), properties=old.properties, values=old.values)
        return {"one_of": tuple(_held(found, place, before, p, compare) for p in new.one_of)}
    if not are_apart(old):
        if _same(old, new, compare):
            return {}
        found.append(Weakening(f"{place}: One Of", _names(old), _names(new)))
        return _shapes(old)
    known = {each.name: each.shape for each in old.one_of}
    added = [each.name for each in new.one_of if each.name not in known]
    found += [Weakening(f"{place}: One Of", None, name) for name in added]
    if len(added) == len(new.one_of):
        return _shapes(old)
    later = [each for each in new.one_of if each.name in known]
    held = tuple(_held(found, place, known[each.name], each, compare) for each in later)
    return {"one_of": held}


def kept_result(
    found: list[Weakening], place: str, old: Schema, new: Schema, compare: CompareShapes
) -> Schema:
    """Report the Sensitive fields of a result that are not Sensitive in any shape; keep `old`."""
    count = len(found)
    known: dict[str, Schema] = {}
    for one in old.objects:
        for field in one.properties or ():
            if field.name not in known or field.shape.holds_sensitive:
                known[field.name] = field.shape
    later = [field for one in new.objects for field in one.properties or ()]
    for field in later:
        before = known.get(field.name, old.values or Schema())
        compare(found, f"{place}: {field.name}", before, field.shape)
    names = {field.name for field in later}
    gone = [name for name, was in known.items() if was.holds_sensitive and name not in names]
    found += [Weakening(f"{place}: {name}: Sensitive", True, None) for name in gone]  # noqa: FBT003
    if old.items is not None and old.items.holds_sensitive:
        compare(found, f"{place}: Items", old.items, new.items or Schema())
    return old if len(found) > count else new


def _held(
    found: list[Weakening], place: str, old: Schema, each: Parameter, compare: CompareShapes
) -> Parameter:
    return replace(each, shape=compare(found, f"{place}: {each.name}", old, each.shape))


def _same(old: Schema, new: Schema, compare: CompareShapes) -> bool:
    """Return whether the shapes allow the same: none is weaker, either way."""
    before = {each.name: each.shape for each in old.one_of or ()}
    after = {each.name: each.shape for each in new.one_of or ()}
    found: list[Weakening] = []
    for name in before.keys() & after.keys():
        compare(found, "", before[name], after[name])
        compare(found, "", after[name], before[name])
    return before.keys() == after.keys() and not found


def _shapes(old: Schema) -> dict[str, Any]:
    return {"one_of": old.one_of, "discriminator": old.discriminator}


def _names(shape: Schema) -> list[str]:
    return [each.name for each in shape.one_of or ()]
