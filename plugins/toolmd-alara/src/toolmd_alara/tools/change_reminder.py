"""Change a reminder."""

from typing import Any

from toolmd import Context
from toolmd_alara.agenda import Agenda
from toolmd_alara.health import HealthLog
from toolmd_alara.reminders import NAMES


def change_reminder(  # noqa: PLR0913 - the tool's own parameters
    reminder_id: int,
    title: str | None = None,
    time: str | None = None,
    days: list[str] | None = None,
    reminder_type: str | None = None,
    description: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write what changes to the caller's reminder."""
    given: dict[str, Any] = {
        "title": title,
        "time": time,
        "days": days and [NAMES.index(day) + 1 for day in days],
        "kind": reminder_type,
        "description": description,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    reminder = Agenda(log.of_caller(context)).change(reminder_id, changes)
    return {**reminder, "message": f"Changed reminder: {reminder['title']}"}
