"""Read Conditions as active or resolved problems."""

from toolmd_simplescribe.fhir.dosages import in_words
from toolmd_simplescribe.fhir.fields import LeftOutError, Resource, at, codes, named, words
from toolmd_simplescribe.fhir.rows import Row
from toolmd_simplescribe.moments import moment

_STATES = {
    "active": "active",
    "recurrence": "active",
    "relapse": "active",
    "inactive": "resolved",
    "remission": "resolved",
    "resolved": "resolved",
}
_NOT_SO = ("refuted", "entered-in-error")


def condition(resource: Resource) -> list[Row]:
    """Return the row of a Condition; raises LeftOutError without a problem or a name."""
    for status in codes(resource, "verificationStatus"):
        if status in _NOT_SO:
            raise LeftOutError(f"its verification status is {status}")
    text = named(resource, "code")
    if text is None:
        raise LeftOutError("it has no name")
    onset, began = _onset(resource)
    return [
        Row(
            "problem",
            {"text": text, "status": _status(resource), "onset": onset, "at": began},
        )
    ]


def _status(resource: Resource) -> str:
    stated = codes(resource, "clinicalStatus")
    if stated:
        known = next((_STATES[code] for code in stated if code in _STATES), None)
        if known is None:
            raise LeftOutError(f"its clinical status is {stated[0]}")
        return known
    # A condition counts as active unless a record says that it is over.
    over = any(at(resource, name) for name in resource if name.startswith("abatement"))
    return "resolved" if over else "active"


def _onset(resource: Resource) -> tuple[str | None, int | None]:
    """Return the onset, as recorded, and as an instant where it is a date."""
    for path in (("onsetDateTime",), ("onsetPeriod", "start")):
        if (text := words(resource, *path)) is not None:
            try:
                return text, moment(text).at
            except ValueError as error:
                raise LeftOutError(f"its onset can't be read: {error}") from None
    if (age := in_words(at(resource, "onsetAge"))) is not None:
        return f"at the age of {age}", None
    return words(resource, "onsetString"), None
