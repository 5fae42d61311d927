"""Say which family a call is for."""

from toolmd import Context, ToolError


def patient_of(context: Context) -> str:
    """Give the patient that the host has named; the tool's file requires one, as does this."""
    patient = context.facts.get("patient")
    if not patient:
        raise ToolError("The host does not say which family this is for.", code="no_patient")
    return patient
