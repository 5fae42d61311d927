"""Each tool's function on a real store, with the context handed in."""

import asyncio
from datetime import date, datetime
from types import SimpleNamespace

import httpx
import pytest
from tools_md._clinic.insurer import EligibilityService
from tools_md._clinic.outbox import Notifier
from tools_md.appointment.visits import (
    book_appointment,
    cancel_appointment,
    get_appointment_history,
    reschedule_appointment,
)
from tools_md.clinic.desk import (
    get_appointment_preparation,
    get_available_services,
    get_clinic_hours,
    get_directions,
)
from tools_md.external.check_insurance_eligibility import check_insurance_eligibility
from tools_md.notification.texts import send_appointment_reminder, send_confirmation_sms
from tools_md.patient.families import get_patient_info

from toolmd.errors import ToolError

WEDNESDAY = date(2026, 3, 4)
NINE = datetime.fromisoformat("2026-03-04T09:00")
TEN = datetime.fromisoformat("2026-03-04T10:00")


def line(patient="P-1001", key="call-1"):
    """Return the context of a call about this family."""
    return SimpleNamespace(facts={"patient": patient} if patient else {}, idempotency_key=key)


def book(clinic, *names, at=NINE, kind="exam", **context):
    return book_appointment(list(names), at, kind, clinic=clinic, context=line(**context))


def cancel(clinic, number):
    notifier = Notifier(clinic.outbox)
    return cancel_appointment(number, "Fever", clinic=clinic, notifier=notifier, context=line())


def test_book_appointment_books_for_the_family_on_the_line(clinic):
    booking = book(clinic, "Mia", "Leo")
    assert booking["child_names"] == ["Mia", "Leo"]
    number = booking["booking_id"]
    assert booking["message"] == f"Booked {number}: 9:00 AM on 2026-03-04 for Mia and Leo."
    assert book(clinic, "Mia", "Leo") == booking


@pytest.mark.parametrize("patient", [None, ""])
def test_without_a_family_on_the_line_nothing_is_done(clinic, patient):
    for call in (
        lambda: book(clinic, "Mia", patient=patient),
        lambda: get_patient_info(clinic=clinic, context=line(patient)),
        lambda: get_appointment_history(clinic=clinic, context=line(patient)),
    ):
        with pytest.raises(ToolError, match="did not supply the family"):
            call()


def test_reschedule_cancel_and_history_follow_one_booking(clinic):
    number = book(clinic, "Mia")["booking_id"]
    moved = reschedule_appointment(number, TEN, clinic=clinic, context=line())
    assert moved["message"] == f"Moved {number}: 10:00 AM on 2026-03-04 for Mia."
    gone = cancel(clinic, number)
    assert gone["message"] == f"Cancelled {number}: 10:00 AM on 2026-03-04 for Mia."
    history = get_appointment_history("Mia", 50, clinic=clinic, context=line())
    (visit,) = [v for v in history if v["booking_id"] == number]
    assert (visit["status"], visit["cancel_reason"]) == ("cancelled", "Fever")


def test_get_patient_info_returns_the_family_and_its_insurance(clinic):
    family = get_patient_info(clinic=clinic, context=line("P-1002"))
    assert family["parent_name"] == "Samuel Okafor"
    assert family["insurance"]["member_id"] == "BBH-55-1290"
    assert {child["name"] for child in family["children"]} == {"Ada", "Chidi", "Zora"}


def test_a_confirmation_names_the_clinic_the_visit_and_a_number_to_call(clinic):
    send_confirmation_sms(
        "214 555 0142",
        "9:00 AM on 2026-03-04 for Mia.",
        notifier=Notifier(clinic.outbox),
        context=line(),
    )
    assert clinic.outbox.messages()[0]["body"] == (
        "Jefferson Dental: your visit is booked, 9:00 AM on 2026-03-04 for Mia. "
        "To change it call +1 214 555 0100."
    )


