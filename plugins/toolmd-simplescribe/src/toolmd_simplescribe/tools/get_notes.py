"""List the patient's notes."""

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_notes(
    patient_id: str,
    date_range: dict[str, str] | None = None,
    limit: int | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the notes' metadata, the newest first."""
    chart = store.chart(patient_id, context.facts.get("patient"))
    return chart.notes(span_of(date_range), limit)
