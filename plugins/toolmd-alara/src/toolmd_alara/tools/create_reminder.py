"""Create a reminder on days that count from Monday 1."""

from datetime import time as time_of_day
from typing import Any

from toolmd import Context
from toolmd_alara.agenda import Agenda
from toolmd_alara.health import HealthLog


def create_reminder(  # noqa: PLR0913 - the tool's own parameters
    title: str,
    time: str,
    days: list[int],
    reminder_type: str | None = None,
    description: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write the reminder to the caller's log."""
    reminder = Agenda(log.of_caller(context)).add(
        context.idempotency_key,
        title=title,
        at=time_of_day.fromisoformat(time),
        days=days,
        kind=reminder_type,
        description=description,
    )
    return {**reminder, "message": f"Created reminder: {title}"}
