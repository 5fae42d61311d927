"""Text a parent that a visit is booked."""

from toolmd import Context

from .._clinic.facts import CLINIC_NAME, CLINIC_PHONE
from .._clinic.outbox import Notifier
from .._clinic.records import Sent


def send_confirmation_sms(
    phone_number: str, appointment_details: str, *, notifier: Notifier, context: Context
) -> Sent:
    """Send the text once per request."""
    details = appointment_details.strip().rstrip(".")
    body = f"{CLINIC_NAME}: your visit is booked, {details}. To change it call {CLINIC_PHONE}."
    return notifier.text(phone_number, body, key=context.idempotency_key)
