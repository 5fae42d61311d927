"""Read the chart of the patient."""

from toolmd import Context


def chart(*, context: Context) -> str:
    return f"The chart of {context.facts.get('patient')}"
