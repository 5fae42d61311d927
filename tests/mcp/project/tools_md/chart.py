"""Read the chart of the patient."""

from toolmark import Context


def chart(*, context: Context) -> str:
    return f"The chart of {context.patient}"