def test_a_reminder_goes_to_the_number_on_file_and_says_what_to_bring(clinic):
    number = book(clinic, "Ada", "Chidi", "Zora", patient="P-1002")["booking_id"]
    notifier = Notifier(clinic.outbox)
    send_appointment_reminder(number, clinic=clinic, notifier=notifier, context=line("P-1002", "r"))
    (message,) = clinic.outbox.messages()
    assert message["phone_number"] == "+12145550117"
    assert message["body"] == (
        "Jefferson Dental: we see Ada, Chidi and Zora on Wednesday, March 4 at 9:00 AM. "
        "Please bring: Your insurance card; A list of medicines the child takes. "
        "To change the visit call +1 214 555 0100."
    )


def test_nobody_is_reminded_of_a_cancelled_visit(clinic):
    number = book(clinic, "Mia")["booking_id"]
    cancel(clinic, number)
    with pytest.raises(ToolError, match="is cancelled"):
        send_appointment_reminder(
            number, clinic=clinic, notifier=Notifier(clinic.outbox), context=line()
        )
    (message,) = clinic.outbox.messages()
    assert message["body"] == (
        f"Jefferson Dental: your visit {number}: 9:00 AM on 2026-03-04 for Mia is cancelled. "
        "Questions: +1 214 555 0100."
    )


def test_the_clinic_returns_its_hours_services_preparation_and_address(empty_clinic):
    assert len(get_clinic_hours(clinic=empty_clinic)["week"]) == 7
    services = get_available_services(clinic=empty_clinic)
    assert [s["name"] for s in services] == [
        "Exam",
        "Cleaning",
        "Exam and cleaning",
        "Emergency visit",
    ]
    for service in services:
        told = get_appointment_preparation(service["appointment_type"], clinic=empty_clinic)
        assert told["do"]
        assert told["bring"]
    assert get_directions()["address"].endswith("TX 75069")


def covered(service, provider, member, day=WEDNESDAY, transport=None):
    async def ask():
        async with httpx.AsyncClient(trust_env=False, timeout=60, transport=transport) as http:
            context = SimpleNamespace(http=http)
            return await check_insurance_eligibility(
                provider, member, day, service=service, context=context
            )

    return asyncio.run(ask())


def test_the_insurer_covers_a_member_of_a_plan(insurer):
    assert covered(insurer, "Lone Star Dental", "LSD-204418") == {
        "eligible": True,
        "service_date": "2026-03-04",
        "plan": "Family Plus",
        "copay_usd": 15.0,
        "covered": ["exam", "cleaning", "exam_and_cleaning"],
        "reason": "",
    }


@pytest.mark.parametrize(
    ("provider", "day", "reason"),
    [
        ("Bluebonnet Health", WEDNESDAY, "The policy ended on 2020-06-30."),
        ("Bluebonnet Health", date(2020, 6, 30), ""),
        ("Lone Star Dental", WEDNESDAY, "Lone Star Dental has no member BBH-55-0083."),
    ],
)
def test_the_insurer_says_why_a_member_is_not_covered(insurer, provider, day, reason):
    assert covered(insurer, provider, "BBH-55-0083", day)["reason"] == reason


def test_a_silent_insurer_is_reported():
    with pytest.raises(ToolError, match="did not answer") as caught:
        covered(EligibilityService("http://127.0.0.1:1"), "Lone Star Dental", "LSD-204418")
    assert caught.value.code == "eligibility_unreachable"


@pytest.mark.parametrize(
    ("response", "what"),
    [
        (httpx.Response(500), "status 500"),
        (httpx.Response(200, text="<html>"), "unreadable answer"),
        (httpx.Response(200, json=[]), "unreadable answer"),
        (httpx.Response(200, json={}), "unreadable answer"),
        (httpx.Response(200, json={"eligible": "yes"}), "unreadable answer"),
        (httpx.Response(200, json={"eligible": True, "copay_usd": "free"}), "unreadable answer"),
    ],
)
def test_an_invalid_answer_of_the_insurer_is_not_a_coverage(response, what):
    transport = httpx.MockTransport(lambda _: response)
    service = EligibilityService("http://127.0.0.1")
    with pytest.raises(ToolError, match=what) as caught:
        covered(service, "Lone Star Dental", "LSD-204418", transport=transport)
    assert caught.value.code == "eligibility_failed"
