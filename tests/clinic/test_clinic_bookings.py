"""Visits: booked, moved, cancelled, annotated."""

from datetime import datetime

import pytest

from toolmd.errors import ToolError

NINE = datetime.fromisoformat("2026-03-04T09:00")
TEN = datetime.fromisoformat("2026-03-04T10:00")


def refused(code):
    return pytest.raises(ToolError, check=lambda error: error.code == code)


def chairs_free(clinic, at):
    found = clinic.calendar.openings(at.date(), "morning", 1)
    return {o["datetime"]: o["chairs_free"] for o in found}.get(at.isoformat(), 0)


def test_a_booking_takes_a_chair_for_each_child(clinic):
    booking = clinic.bookings.book("P-1001", ["Mia", "Leo"], NINE, "exam")
    assert booking == {
        "booking_id": booking["booking_id"],
        "status": "booked",
        "date": "2026-03-04",
        "time": "9:00 AM",
        "datetime": "2026-03-04T09:00:00",
        "appointment_type": "exam",
        "child_names": ["Mia", "Leo"],
    }
    assert chairs_free(clinic, NINE) == 2


def test_too_few_chairs_book_nobody(clinic):
    clinic.bookings.book("P-1002", ["Ada", "Chidi", "Zora"], NINE, "exam")
    with refused("slot_taken"):
        clinic.bookings.book("P-1001", ["Mia", "Leo"], NINE, "exam")
    assert chairs_free(clinic, NINE) == 1
    assert clinic.bookings.history("P-1001", limit=1)[0]["datetime"] != NINE.isoformat()


@pytest.mark.parametrize(
    ("at", "code"),
    [
        (datetime.fromisoformat("2026-03-04T09:10"), "slot_not_offered"),
        (datetime.fromisoformat("2026-03-04T12:00"), "slot_not_offered"),
        (datetime.fromisoformat("2026-03-04T03:00"), "slot_not_offered"),
        (datetime.fromisoformat("2026-03-08T09:00"), "slot_not_offered"),
        (datetime.fromisoformat("2026-03-06T09:00"), "slot_not_offered"),
        (datetime.fromisoformat("2026-03-02T08:00"), "time_in_past"),
        (datetime.fromisoformat("2026-03-01T09:00"), "date_in_past"),
        (datetime.fromisoformat("2028-03-04T09:00"), "date_too_far"),
        (datetime.fromisoformat("2026-03-04T09:00Z"), "time_with_offset"),
    ],
)
def test_a_time_outside_the_book_is_an_error(clinic, at, code):
    with refused(code):
        clinic.bookings.book("P-1001", ["Mia"], at, "exam")


def test_a_child_of_another_family_is_not_found(clinic):
    with refused("child_not_found") as caught:
        clinic.bookings.book("P-1001", ["Ada"], NINE, "exam")
    assert "On file: Mia, Leo." in str(caught.value)


def test_a_child_is_in_one_chair_at_a_time(clinic):
    clinic.bookings.book("P-1001", ["Mia"], NINE, "exam")
    with refused("child_already_booked"):
        clinic.bookings.book("P-1001", ["Mia"], NINE, "cleaning")


def test_a_family_that_is_not_on_file_is_an_error(clinic):
    with refused("patient_not_found"):
        clinic.bookings.book("P-9999", ["Mia"], NINE, "exam")


def test_the_same_key_again_gives_the_same_booking(clinic):
    first = clinic.bookings.book("P-1001", ["Mia"], NINE, "exam", key="run-1/4")
    assert clinic.bookings.book("P-1001", ["Mia"], NINE, "exam", key="run-1/4") == first
    assert chairs_free(clinic, NINE) == 3


def test_the_same_key_with_other_details_is_an_error(clinic):
    clinic.bookings.book("P-1001", ["Mia"], NINE, "exam", key="run-1/4")
    for change in (("P-1001", ["Leo"], NINE, "exam"), ("P-1001", ["Mia"], TEN, "exam")):
        with refused("idempotency_conflict"):
            clinic.bookings.book(*change, key="run-1/4")


def test_moving_frees_the_old_chairs_and_keeps_the_number(clinic):
    booking = clinic.bookings.book("P-1001", ["Mia", "Leo"], NINE, "exam")
    moved = clinic.bookings.reschedule("P-1001", booking["booking_id"], TEN)
    assert moved == {**booking, "time": "10:00 AM", "datetime": TEN.isoformat()}
    assert (chairs_free(clinic, NINE), chairs_free(clinic, TEN)) == (4, 2)
    assert clinic.bookings.reschedule("P-1001", booking["booking_id"], TEN) == moved


