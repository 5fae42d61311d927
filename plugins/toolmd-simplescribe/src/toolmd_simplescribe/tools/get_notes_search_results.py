"""Search the patient's indexed notes."""

from toolmd import Context
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_notes_search_results(
    patient_id: str,
    query: str,
    top_k: int = 8,
    doc_ids: list[str] | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the excerpts, the best first."""
    return store.chart(patient_id, context.facts.get("patient")).search(query, top_k, doc_ids)
