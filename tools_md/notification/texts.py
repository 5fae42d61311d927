"""Text parents."""

from datetime import datetime

from toolmd import Context

from .._clinic.bookings import listed
from .._clinic.clock import Data, spoken
from .._clinic.families import patient_of
from .._clinic.outbox import CLINIC_NAME, CLINIC_PHONE, Notifier
from .._clinic.store import Clinic


def send_appointment_reminder(
    booking_id: str, *, clinic: Clinic, notifier: Notifier, context: Context
) -> Data:
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


def send_confirmation_sms(
    phone_number: str, appointment_details: str, *, notifier: Notifier, context: Context
) -> Data:
    """Send the text once per request."""
    details = appointment_details.strip().rstrip(".")
    body = f"{CLINIC_NAME}: your visit is booked, {details}. To change it call {CLINIC_PHONE}."
    return notifier.text(phone_number, body, key=context.idempotency_key)