def test_a_move_without_room_leaves_the_visit_where_it_was(clinic):
    clinic.bookings.book("P-1002", ["Ada", "Chidi", "Zora"], TEN, "exam")
    booking = clinic.bookings.book("P-1001", ["Mia", "Leo"], NINE, "exam")
    with refused("slot_taken"):
        clinic.bookings.reschedule("P-1001", booking["booking_id"], TEN)
    assert clinic.bookings.upcoming("P-1001", booking["booking_id"]) == booking
    assert chairs_free(clinic, NINE) == 2


def test_cancelling_frees_the_chairs_once(clinic):
    booking = clinic.bookings.book("P-1001", ["Mia"], NINE, "exam")
    number = booking["booking_id"]
    cancelled = clinic.bookings.cancel("P-1001", number, "Fever")
    assert cancelled == {**booking, "status": "cancelled"}
    assert chairs_free(clinic, NINE) == 4
    assert clinic.bookings.cancel("P-1001", number, "Another reason") == cancelled
    visits = clinic.bookings.history("P-1001", limit=50)
    assert [v["cancel_reason"] for v in visits if v["booking_id"] == number] == ["Fever"]
    with refused("booking_cancelled"):
        clinic.bookings.reschedule("P-1001", number, TEN)


def test_a_visit_that_is_over_is_neither_moved_nor_cancelled(clinic, clock):
    booking = clinic.bookings.book("P-1001", ["Mia"], NINE, "exam")
    clock.at = datetime.fromisoformat("2026-03-04T09:00")
    for change in (
        lambda: clinic.bookings.cancel("P-1001", booking["booking_id"], "Too late"),
        lambda: clinic.bookings.reschedule("P-1001", booking["booking_id"], TEN),
    ):
        with refused("booking_over"):
            change()
    assert clinic.bookings.history("P-1001", limit=50)[1]["status"] == "completed"


@pytest.mark.parametrize("number", ["", "A-", "B-1", "A-1 OR 1=1", "A-99999", "٣", "9" * 400])
def test_an_unknown_booking_number_is_not_found(clinic, number):
    with refused("booking_not_found"):
        clinic.bookings.cancel("P-1001", number, "No")


def test_a_family_does_not_reach_another_familys_booking(clinic):
    booking = clinic.bookings.book("P-1001", ["Mia"], NINE, "exam")
    number = booking["booking_id"]
    for reach in (
        lambda: clinic.bookings.cancel("P-1002", number, "Mischief"),
        lambda: clinic.bookings.reschedule("P-1002", number, TEN),
        lambda: clinic.bookings.annotate("P-1002", number, "Mischief"),
        lambda: clinic.bookings.upcoming("P-1002", number),
    ):
        with refused("booking_not_found"):
            reach()


def test_notes_are_added_in_order_and_once_per_key(clinic):
    number = clinic.bookings.book("P-1001", ["Mia"], NINE, "exam")["booking_id"]
    clinic.bookings.annotate("P-1001", number, "Afraid of the drill.", key="a")
    clinic.bookings.annotate("P-1001", number, "Afraid of the drill.", key="a")
    notes = clinic.bookings.annotate("P-1001", number, "Comes with her aunt.")["notes"]
    assert notes == ["Afraid of the drill.", "Comes with her aunt."]


def test_the_history_shows_one_child_or_all_latest_first(clinic):
    everyone = clinic.bookings.history("P-1001", limit=50)
    assert [v["datetime"] for v in everyone] == sorted(
        (v["datetime"] for v in everyone), reverse=True
    )
    assert {name for v in everyone for name in v["child_names"]} == {"Mia", "Leo"}
    assert all(
        "Leo" in v["child_names"]
        for v in clinic.bookings.history("P-1001", child_name="leo", limit=50)
    )
    assert len(clinic.bookings.history("P-1001", limit=1)) == 1


def test_the_child_who_has_waited_longest_stands_first(clinic):
    assert [c["name"] for c in clinic.families.get("P-1001")["children"]] == ["Leo", "Mia"]
    assert [c["name"] for c in clinic.families.get("P-1002")["children"]] == [
        "Zora",
        "Ada",
        "Chidi",
    ]
