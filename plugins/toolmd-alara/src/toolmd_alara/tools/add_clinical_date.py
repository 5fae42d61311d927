"""Add a date of a test, a procedure or another appointment."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def add_clinical_date(  # noqa: PLR0913 - the tool's own parameters
    *,
    clinical_date: str,
    description: str,
    clinical_type: str | None = None,
    location: str | None = None,
    provider_name: str | None = None,
    preparation_notes: str | None = None,
    reminder_enabled: bool = True,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write the date to the caller's log."""
    values = {
        "falls_on": clinical_date,
        "description": description,
        "kind": clinical_type,
        "location": location,
        "provider": provider_name,
        "preparation": preparation_notes,
        "remind": int(reminder_enabled),
    }
    entry = log.of_caller(context).write("clinical_date", context.idempotency_key, values)
    return {**entry, "message": f"Added clinical date: {description} on {clinical_date}"}
