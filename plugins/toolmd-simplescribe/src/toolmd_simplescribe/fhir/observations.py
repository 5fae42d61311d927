"""Read Observations: laboratory results and vital signs."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

from toolmd_simplescribe.fhir.fields import (
    LeftOutError,
    Resource,
    Row,
    at,
    codes,
    dated,
    in_digits,
    loinc,
    named,
    number,
    objects,
    unit,
    words,
)

NAMES: Final = dict(
    re.findall(
        r"^\| (\d+-\d) \| (.+) \|$",
        (files("toolmd_simplescribe") / "tools" / "get-labs.tool.md").read_text("utf-8"),
        re.MULTILINE,
    )
)
"""Names of common results, as the file of get_labs lists them.

A result with one of these codes is a laboratory result even without that category.
"""

VITALS: Final = {
    "29463-7": "Weight", "3141-9": "Weight", "39156-5": "BMI", "85354-9": "BP", "55284-4": "BP",
    "8867-4": "Pulse", "8310-5": "Temperature", "8331-1": "Temperature", "9279-1": "Respiration",
    "2708-6": "Oxygen", "59408-5": "Oxygen",
}  # fmt: skip
"""The kinds of get_vitals by code; BP is a panel of the two pressures."""

SYSTOLIC: Final = "8480-6"
DIASTOLIC: Final = "8462-4"

_SETTLED = ("final", "amended", "corrected", None)
"""The statuses of a settled value; an item has no field for a preliminary one."""
_VALUES = (
    "valueCodeableConcept",
    "valueString",
    "valueDateTime",
    "valueTime",
)
_Value = int | float | str
_DATES = (
    ("effectiveDateTime",),
    ("effectiveInstant",),
    ("effectivePeriod", "start"),
    ("effectivePeriod", "end"),
    ("issued",),
)
_FLAGS = {
    "H": "high", "HH": "critically high", "HU": "high", "L": "low", "LL": "critically low",
    "LU": "low", "A": "abnormal", "AA": "critically abnormal", "POS": "positive",
}  # fmt: skip
"""The codes of a laboratory's interpretation that are no everyday result."""


def observation(resource: Resource) -> Iterator[Row | LeftOutError]:
    """Return the rows of an Observation, and what no tool returns."""
    of = {code for category in objects(resource, "category") for code in codes(category)}
    found = list(loinc(resource))
    sign = next((VITALS[code] for code, _ in found if code in VITALS), None)
    is_lab = "laboratory" in of or any(code in NAMES for code, _ in found)
    try:
        yield from _rows(resource, sign, is_lab=is_lab)
    except LeftOutError as why:
        kind = "vitals" if sign or "vital-signs" in of else "labs" if is_lab else "none"
        yield LeftOutError(str(why), kind, named(resource, "code"))


def _rows(resource: Resource, sign: str | None, *, is_lab: bool) -> list[Row | LeftOutError]:
    status = words(resource, "status")
    if status not in _SETTLED:
        raise LeftOutError(f"its status is {status}")
    if sign:
        return [_vital(resource, sign)]
    rows = list(_labs(resource, is_lab=is_lab))
    if not rows:
        empty = is_lab and any(True for _ in loinc(resource))
        raise LeftOutError("it has no value" if empty else "no tool returns this measurement")
    return rows


def _labs(resource: Resource, *, is_lab: bool) -> Iterator[Row | LeftOutError]:
    """Return a result, and each part of a panel with its own code."""
    parts = objects(resource, "component")
    date = None
    for part in (resource, *parts):
        found = list(loinc(part))
        chosen = next((one for one in found if one[0] in NAMES), None)
        if chosen is None and (not is_lab or not found):
            continue
        code, display = chosen or found[0]
        display = display or NAMES.get(code, code)
        value, measured = _value(part)
        if value is None:
            # A panel itself has no value, and a part may be absent.
            if part is resource and not parts:
                yield LeftOutError("it has no value", "labs", display)
        elif measured is None:
            yield LeftOutError("its number has no unit", "labs", display)
        else:
            date = date or dated(resource, *_DATES)
            item = {"code": code, "display": display, "value": value, "unit": measured}
            usual = _reference_range(part, value, measured)
            more = {"referenceRange": usual, "effectiveDateTime": date.text}
            yield Row("labs", code, date.at, item | more)


def _vital(resource: Resource, kind: str) -> Row:
    value, measured = _pressure(resource) if kind == "BP" else _value(resource)
    if value is None:
        raise LeftOutError("it has no value")
    if not measured:
        raise LeftOutError("its number has no unit")
    date = dated(resource, *_DATES)
    item = {"type": kind, "value": value, "unit": measured, "effectiveDateTime": date.text}
    return Row("vitals", kind, date.at, item)


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
    return f"{in_digits(round(upper, 1))}/{in_digits(round(lower, 1))}", measured or ""


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
    if low is None:
        return None if high is None else f"<={in_digits(high)}"
    return f">={in_digits(low)}" if high is None else f"{in_digits(low)}-{in_digits(high)}"


def _reference_range(part: Resource, value: _Value, measured_in: str) -> str | None:
    """Return the ranges in words, each with its group, and a flag such as `[high]` behind them."""
    flags = (_FLAGS.get(c) for one in objects(part, "interpretation") for c in codes(one))
    flag = next((one for one in flags if one), None)
    said = []
    for one in objects(part, "referenceRange"):
        measured = unit(at(one, "low")) or unit(at(one, "high")) or ""
        told = words(one, "text") or f"{_range(one) or ''} {measured}".strip()
        kind = named(one, "type") or "normal"
        usual = "normal" in (kind.lower(), *codes(one, "type"))
        whom = [None if usual else kind, *map(named, objects(one, "appliesTo"))]
        group = ", ".join(filter(None, whom))
        said += [f"{told} ({group})" if group else told] if told else []
    ranges = objects(part, "referenceRange")
    if flag is None and len(ranges) == 1 and isinstance(value, int | float):
        flag = _flag(ranges[0], value, measured_in)
    return words(" ".join(["; ".join(said), f"[{flag}]" if flag else ""]))


def _flag(usual: Resource, value: float, measured_in: str) -> str | None:
    """Compare a number with the one range for everybody, if both have the same unit."""
    low, high = (number(usual, end, "value") for end in ("low", "high"))
    units = {unit(at(usual, end)) or measured_in for end in ("low", "high")}
    if objects(usual, "appliesTo") or at(usual, "age") or units != {measured_in}:
        return None
    if low is not None and value < low:
        return "low"
    return "high" if high is not None and value > high else None
