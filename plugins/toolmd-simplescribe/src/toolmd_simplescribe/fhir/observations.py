"""Read Observations: laboratory results and vital signs."""

from collections.abc import Iterator
from typing import Any

from toolmd_simplescribe.codes import DIASTOLIC, NAMES, SYSTOLIC, VITALS
from toolmd_simplescribe.fhir.fields import (
    LeftOutError,
    Resource,
    at,
    codes,
    in_digits,
    loinc,
    named,
    number,
    objects,
    unit,
    words,
)
from toolmd_simplescribe.fhir.rows import Row
from toolmd_simplescribe.moments import Moment, moment

_SETTLED = ("final", "amended", "corrected", None)
"""The statuses of a settled value; an item has no field for a preliminary one."""
_VALUES = (
    "valueCodeableConcept",
    "valueString",
    "valueDateTime",
    "valueTime",
)
_Value = int | float | str


def observation(resource: Resource) -> list[Row]:
    """Return the rows of an Observation; raises LeftOutError if no tool returns it."""
    status = words(resource, "status")
    if status not in _SETTLED:
        raise LeftOutError(f"its status is {status}")
    found = list(loinc(resource))
    kind = next((VITALS[code] for code, _ in found if code in VITALS), None)
    if kind is not None:
        return [_vital(resource, kind)]
    return list(_labs(resource))


def _labs(resource: Resource) -> Iterator[Row]:
    """Return a result, and each part of a panel with its own code."""
    is_lab = "laboratory" in [
        code for category in objects(resource, "category") for code in codes(category)
    ]
    when = None
    left_out = "no tool returns this measurement"
    for part in (resource, *objects(resource, "component")):
        found = list(loinc(part))
        chosen = next((one for one in found if one[0] in NAMES), None)
        if chosen is None and (not is_lab or not found):
            continue
        code, display = chosen or found[0]
        value, measured = _value(part)
        if value is None:
            left_out = "it has no value"
        elif measured is None:
            left_out = "its number has no unit"
        else:
            when = when or _when(resource)
            yield Row(
                "lab",
                {
                    "code": code,
                    "display": display or NAMES.get(code, code),
                    "value": value,
                    "unit": measured,
                    "reference_range": _reference_range(part),
                    "at": when.at,
                    "effective": when.text,
                },
            )
    if when is None:
        raise LeftOutError(left_out)


def _vital(resource: Resource, kind: str) -> Row:
    value, measured = _pressure(resource) if kind == "BP" else _value(resource)
    if value is None:
        raise LeftOutError("it has no value")
    if not measured:
        raise LeftOutError("its number has no unit")
    when = _when(resource)
    values = {"type": kind, "value": value, "unit": measured}
    return Row("vital", {**values, "at": when.at, "effective": when.text})


def _pressure(resource: Resource) -> tuple[str, str]:
    """Return a panel's two pressures as `120/80`, and their unit."""
    read: dict[str, tuple[float, str | None]] = {}
    for component in objects(resource, "component"):
        value = number(component, "valueQuantity", "value")
        for code, _ in loinc(component):
            if code in (SYSTOLIC, DIASTOLIC) and value is not None:
                if code in read:
                    raise LeftOutError("it has one of the two pressures twice")
                read[code] = value, unit(at(component, "valueQuantity"))
    if len(read) < len((SYSTOLIC, DIASTOLIC)):
        raise LeftOutError("it lacks one of the two pressures")
    (upper, measured), (lower, other) = read[SYSTOLIC], read[DIASTOLIC]
    if measured != other:
        raise LeftOutError("its two pressures have different units")
    return f"{in_digits(upper)}/{in_digits(lower)}", measured or ""


def _value(part: Resource) -> tuple[_Value | None, str | None]:
    """Return a value and its unit: None if missing, an empty unit for a text."""
    quantity = at(part, "valueQuantity")
    if quantity is not None:
        measured = number(quantity, "value")
        comparator = words(quantity, "comparator", longest=2)
        if measured is None or comparator is None:
            return measured, unit(quantity)
        return f"{comparator}{in_digits(measured)}", unit(quantity)
    if (whole := number(part, "valueInteger")) is not None:
        return whole, ""
    if isinstance(truth := at(part, "valueBoolean"), bool):
        return "true" if truth else "false", ""
    if (ends := at(part, "valueRange")) is not None:
        return _range(ends), unit(at(ends, "low")) or unit(at(ends, "high"))
    if (ratio := at(part, "valueRatio")) is not None:
        return _ratio(ratio), ""
    said = (named(part, name) or words(part, name) for name in _VALUES)
    return next((one for one in said if one), None), ""


def _ratio(ratio: Any) -> str | None:
    above, below = (number(ratio, side, "value") for side in ("numerator", "denominator"))
    return None if above is None or below is None else f"{in_digits(above)}:{in_digits(below)}"


def _range(ends: Any) -> str | None:
    low, high = (number(ends, end, "value") for end in ("low", "high"))
    if low is not None and high is not None:
        return f"{in_digits(low)}-{in_digits(high)}"
    if low is not None:
        return f">={in_digits(low)}"
    return None if high is None else f"<={in_digits(high)}"


def _reference_range(part: Resource) -> str | None:
    """Return the reference ranges in words, each with the group that it applies to."""
    said = []
    for one in objects(part, "referenceRange"):
        measured = unit(at(one, "low")) or unit(at(one, "high")) or ""
        told = words(one, "text") or f"{_range(one) or ''} {measured}".strip()
        whom = [name for whom in objects(one, "appliesTo") if (name := named(whom))]
        if (
            told
            and (kind := named(one, "type"))
            and "normal" not in (kind.lower(), *codes(one, "type"))
        ):
            whom.insert(0, kind)
        if told:
            said.append(f"{told} ({', '.join(whom)})" if whom else told)
    return words("; ".join(said)) if said else None


def _when(resource: Resource) -> Moment:
    for path in (
        ("effectiveDateTime",),
        ("effectiveInstant",),
        ("effectivePeriod", "start"),
        ("effectivePeriod", "end"),
        ("issued",),
    ):
        if (text := words(resource, *path)) is not None:
            try:
                return moment(text)
            except ValueError as error:
                raise LeftOutError(f"its {path[0]} can't be read: {error}") from None
    raise LeftOutError("it has no date")
