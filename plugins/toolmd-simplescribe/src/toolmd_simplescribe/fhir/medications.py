"""Read MedicationRequests and MedicationStatements: medications, with status and dosage."""

from collections.abc import Callable

from toolmd_simplescribe.fhir.dosages import dosage
from toolmd_simplescribe.fhir.fields import LeftOutError, Resource, at, named, objects, words
from toolmd_simplescribe.fhir.rows import Row
from toolmd_simplescribe.moments import moment

Find = Callable[[str], Resource | None]
"""Returns the resource that a reference names, if the bundle has it."""

_STATES = {
    "active": "active",
    "on-hold": "stopped",
    "cancelled": "stopped",
    "completed": "stopped",
    "stopped": "stopped",
    "not-taken": "stopped",
}
_NO_ORDER = ("proposal", "option")
_STARTS = (("effectivePeriod", "start"), ("effectiveDateTime",), ("authoredOn",))


def medication(resource: Resource, find: Find) -> list[Row]:
    """Return the row of a medication; raises LeftOutError without a medication or a name."""
    status = words(resource, "status")
    if status not in _STATES:
        raise LeftOutError(f"its status is {status or 'missing'}")
    if (intent := words(resource, "intent")) in _NO_ORDER:
        raise LeftOutError(f"it is not an order, its intent is {intent}")
    name = _name(resource, find)
    if name is None:
        raise LeftOutError("its medication has no name")
    instructions = objects(resource, "dosageInstruction") + objects(resource, "dosage")
    start, began = _start(resource, instructions)
    values = {"name": name, "status": _STATES[status], **dosage(instructions)}
    return [Row("medication", {**values, "start_date": start, "at": began})]


def _name(resource: Resource, find: Find) -> str | None:
    if (name := named(resource, "medicationCodeableConcept")) is not None:
        return name
    reference = words(resource, "medicationReference", "reference")
    found = find(reference) if reference else None
    told = named(found, "code") if at(found, "resourceType") == "Medication" else None
    return told or words(resource, "medicationReference", "display")


def _start(resource: Resource, instructions: list[Resource]) -> tuple[str | None, int | None]:
    """Return the start, as written and as an instant; the date nearest to the dose counts."""
    bounds = ("timing", "repeat", "boundsPeriod", "start")
    told = [words(one, *bounds) for one in instructions]
    told += [words(resource, *path) for path in _STARTS]
    text = next((one for one in told if one), None)
    if text is None:
        return None, None
    try:
        return text, moment(text).at
    except ValueError as error:
        raise LeftOutError(f"its start can't be read: {error}") from None
