"""Log a drink."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog


def log_hydration(
    amount: int, notes: str | None = None, *, log: HealthLog, context: Context
) -> dict[str, Any]:
    """Write the drink to the caller's log."""
    values = {"amount_ml": amount, "notes": notes}
    entry = log.of_caller(context).write("hydration", context.idempotency_key, values)
    return {**entry, "message": f"Logged {amount} ml"}
