"""End a reminder."""

from typing import Any

from toolmd import Context
from toolmd_alara.agenda import Agenda
from toolmd_alara.health import HealthLog


def end_reminder(reminder_id: int, *, log: HealthLog, context: Context) -> dict[str, Any]:
    """End the caller's reminder."""
    reminder = Agenda(log.of_caller(context)).end(reminder_id)
    return {**reminder, "message": f"Ended reminder: {reminder['title']}"}
