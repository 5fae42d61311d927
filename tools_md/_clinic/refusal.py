"""Refuse what the clinic can't do: each code with its words and a remedy."""

from datetime import datetime
from typing import Any, Final

from toolmd import ToolError

from .clock import spoken

WORDS: Final = {
    "patient_not_found": "No family has the patient id {!r}. Ask the desk for the id on the card.",
    "no_families": (
        "The clinic has no families yet. The desk adds one with register_family, and "
        "`toolmd clinic seed` adds those of the demonstration."
    ),
    "child_not_found": "{!r} is not a child of this family. On file: {}.",
    "child_named_twice": "{} is named twice. Name each child once.",
    "time_in_past": "{} has passed: it is {}. Choose a later time.",
    "date_in_past": "{} has passed: today is {}. Choose today or a later day.",
    "date_too_far": "The appointment book goes to {}; {} is later. Choose an earlier day.",
    "time_with_offset": (
        "{} has an offset. Use the clinic's own time without one, exactly as check_availability "
        "returns it in `datetime`."
    ),
    "slot_not_offered": "No slot begins on {}. Use a time that check_availability returns.",
    "slot_taken": ("{} has {} free and {} {} needed. Ask check_availability for another time."),
    "child_already_booked": "{} already has a visit at {} on {}.",
    "booking_not_found": ("This family has no booking {!r}. get_appointment_history lists theirs."),
    "booking_cancelled": "Booking {} is cancelled. Make a new one with book_appointment.",
    "booking_over": "Booking {} was for {}, which has passed.",
    "idempotency_conflict": (
        "This request was already used for booking {}, with other details. Nothing was booked."
    ),
}


def refuse(code: str, *values: Any) -> ToolError:
    """Build the error of a code; times are written as people say them."""
    shown = (spoken(one) if isinstance(one, datetime) else one for one in values)
    return ToolError(WORDS[code].format(*shown), code=code)


def chairs(count: int) -> str:
    """Return a number of chairs in words."""
    return "1 chair" if count == 1 else f"{count} chairs"
