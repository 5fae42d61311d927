"""Read MedicationRequests and MedicationStatements: medications, with status and dosage."""

from collections.abc import Callable, Iterator
from typing import Any

from toolmd_simplescribe.fhir.fields import (
    LeftOutError,
    Resource,
    Row,
    at,
    in_digits,
    in_words,
    named,
    number,
    objects,
    when,
    words,
)

Find = Callable[[str], Resource | None]
"""Returns the resource that a reference names, if the bundle has it."""

_STATES = {
    "active": "active",
    "on-hold": "stopped",
    "cancelled": "stopped",
    "completed": "stopped",
    "stopped": "stopped",
}
_NO_ORDER = ("proposal", "option")
_STARTS = (("effectivePeriod", "start"), ("effectiveDateTime",), ("authoredOn",))
_UNITS = {
    "s": "second",
    "min": "minute",
    "h": "hour",
    "d": "day",
    "wk": "week",
    "mo": "month",
    "a": "year",
}
_EVENTS = {
    "MORN": "in the morning",
    "NOON": "at noon",
    "AFT": "in the afternoon",
    "EVE": "in the evening",
    "NIGHT": "at night",
    "HS": "at bedtime",
    "WAKE": "on waking",
    "AC": "before meals",
    "C": "with meals",
    "PC": "after meals",
}


def medication(resource: Resource, find: Find) -> Iterator[Row]:
    """Return the row of a medication that is taken, or was."""
    name = _name(resource, find)
    if at(resource, "doNotPerform") not in (None, False):
        raise LeftOutError("it says that this must NOT be given", name=name)
    status = words(resource, "status")
    if status not in _STATES:
        raise LeftOutError(f"its status is {status or 'missing'}", name=name)
    if (intent := words(resource, "intent")) in _NO_ORDER:
        raise LeftOutError(f"it is not an order, its intent is {intent}", name=name)
    if name is None:
        raise LeftOutError("its medication has no name")
    instructions = objects(resource, "dosageInstruction") + objects(resource, "dosage")
    # The date nearest to the dose counts.
    bounds = (when(one, ("timing", "repeat", "boundsPeriod", "start")) for one in instructions)
    start = next((one for one in bounds if one), None) or when(resource, *_STARTS)
    item = {"name": name, **dosage(instructions), "startDate": start and start.text}
    status = _STATES[status]
    yield Row("medications", status, start and start.at, {**item, "status": status})


def _name(resource: Resource, find: Find) -> str | None:
    if (name := named(resource, "medicationCodeableConcept")) is not None:
        return name
    reference = words(resource, "medicationReference", "reference")
    found = find(reference) if reference else None
    good = at(found, "resourceType") == "Medication" and at(found, "status") != "entered-in-error"
    return (named(found, "code") if good else None) or words(
        resource, "medicationReference", "display"
    )


def dosage(instructions: list[Resource]) -> dict[str, str]:
    """Return `{dose, route, frequency}` of a medication's instructions; empty means not stated.

    Several instructions are joined in order. Where only prose has the amount, the dose is the
    instruction as written.
    """
    told = {
        "dose": [_dose(one) or words(one, "text") for one in instructions],
        "route": [named(one, "route") for one in instructions],
        "frequency": [_frequency(one) for one in instructions],
    }
    return {
        name: words("; ".join(dict.fromkeys(one for one in said if one))) or ""
        for name, said in told.items()
    }


def _dose(instruction: Resource) -> str | None:
    for rate in objects(instruction, "doseAndRate"):
        if (amount := in_words(at(rate, "doseQuantity"))) is not None:
            return amount
        low, high = (at(rate, "doseRange", end) for end in ("low", "high"))
        least, most = number(low, "value"), in_words(high)
        if least is not None and most is not None:
            return f"{in_digits(least)}-{most}"
        if (only := in_words(low) or most) is not None:
            return only
    return None


def _frequency(instruction: Resource) -> str | None:
    """Return the frequency: the timing's repetition, else its name (BID), and the need."""
    timing = at(instruction, "timing")
    said = [_repeated(at(timing, "repeat")) or named(timing, "code")]
    if (reason := named(instruction, "asNeededCodeableConcept")) is not None:
        said.append(f"as needed for {reason}")
    elif at(instruction, "asNeededBoolean") is True:
        said.append("as needed")
    return ", ".join(one for one in said if one) or None


def _repeated(repeat: Any) -> str | None:
    times, period = number(repeat, "frequency"), number(repeat, "period")
    span = _UNITS.get(words(repeat, "periodUnit") or "")
    said = []
    if period is not None and span is not None:
        every = f"every {span}" if period == 1 else f"every {in_digits(period)} {span}s"
        most = number(repeat, "frequencyMax")
        if times is not None and most is not None:
            said.append(f"{in_digits(times)}-{in_digits(most)} times {every}")
        else:
            said.append(every if times in (None, 1) else f"{in_digits(times or 1)} times {every}")
    listed = at(repeat, "when")
    if isinstance(listed, list):
        said += [_EVENTS[event] for event in listed if isinstance(event, str) and event in _EVENTS]
    days = at(repeat, "dayOfWeek")
    if isinstance(days, list) and (named_days := [day for day in days if isinstance(day, str)]):
        said.append(f"on {', '.join(named_days[:7])}")
    return " ".join(said) or None
