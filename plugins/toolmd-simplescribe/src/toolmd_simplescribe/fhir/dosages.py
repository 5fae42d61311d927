"""Read a Dosage: amount, route and frequency, in words."""

from typing import Any

from toolmd_simplescribe.fhir.fields import (
    Resource,
    at,
    in_digits,
    named,
    number,
    objects,
    unit,
    words,
)

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


def in_words(quantity: Any) -> str | None:
    """Return a Quantity such as `500 mg`; None without a number."""
    value = number(quantity, "value")
    return None if value is None else f"{in_digits(value)} {unit(quantity) or ''}".strip()


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
