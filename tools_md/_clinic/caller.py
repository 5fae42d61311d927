"""Say which family a call is for."""

from toolmd import Context, ToolError


def patient_of(context: Context) -> str:
    """Give the patient that the host has named; the tool's file requires one, as does this."""
    if not context.patient:
        raise ToolError("Nobody has said which family this is for.", code="no_patient")
    return context.patient
