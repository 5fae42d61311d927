"""Snooze a reminder."""

from typing import Any

from toolmd import Context
from toolmd_alara.agenda import Agenda
from toolmd_alara.health import HealthLog


def snooze_reminder(
    reminder_id: int, minutes: int, *, log: HealthLog, context: Context
) -> dict[str, Any]:
    """Let the caller's reminder come again later."""
    agenda = Agenda(log.of_caller(context))
    reminder = agenda.snooze(reminder_id, minutes, context.idempotency_key)
    return {**reminder, "message": f"Snoozed reminder: {reminder['title']}"}
