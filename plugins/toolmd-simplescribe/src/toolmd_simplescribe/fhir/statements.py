"""Read medications, Conditions, AllergyIntolerances, Encounters and DocumentReferences."""

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

from toolmd_simplescribe.fhir.fields import (
    LeftOutError,
    Resource,
    Row,
    at,
    codes,
    dated,
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
    "active": "active", "on-hold": "stopped", "cancelled": "stopped", "completed": "stopped",
    "stopped": "stopped",
}  # fmt: skip
_NO_ORDER = ("proposal", "option")
_STARTS = (("effectivePeriod", "start"), ("effectiveDateTime",), ("authoredOn",))
_UNITS = {
    "s": "second", "min": "minute", "h": "hour", "d": "day", "wk": "week", "mo": "month",
    "a": "year",
}  # fmt: skip
_EVENTS = {
    "MORN": "in the morning", "NOON": "at noon", "AFT": "in the afternoon",
    "EVE": "in the evening", "NIGHT": "at night", "HS": "at bedtime", "WAKE": "on waking",
    "AC": "before meals", "C": "with meals", "PC": "after meals",
}  # fmt: skip


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


_COURSES = {
    "active": "active", "recurrence": "active", "relapse": "active", "inactive": "resolved",
    "remission": "resolved", "resolved": "resolved",
}  # fmt: skip
_NOT_SO = ("refuted", "entered-in-error")
_UNSURE = ("unconfirmed", "provisional", "differential", "presumed")
LARGEST = 5 * 1024 * 1024
"""Size limit of a note's text, in bytes."""
_TITLE, _SUMMARY = 200, 300
"""Size limits of the metadata, in code points."""
_EXCERPT = 60
"""Longest verbatim part of the note in its metadata, in code points: a title, not a sentence."""

_ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "utf-16")
"""Allowed encodings of texts; some of Python's others are very slow on hostile input."""


def condition(resource: Resource) -> Iterator[Row]:
    """Return the row of a problem."""
    text = _stated(resource)
    date = when(resource, ("onsetDateTime",), ("onsetPeriod", "start"))
    onset = date.text if date else words(resource, "onsetString")
    if date is None and (age := in_words(at(resource, "onsetAge"))) is not None:
        onset = f"at the age of {age}"
    status = _status(resource)
    item = {"text": text, "status": status, "onset": onset}
    yield Row("problems", status, date and date.at, item)


def allergy(resource: Resource) -> Iterator[Row]:
    """Return the row of an allergy or intolerance."""
    text = _stated(resource)
    reactions = objects(resource, "reaction")
    shown = [named(sign) for one in reactions for sign in objects(one, "manifestation")]
    date = when(resource, ("onsetDateTime",), ("recordedDate",))
    status = _status(resource)
    item = {
        "text": text,
        "status": status,
        "criticality": words(resource, "criticality", longest=50),
        "reaction": words(", ".join(dict.fromkeys(one for one in shown if one))),
        "recorded": date and date.text,
    }
    yield Row("allergies", status, date and date.at, item)


def encounter(resource: Resource) -> Iterator[Row]:
    """Return the row of an encounter."""
    kinds = [named(one) for one in objects(resource, "type")]
    kinds.append(words(resource, "class", "display") or words(resource, "class", "code"))
    text = next((one for one in kinds if one), None)
    status = words(resource, "status")
    if status in ("entered-in-error", "unknown", None):
        raise LeftOutError(f"its status is {status or 'missing'}", name=text)
    date = when(resource, ("period", "start"))
    if date is None:
        raise LeftOutError("it has no date", name=text)
    end = when(resource, ("period", "end"))
    reasons = [named(one) for one in objects(resource, "reasonCode")]
    item = {
        "type": text or "Encounter",
        "status": status,
        "start": date.text,
        "end": end and end.text,
        "reason": words("; ".join(one for one in reasons if one)),
    }
    yield Row("encounters", "", date.at, item)


def _stated(resource: Resource) -> str:
    """Return the name of a problem or an allergy; what is not certain is marked."""
    text = named(resource, "code")
    verified = codes(resource, "verificationStatus")
    if wrong := next((status for status in verified if status in _NOT_SO), None):
        raise LeftOutError(f"its verification status is {wrong}", name=text)
    if text is None:
        raise LeftOutError("it has no name")
    unsure = next((status for status in verified if status in _UNSURE), None)
    return f"{text} ({unsure})" if unsure else text


def _status(resource: Resource) -> str:
    stated = codes(resource, "clinicalStatus")
    if stated:
        known = next((_COURSES[code] for code in stated if code in _COURSES), None)
        if known is None:
            reason = f"its clinical status is {stated[0]}"
            raise LeftOutError(reason, name=named(resource, "code"))
        return known
    # It counts as active unless a record says that it is over.
    over = any(at(resource, name) for name in resource if name.startswith("abatement"))
    return "resolved" if over else "active"


def document(resource: Resource) -> Iterator[Row]:
    """Return the row of a note, its text apart from its metadata."""
    for field in ("status", "docStatus"):
        status = words(resource, field)
        if status in ("superseded", "entered-in-error"):
            raise LeftOutError(f"its {field} is {status}")
    texts = (_text(at(content, "attachment")) for content in objects(resource, "content"))
    text = "\n\n".join(one for one in texts if one)
    date = dated(resource, ("date",), ("context", "period", "start"))
    kinds = [
        words(resource, "content", 0, "attachment", "title"),
        named(resource, "type"),
        *(named(category) for category in objects(resource, "category")),
        "Note",
    ]
    draft = words(resource, "docStatus") == "preliminary"
    title = _shown(text, _TITLE, *kinds) or "Note"
    item = {
        "date": date.text,
        "title": f"{title} (draft)" if draft else title,
        "service": _shown(text, _TITLE, named(resource, "context", "practiceSetting")),
        "summary": _shown(text, _SUMMARY, words(resource, "description")),
    }
    yield Row("notes", "draft" if draft else "", date.at, item, text)


def _shown(text: str, longest: int, *stated: str | None) -> str | None:
    """Return the first of these texts that may be shown, cut to a length."""
    note = words(text, longest=len(text) + 1) or ""
    for one in stated:
        short = words(one, longest=longest)
        if short and not _gives_away(short.rstrip("…"), note):
            return short
    return None


def _gives_away(shown: str, note: str) -> bool:
    """Return whether the text contains the note, or more than a few words of it."""
    if not note:
        return False
    return note in shown or (
        shown in note and (len(shown) > _EXCERPT or len(shown) * 2 > len(note))
    )


def _text(attachment: Any) -> str | None:
    """Return the plain text of the attachment; other types are not read."""
    kind, _, parameters = (words(attachment, "contentType") or "").partition(";")
    data = at(attachment, "data")
    if kind.strip().lower() != "text/plain" or not isinstance(data, str):
        return None
    if len(data) > LARGEST * 4 // 3 + 4:
        raise LeftOutError(f"its text is larger than {LARGEST // 1024**2} MB")
    try:
        raw = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise LeftOutError("its attachment is not base64") from None
    charset = re.search(r"charset\s*=\s*\"?([\w.:-]+)", parameters, re.ASCII | re.IGNORECASE)
    encoding = charset[1].lower() if charset else "utf-8"
    if encoding not in _ENCODINGS:
        raise LeftOutError(f"its text is encoded as {encoding[:40]}")
    try:
        text = raw.decode(encoding)
    except UnicodeError:
        raise LeftOutError("its text is not in the encoding that it names") from None
    return text.replace("\0", " ").encode("utf-8", "replace").decode().strip()
