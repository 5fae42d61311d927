"""Write a permanent care log."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def create_care_log(  # noqa: PLR0913 - the tool's own parameters
    *,
    log_type: str,
    title: str,
    occurred_at: str,
    diagnosis: str | None = None,
    treatment: str | None = None,
    notes: str | None = None,
    duration_minutes: int | None = None,
    location_type: str | None = None,
    location_name: str | None = None,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write the event to the caller's log, which can't be changed later."""
    values = {
        "kind": log_type,
        "title": title,
        "occurred_at": occurred_at,
        "diagnosis": diagnosis,
        "treatment": treatment,
        "notes": notes,
        "minutes": duration_minutes,
        "location_kind": location_type,
        "location": location_name,
    }
    entry = log.of_caller(context).record_care(context.idempotency_key, values)
    return {**entry, "message": f"Created care log: {title}"}
