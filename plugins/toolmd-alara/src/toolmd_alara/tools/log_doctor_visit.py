"""Log a visit to a healthcare provider."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def log_doctor_visit(
    visit_type: str,
    date: str,
    notes: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write the visit to the caller's log."""
    values = {"kind": visit_type, "visited_on": date, "notes": notes}
    entry = log.of_caller(context).record_visit(context.idempotency_key, values)
    kind = visit_type.replace("_", "-")
    return {**entry, "message": f"Logged doctor visit: {kind} on {date}"}
