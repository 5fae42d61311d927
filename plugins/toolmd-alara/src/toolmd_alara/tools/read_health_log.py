"""Read the caller's log by days."""

from datetime import date
from typing import Any

from toolmd import Context
from toolmd_alara.entries import KINDS, entries
from toolmd_alara.health import HealthLog


def read_health_log(
    first_day: date,
    last_day: date | None = None,
    kinds: list[str] | None = None,
    *,
    log: HealthLog,
    context: Context,
) -> list[dict[str, Any]]:
    """Return the entries of these days, in the order of time."""
    wanted = tuple(kinds or KINDS)
    return entries(log.of_caller(context), first_day, last_day or first_day, wanted)
