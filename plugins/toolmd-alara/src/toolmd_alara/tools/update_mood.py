"""Log a mood."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def update_mood(mood: str, *, log: HealthLog, context: Context) -> dict[str, Any]:
    """Write the check-in to the caller's log."""
    entry = log.of_caller(context).write("check_in", context.idempotency_key, {"mood": mood})
    return {**entry, "message": f"Updated mood to {mood}"}
