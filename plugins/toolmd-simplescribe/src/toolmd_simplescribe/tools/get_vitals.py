"""Read the patient's vital signs."""

import asyncio

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.records import PatientRecords
from toolmd_simplescribe.views import Item


async def get_vitals(
    patient_id: str,
    date_range: dict[str, str] | None = None,
    types: list[str] | None = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the readings, the newest first."""
    chart = await records.items(patient_id, "vitals", context)
    return await asyncio.to_thread(chart.vitals, types, span_of(date_range), limit)
