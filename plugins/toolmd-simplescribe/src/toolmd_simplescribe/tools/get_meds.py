"""Read the patient's medications."""

import asyncio

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.records import PatientRecords
from toolmd_simplescribe.views import Item


async def get_meds(
    patient_id: str,
    status: str | None = None,
    date_range: dict[str, str] | None = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the medications, the latest started first."""
    chart = await records.items(patient_id, "medications", context)
    return await asyncio.to_thread(chart.medications, status, span_of(date_range), limit)
