"""Log a blood pressure reading."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog
from toolmd_alara.readings import attention


def log_blood_pressure(  # noqa: PLR0913 - the tool's own parameters
    systolic: int,
    diastolic: int,
    pulse: int | None = None,
    position: str | None = None,
    notes: str | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> dict[str, Any]:
    """Write the reading to the caller's log."""
    values = {
        "systolic": systolic,
        "diastolic": diastolic,
        "pulse": pulse,
        "position": position,
        "notes": notes,
    }
    entry = log.of_caller(context).write("blood_pressure", context.idempotency_key, values)
    message = f"Logged blood pressure {systolic}/{diastolic}"
    found = attention(systolic, diastolic, pulse)
    if found is None:
        return {**entry, "message": message}
    return {
        **entry,
        "warning": found.warning,
        "proposals": list(found.proposals),
        "message": f"{message}. {found.warning} {' '.join(found.proposals[:2])}",
    }
