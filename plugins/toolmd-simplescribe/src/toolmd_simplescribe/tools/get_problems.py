"""Read the patient's problem list."""

from toolmd import Context
from toolmd_simplescribe.store import PatientStore
from toolmd_simplescribe.views import Item


def get_problems(
    patient_id: str,
    status: str | None = None,
    limit: int | None = None,
    *,
    store: PatientStore,
    context: Context,
) -> list[Item]:
    """Return the problems, the latest first."""
    return store.chart(patient_id, context.facts.get("patient")).problems(status, limit)
