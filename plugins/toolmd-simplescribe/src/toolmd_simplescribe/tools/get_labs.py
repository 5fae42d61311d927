"""Read the patient's laboratory results."""

from toolmd import Context
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_labs(
    patient_id: str,
    date_range: dict[str, str] | None = None,
    codes: list[str] | None = None,
    limit: int | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the results, the newest first."""
    chart = store.chart(patient_id, context.facts.get("patient"))
    return chart.labs(codes, span_of(date_range), limit)
