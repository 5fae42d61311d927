"""Log a medication that was taken."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def log_medication(
    medication_name: str, dose: str | None = None, *, log: HealthLog, context: Context
) -> dict[str, Any]:
    """Write the medication to the caller's log."""
    values = {"name": medication_name, "dose": dose}
    entry = log.of_caller(context).write("medication", context.idempotency_key, values)
    return {**entry, "message": f"Logged {medication_name}"}
