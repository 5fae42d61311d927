"""What the tools of the project do: little, so that the rules stand out."""

from typing import Any

ORDERS = {
    "o1": {"customer": "c1", "status": "pending", "method": "card-1", "total": 50},
    "o2": {"customer": "c2", "status": "pending", "method": "card-2", "total": 50},
    "o3": {"customer": "c1", "status": "sent", "method": "card-1", "total": 500},
}
PROFILES = {"c1": {"gift_cards": ["gift-1"], "payment_ids": ["card-1", "gift-1"], "balance": 60}}
_BOOKING = {
    "customer": "c1", "cabin": "economy", "cancelled_by_airline": False, "insured": False,
    "booked": "2026-01-01T00:00:00Z", "origin": "BER", "destination": "LIS", "passengers": 2,
    "bags": 1,
}  # fmt: skip
BOOKINGS: dict[str, dict[str, Any]] = {
    "old": _BOOKING,
    "new": _BOOKING | {"booked": "2030-05-06T06:00:00Z"},
    "business": _BOOKING | {"cabin": "business"},
    "basic": _BOOKING | {"cabin": "basic economy"},
    "insured": _BOOKING | {"insured": True},
}


def get_order(order_id: str) -> dict[str, Any]:
    return ORDERS[order_id]


def get_profile(customer: str) -> dict[str, Any]:
    return PROFILES[customer]


def get_booking(booking_id: str) -> dict[str, Any]:
    return BOOKINGS[booking_id]


def cancel_order(order_id: str, reason: str) -> str:
    return f"{order_id} is cancelled: {reason}"


def modify_items(order_id: str, items: list[str]) -> str:
    return f"{order_id} has {len(items)} items"


def pay_order(order_id: str, method: str) -> str:
    return f"{order_id} is paid by {method}"


def return_order(order_id: str, method: str) -> str:
    return f"{order_id} goes back to {method}"


def book_flight(passengers: list[str], payments: list[dict[str, Any]]) -> str:
    return f"{len(passengers)} seats, {len(payments)} payments"


def cancel_booking(booking_id: str, covered: bool) -> str:
    return f"{booking_id} is cancelled{' by the insurance' if covered else ''}"


def change_booking(
    booking_id: str, origin: str, destination: str, passengers: int, bags: int
) -> str:
    return f"{booking_id}: {origin} to {destination}, {passengers} with {bags} bags"


def compensate(booking_id: str, amount: float) -> str:
    return f"{amount} for {booking_id}"


def bank_transfer(amount: float) -> str:
    return f"{amount} sent"


def pay_invoice(amount: float) -> str:
    return f"{amount} paid"


def file_expense(category: str, amount: float, attendees: int = 1, hours: float = 0) -> str:
    return f"{category}: {amount} for {attendees}, {hours} hours"


def read_record(patient: str, reason: str = "") -> str:
    return f"{patient} {reason}"


def deploy(commit: str) -> str:
    return f"{commit} is live"


def invite(email: str) -> str:
    return f"{email} is invited"
