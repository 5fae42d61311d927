"""Build the clinic's errors: a stable code, and a remedy."""

from datetime import date, datetime

from toolmd import ToolError

from .clock import clock_face, spoken


def no_such_patient(patient_id: str) -> ToolError:
    """Build the error for an unknown patient id."""
    return ToolError(
        f"No family has the patient id {patient_id!r}. Ask the desk for the id on the card.",
        code="patient_not_found",
    )


def no_such_child(name: str, on_file: list[str]) -> ToolError:
    """Build the error for a name that is not a child of the family."""
    return ToolError(
        f"{name!r} is not a child of this family. On file: {', '.join(on_file)}.",
        code="child_not_found",
    )


def named_twice(name: str) -> ToolError:
    """Build the error for a booking that names a child more than once."""
    return ToolError(f"{name} is named twice. Name each child once.", code="child_named_twice")


def past(moment: datetime, now: datetime) -> ToolError:
    """Build the error for a past time."""
    return ToolError(
        f"{spoken(moment)} has passed: it is {spoken(now)}. Choose a later time.",
        code="time_in_past",
    )


def day_in_past(day: date, today: date) -> ToolError:
    """Build the error for a past day."""
    return ToolError(
        f"{day} has passed: today is {today}. Choose today or a later day.", code="date_in_past"
    )


def too_far(day: date, last: date) -> ToolError:
    """Build the error for a day beyond the appointment book."""
    return ToolError(
        f"The appointment book goes to {last}; {day} is later. Choose an earlier day.",
        code="date_too_far",
    )


def offset_given(moment: datetime) -> ToolError:
    """Build the error for a time with an offset from UTC, which the clinic's book does not use."""
    return ToolError(
        f"{moment.isoformat()} has an offset. Use the clinic's own time without one, "
        "exactly as check_availability returns it in `datetime`.",
        code="time_with_offset",
    )


def no_such_slot(moment: datetime) -> ToolError:
    """Build the error for a time without a slot, such as one outside the opening hours."""
    return ToolError(
        f"No slot begins on {spoken(moment)}. Use a time that check_availability returns.",
        code="slot_not_offered",
    )


def taken(moment: datetime, wanted: int, free: int) -> ToolError:
    """Build the error for a time with fewer free chairs than children."""
    return ToolError(
        f"{spoken(moment)} has {_chairs(free)} free and {_chairs(wanted)} "
        f"{'is' if wanted == 1 else 'are'} needed. Ask check_availability for another time.",
        code="slot_taken",
    )


def busy_child(name: str, moment: datetime) -> ToolError:
    """Build the error for a child with another visit at this time."""
    return ToolError(
        f"{name} already has a visit at {clock_face(moment)} on {moment.date()}.",
        code="child_already_booked",
    )


def no_such_booking(booking_id: str) -> ToolError:
    """Build the error for an unknown booking, which includes those of other families."""
    return ToolError(
        f"This family has no booking {booking_id!r}. get_appointment_history lists theirs.",
        code="booking_not_found",
    )


def cancelled(booking_id: str) -> ToolError:
    """Build the error for a cancelled booking."""
    return ToolError(
        f"Booking {booking_id} is cancelled. Make a new one with book_appointment.",
        code="booking_cancelled",
    )


def over(booking_id: str, moment: datetime) -> ToolError:
    """Build the error for a past visit."""
    return ToolError(
        f"Booking {booking_id} was for {spoken(moment)}, which has passed.", code="booking_over"
    )


def other_request(booking_id: str) -> ToolError:
    """Build the error for an idempotency key of another request."""
    return ToolError(
        f"This request was already used for booking {booking_id}, with other details. "
        "Nothing was booked.",
        code="idempotency_conflict",
    )


def _chairs(count: int) -> str:
    return "1 chair" if count == 1 else f"{count} chairs"
