"""Read Conditions, AllergyIntolerances, Encounters and DocumentReferences."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from toolmd_simplescribe.fhir.fields import (
    LeftOutError,
    Resource,
    Row,
    at,
    codes,
    in_words,
    named,
    objects,
    when,
    words,
)

_STATES = {
    "active": "active",
    "recurrence": "active",
    "relapse": "active",
    "inactive": "resolved",
    "remission": "resolved",
    "resolved": "resolved",
}
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
    for status in verified:
        if status in _NOT_SO:
            raise LeftOutError(f"its verification status is {status}", name=text)
    if text is None:
        raise LeftOutError("it has no name")
    unsure = next((status for status in verified if status in _UNSURE), None)
    return f"{text} ({unsure})" if unsure else text


def _status(resource: Resource) -> str:
    stated = codes(resource, "clinicalStatus")
    if stated:
        known = next((_STATES[code] for code in stated if code in _STATES), None)
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
    date = when(resource, ("date",), ("context", "period", "start"))
    if date is None:
        raise LeftOutError("it has no date")
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
