"""Read the patient's problem list."""

import asyncio

from toolmd import Context
from toolmd_simplescribe.records import PatientRecords
from toolmd_simplescribe.views import Item


async def get_problems(
    patient_id: str,
    status: str | None = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the problems, the latest first."""
    chart = await records.items(patient_id, "problems", context)
    return await asyncio.to_thread(chart.problems, status, limit)
