"""Search the patient's indexed notes."""

from toolmd import Context
from toolmd_simplescribe.records import PatientRecords
from toolmd_simplescribe.views import Item


async def get_notes_search_results(
    patient_id: str,
    query: str,
    top_k: int = 8,
    doc_ids: list[str] | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the excerpts, the best first."""
    return await records.search(patient_id, query, top_k, doc_ids, context)
