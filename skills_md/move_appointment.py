"""Move a visit to the first day with room, as near to its old hour as possible."""

import asyncio
from datetime import datetime
from typing import Any

from toolmd import Context, Result, SkillResult


async def move_appointment(  # the document's inputs
    patient_id: str,
    booking_id: str,
    days: list[str],
    time_range: str,
    parent_phone: str,
    *,
    context: Context,
) -> SkillResult:
    """Run the workflow of the document; every call goes through the pipeline."""
    history = await context.call("get_appointment_history", {"limit": 50})
    if not history.success:
        return _stays(f"The visits of {patient_id} can't be read: {_why(history)}")
    visit = _ahead(history.data, booking_id)
    if visit is None:
        return _stays(f"No visit {booking_id} lies ahead. Nothing was moved.")
    asked = {"time_range": time_range, "num_children": len(visit["child_names"])}
    answers = await asyncio.gather(
        *(context.call("check_availability", {"date": day, **asked}) for day in days)
    )
    for answer in answers:
        for slot in _nearest_first(answer.data or [], visit["datetime"]):
            moved = await context.call(
                "reschedule_appointment", {"booking_id": booking_id, "new_time": slot["datetime"]}
            )
            if moved.success:
                return await _tell(context, moved.data, parent_phone)
            if moved.error is None or moved.error.code != "slot_taken":
                return _stays(f"The visit was not moved: {_why(moved)}")
    faults = "".join(f" {_why(answer)}" for answer in answers if not answer.success)
    return _stays(
        f"No room in the {time_range} of {', '.join(days)}.{faults} "
        f"The visit stays at {visit['time']} on {visit['date']}."
    )


def _ahead(visits: list[dict[str, Any]], booking_id: str) -> dict[str, Any] | None:
    return next(
        (v for v in visits if v["booking_id"] == booking_id and v["status"] == "booked"), None
    )


def _nearest_first(slots: list[dict[str, Any]], old: str) -> list[dict[str, Any]]:
    def minute(moment: str) -> int:
        at = datetime.fromisoformat(moment)
        return at.hour * 60 + at.minute

    return sorted(slots, key=lambda slot: abs(minute(slot["datetime"]) - minute(old)))


async def _tell(context: Context, visit: dict[str, Any], parent_phone: str) -> SkillResult:
    details = f"{visit['time']} on {visit['date']} for {' and '.join(visit['child_names'])}"
    text = await context.call(
        "send_confirmation_sms", {"phone_number": parent_phone, "appointment_details": details}
    )
    told = "" if text.success else " The text to the parent could not be sent."
    names = {"booking_id": "appointmentId", "datetime": "datetime", "time": "time",
             "child_names": "childNames"}  # fmt: skip
    data = {name: visit[known] for known, name in names.items()}
    return SkillResult(success=True, message=f"Moved to {details}.{told}", data=data)


def _why(result: Result) -> str:
    return result.error.message if result.error else result.message


def _stays(message: str) -> SkillResult:
    return SkillResult(success=False, message=message, error=message)
