"""Text a family about a visit to come."""

from datetime import datetime

from toolmd import Context

from .._clinic.caller import patient_of
from .._clinic.clock import spoken
from .._clinic.facts import CLINIC_NAME, CLINIC_PHONE
from .._clinic.outbox import Notifier
from .._clinic.records import Sent
from .._clinic.store import Clinic
from .._clinic.visits import listed


def send_appointment_reminder(
    booking_id: str, *, clinic: Clinic, notifier: Notifier, context: Context
) -> Sent:
    """Send the text to the number on file, once per request."""
    family = clinic.families.get(patient_of(context))
    visit = clinic.bookings.upcoming(family["patient_id"], booking_id)
    bring = clinic.preparation(visit["appointment_type"])["bring"]
    body = (
        f"{CLINIC_NAME}: we see {listed(visit['child_names'])} on "
        f"{spoken(datetime.fromisoformat(visit['datetime']))}. "
        f"Please bring: {'; '.join(bring)}. To change the visit call {CLINIC_PHONE}."
    )
    return notifier.text(family["phone_number"], body, key=context.idempotency_key)
