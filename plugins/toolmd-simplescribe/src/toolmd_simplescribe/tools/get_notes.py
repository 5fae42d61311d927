"""List the patient's notes."""

import asyncio

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.records import PatientRecords
from toolmd_simplescribe.views import Item


async def get_notes(
    patient_id: str,
    date_range: dict[str, str] | None = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the notes' metadata, the newest first."""
    chart = await records.items(patient_id, "notes", context)
    return await asyncio.to_thread(chart.notes, span_of(date_range), limit)
