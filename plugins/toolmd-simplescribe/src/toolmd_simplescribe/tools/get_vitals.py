"""Read the patient's vital signs."""

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_vitals(
    patient_id: str,
    date_range: dict[str, str] | None = None,
    types: list[str] | None = None,
    limit: int | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the readings, the newest first."""
    chart = store.chart(patient_id, context.facts.get("patient"))
    return chart.vitals(types, span_of(date_range), limit)
