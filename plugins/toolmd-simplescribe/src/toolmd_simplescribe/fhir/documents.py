"""Read DocumentReferences: notes, with their metadata separate from their text."""

import base64
import binascii
import re
from hashlib import sha256
from typing import Any

from toolmd_simplescribe.fhir.fields import LeftOutError, Resource, at, named, objects, words
from toolmd_simplescribe.fhir.rows import Row
from toolmd_simplescribe.moments import Moment, moment

LARGEST = 5 * 1024 * 1024
"""Size limit of a note's text, in bytes."""
_TITLE, _SUMMARY = 200, 300
"""Size limits of the metadata, in code points."""
_EXCERPT = 60
"""Longest verbatim part of the note in its metadata, in code points: a title, not a sentence."""

_ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "utf-16")
"""Allowed encodings of texts; some of Python's others are very slow on hostile input."""


def document(resource: Resource) -> list[Row]:
    """Return the row of a note; raises LeftOutError without a date or a readable text."""
    for name in ("status", "docStatus"):
        status = words(resource, name)
        if status in ("superseded", "entered-in-error"):
            raise LeftOutError(f"its {name} is {status}")
    text = "\n\n".join(_texts(resource))
    when = _when(resource)
    kinds = [
        words(resource, "content", 0, "attachment", "title"),
        named(resource, "type"),
        *(named(category) for category in objects(resource, "category")),
        "Note",
    ]
    return [
        Row(
            "note",
            {
                "id": words(resource, "id"),
                "title": _told(text, _TITLE, *kinds) or "Note",
                "service": _told(text, _TITLE, named(resource, "context", "practiceSetting")),
                "summary": _told(text, _SUMMARY, words(resource, "description")),
                "text": text,
                "digest": sha256(text.encode()).hexdigest(),
                "at": when.at,
                "date": when.text,
            },
        )
    ]


def _told(text: str, longest: int, *said: str | None) -> str | None:
    """Return the first of these texts that may be shown, cut to a length."""
    note = words(text, longest=len(text) + 1) or ""
    for one in said:
        short = words(one, longest=longest)
        if short and not _gives_away(short.rstrip("…"), note):
            return short
    return None


def _gives_away(told: str, note: str) -> bool:
    """Return whether the text contains the note, or more than a few words of it."""
    if not note:
        return False
    return note in told or (told in note and (len(told) > _EXCERPT or len(told) * 2 > len(note)))


def _texts(resource: Resource) -> list[str]:
    attachments = [at(content, "attachment") for content in objects(resource, "content")]
    found = (_text(attachment) for attachment in attachments)
    return [text for text in found if text]


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


def _when(resource: Resource) -> Moment:
    for path in (("date",), ("context", "period", "start")):
        if (text := words(resource, *path)) is not None:
            try:
                return moment(text)
            except ValueError as error:
                raise LeftOutError(f"its date can't be read: {error}") from None
    raise LeftOutError("it has no date")
