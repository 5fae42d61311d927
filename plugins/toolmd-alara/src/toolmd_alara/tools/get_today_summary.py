"""Summarize the caller's day."""

from typing import Any

from toolmd import Context
from toolmd_alara.health import HealthLog
from toolmd_alara.summary import in_words, today


def get_today_summary(*, log: HealthLog, context: Context) -> dict[str, Any]:
    """Return today's entries."""
    summary = today(log.of_caller(context))
    return {**summary, "message": in_words(summary)}
