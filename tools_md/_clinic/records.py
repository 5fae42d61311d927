"""The types of the clinic's answers; each tool's Returns section describes its own."""

from typing import NotRequired, TypedDict


class Opening(TypedDict):
    """A time with enough free chairs."""

    date: str
    time: str
    """Formatted for people, `9:00 AM`."""
    datetime: str
    """ISO 8601, the clinic's own time, without an offset."""
    chairs_free: int


class BookedVisit(TypedDict):
    """A visit in the book."""

    booking_id: str
    status: str
    """`booked`, `completed` or `cancelled`."""
    date: str
    time: str
    datetime: str
    appointment_type: str
    child_names: list[str]


class Booking(BookedVisit):
    """A newly written visit."""

    message: NotRequired[str]
    """A sentence about the result; the runtime shows it next to the data."""


class Visit(BookedVisit):
    """A visit in the history."""

    notes: list[str]
    cancel_reason: str
    """Empty unless cancelled."""
    remind_at: str
    """The same hour of the day before, with its offset."""


class Annotated(TypedDict):
    """A visit with the staff's notes."""

    booking_id: str
    date: str
    time: str
    notes: list[str]
    """The oldest first."""
    message: NotRequired[str]


class Child(TypedDict):
    """A child of a family."""

    name: str
    birth_date: str
    age: int
    allergies: str
    last_visit: NotRequired[str]
    next_visit: NotRequired[str]


class Insurance(TypedDict):
    """The insurer and the member's number."""

    insurance_provider: str
    member_id: str


class Family(TypedDict):
    """A patient of the clinic: one parent's account, and the children on it."""

    patient_id: str
    parent_name: str
    phone_number: str
    insurance: NotRequired[Insurance]
    children: list[Child]


class OpeningDay(TypedDict):
    """One weekday."""

    day: str
    open: bool
    hours: list[str]
    """`8:00 AM to 12:00 PM`, formatted for people."""


class ClosedDay(TypedDict):
    """A date on which the clinic is closed."""

    date: str
    reason: str


class ClinicHours(TypedDict):
    """The week, and its exceptions."""

    week: list[OpeningDay]
    closed_days: list[ClosedDay]


class Service(TypedDict):
    """A bookable service."""

    appointment_type: str
    name: str
    description: str
    minutes: int
    price_usd: float


class Preparation(TypedDict):
    """How to prepare for a visit, and what to bring."""

    appointment_type: str
    do: list[str]
    bring: list[str]


class Sent(TypedDict):
    """The result of a text message."""

    message_id: str
    status: str
    """`sent`, or `kept` where no gateway is set."""
    message: NotRequired[str]


class Eligibility(TypedDict):
    """An insurer's answer about a member."""

    eligible: bool
    service_date: str
    plan: str
    copay_usd: float
    covered: list[str]
    reason: str


class Message(TypedDict):
    """A text message in the outbox."""

    message_id: str
    status: str
    """`queued`, `kept` (no gateway is set), `sent` or `failed`."""
    phone_number: str
    body: str
    written_at: str
