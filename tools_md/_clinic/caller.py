"""Find the family of a call."""

from toolmd import Context, ToolError


def patient_of(context: Context) -> str:
    """Return the patient of the caller's context; both the tool's file and this require one."""
    patient = context.facts.get("patient")
    if not patient:
        raise ToolError("The host did not supply the family of this call.", code="no_patient")
    return patient
