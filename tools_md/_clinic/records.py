"""Name the shapes in which the clinic answers; each tool's Returns section describes its own."""

from typing import NotRequired, TypedDict


class Opening(TypedDict):
    """A time at which enough chairs are free."""

    date: str
    time: str
    """As people say it, `9:00 AM`."""
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
    """A visit that was just written to the book."""

    message: NotRequired[str]
    """What was done, in a sentence; the runtime shows it beside the data."""


class Visit(BookedVisit):
    """A visit as the history shows it."""

    notes: list[str]
    cancel_reason: str
    """Empty unless cancelled."""


class Annotated(TypedDict):
    """A visit and what staff wrote about it."""

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
    """Who pays, and under which number."""

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
    """`8:00 AM to 12:00 PM`, as people say it."""


class ClosedDay(TypedDict):
    """A date on which the clinic stays shut."""

    date: str
    reason: str


class ClinicHours(TypedDict):
    """The week, and what deviates from it."""

    week: list[OpeningDay]
    closed_days: list[ClosedDay]


class Service(TypedDict):
    """What can be booked."""

    appointment_type: str
    name: str
    description: str
    minutes: int
    price_usd: float


class Preparation(TypedDict):
    """What to do before a visit, and what to bring."""

    appointment_type: str
    do: list[str]
    bring: list[str]


class Sent(TypedDict):
    """What became of a text message."""

    message_id: str
    status: str
    """`sent`, or `kept` where no gateway is set."""
    message: NotRequired[str]


class Eligibility(TypedDict):
    """What an insurer says of a member."""

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
