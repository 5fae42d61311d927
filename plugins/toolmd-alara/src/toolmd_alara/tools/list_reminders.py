"""List the caller's reminders."""

from typing import Any

from toolmd import Context
from toolmd_alara.agenda import Agenda
from toolmd_alara.health import HealthLog


def list_reminders(
    include_ended: bool = False,  # noqa: FBT001, FBT002 - the tool's own parameter
    *,
    log: HealthLog,
    context: Context,
) -> list[dict[str, Any]]:
    """Return the reminders, the next one first."""
    return Agenda(log.of_caller(context)).all(ended=include_ended)
