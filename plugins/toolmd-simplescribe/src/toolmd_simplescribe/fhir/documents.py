"""Read DocumentReferences: notes, their metadata apart from their text."""

import base64
import binascii
import re
from hashlib import sha256
from typing import Any

from toolmd_simplescribe.fhir.fields import LeftOutError, Resource, at, named, objects, words
from toolmd_simplescribe.fhir.rows import Row
from toolmd_simplescribe.moments import Moment, moment

LARGEST = 5 * 1024 * 1024
"""The most bytes of a note's text."""
_TITLE, _SUMMARY = 200, 300
"""The most code points of what is told of a note."""
_EXCERPT = 60
"""The most code points that may stand in the note word for word: a title may, a sentence not."""

_ENCODINGS = ("utf-8", "us-ascii", "iso-8859-1", "iso-8859-15", "windows-1252", "utf-16")
"""Of texts; some of Python's others take forever over a hostile one."""


def document(resource: Resource) -> list[Row]:
    """Give the row of a note; raises LeftOutError where it has no date or can't be read."""
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
    """Give the first of these that may be told, cut to a length."""
    note = words(text, longest=len(text) + 1) or ""
    for one in said:
        short = words(one, longest=longest)
        if short and not _gives_away(short.rstrip("…"), note):
            return short
    return None


def _gives_away(told: str, note: str) -> bool:
    """Tell whether it holds the note, or is more of it than a few words."""
    if not note:
        return False
    return note in told or (told in note and (len(told) > _EXCERPT or len(told) * 2 > len(note)))


def _texts(resource: Resource) -> list[str]:
    attachments = [at(content, "attachment") for content in objects(resource, "content")]
    found = (_text(attachment) for attachment in attachments)
    return [text for text in found if text]


def _text(attachment: Any) -> str | None:
    """Give a plain text that the attachment holds; any other stays where it is."""
    kind, _, parameters = (words(attachment, "contentType") or "").partition(";")
    data = at(attachment, "data")
    if kind.strip().lower() != "text/plain" or not isinstance(data, str):
        return None
    if len(data) > LARGEST * 4 // 3 + 4:
        raise LeftOutError(f"its text is larger than {LARGEST // 1024**2} MB")
    try:
        raw = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        raise LeftOutError("its attachment is no base64") from None
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
