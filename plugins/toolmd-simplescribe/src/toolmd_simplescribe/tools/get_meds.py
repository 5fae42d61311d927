"""Read the patient's medications."""

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_meds(
    patient_id: str,
    status: str | None = None,
    date_range: dict[str, str] | None = None,
    limit: int | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the medications, the latest started first."""
    chart = store.chart(patient_id, context.facts.get("patient"))
    return chart.medications(status, span_of(date_range), limit)
