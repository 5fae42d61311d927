"""The seed's example of format.md, run unchanged."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from run_world import NO, YES, World, tool

from toolmd._parse import parse_skill
from toolmd._types.skill import SkillSpec
from toolmd.errors import ToolError

SLOTS = [
    {"date": "2026-03-03", "time": "10:30", "datetime": "2026-03-03T10:30:00"},
    {"date": "2026-03-03", "time": "09:00", "datetime": "2026-03-03T09:00:00"},
]
INPUTS = {
    "patientId": "p1",
    "date": "2026-03-03",
    "timeRange": "morning",
    "numChildren": 2,
    "parentPhone": "+15550100",
}
SLOT = """- **Type**: array
- **Items**:
  - **Type**: object
  - **Properties**:
    - `date` (string, required)
    - `time` (string, required)
    - `datetime` (string, required)
"""


@pytest.fixture
def spec() -> SkillSpec:
    text = Path(__file__).with_name("schedule-appointment.skill.md").read_text(encoding="utf-8")
    read, found = parse_skill(text, "schedule-appointment.skill.md")
    assert read is not None
    assert not found
    return read


@pytest.fixture
def world() -> World:
    made = World(
        tool(
            "get_patient_info",
            metadata="- **Requires Patient Context**: true\n- **Read Only**: true",
            returns="- **Type**: object\n- **Properties**:\n  - `children` (array, required)\n"
            "    - **Items**:\n      - **Type**: object\n      - **Properties**:\n"
            "        - `name` (string, required)\n",
        ),
        tool(
            "check_availability",
            "- `date` (string, required)\n- `time_range` (string, required)\n"
            "- `num_children` (number, required)",
            SLOT,
            metadata="- **Read Only**: true",
        ),
        tool(
            "book_appointment",
            "- `child_names` (array of string, required)\n- `appointment_time` (string, required)\n"
            "- `appointment_type` (string, required): one of exam, cleaning",
            "- **Type**: object\n- **Properties**:\n  - `booking_id` (string, required)",
            metadata="- **Requires Patient Context**: true",
            more="## Safety\n\n- **Requires Confirmation**: true",
        ),
        tool(
            "cancel_appointment", "- `booking_id` (string, required)\n- `reason` (string, required)"
        ),
        tool(
            "send_confirmation_sms",
            "- `phone_number` (string, required)\n- `appointment_details` (string, required)",
        ),
    )
    made.functions |= {
        "get_patient_info": lambda: {"children": [{"name": "Ada"}, {"name": "Ben"}]},
        "check_availability": lambda **_: SLOTS,
        "book_appointment": lambda **_: {"booking_id": "b-7"},
    }
    return made


def test_the_family_agrees_and_is_booked_at_the_earliest_slot(
    spec: SkillSpec, world: World
) -> None:
    result = asyncio.run(world.run(spec, INPUTS, answers=(YES,)))

    assert result.to_dict() == {
        "success": True,
        "message": "Schedule Appointment: done.",
        "data": {
            "appointmentId": "b-7",
            "datetime": "2026-03-03T09:00:00",
            "time": "09:00",
            "childNames": ["Ada", "Ben"],
        },
        "error": None,
        "run_id": "run-1",
    }
    assert world.called == [
        "get_patient_info",
        "check_availability",
        "book_appointment",
        "send_confirmation_sms",
    ]
    assert world.calls[2][1] == {
        "child_names": ["Ada", "Ben"],
        "appointment_time": "2026-03-03T09:00:00",
        "appointment_type": "exam",
    }
    assert world.calls[3][1]["appointment_details"] == "09:00 on 2026-03-03"
    assert {caller.context.get("patient") for caller in world.callers} == {"p1"}


def test_the_person_is_asked_once_for_exactly_the_booking(spec: SkillSpec, world: World) -> None:
    asyncio.run(world.run(spec, INPUTS, answers=(YES,)))

    [question] = world.questions
    assert question.prompt == (
        "Book 09:00 on 2026-03-03 for Ada and Ben? I'd like to book appointment: child_names: "
        "Ada,Ben, appointment_time: 2026-03-03T09:00:00, appointment_type: exam. Is this correct?"
    )
    assert question.tool == "book_appointment"
    assert question.arguments == world.calls[2][1]


def test_a_no_books_nothing(spec: SkillSpec, world: World) -> None:
    result = asyncio.run(world.run(spec, INPUTS, answers=(NO,)))

    assert (result.success, result.message, result.code) == (
        False,
        "Nothing was booked.",
        "stopped",
    )
    assert world.called == ["get_patient_info", "check_availability"]


def test_a_failing_message_does_not_undo_the_booking(spec: SkillSpec, world: World) -> None:
    def no_signal(**_: Any) -> None:
        raise ToolError("no signal", code="gateway_down")

    world.functions["send_confirmation_sms"] = no_signal
    result = asyncio.run(world.run(spec, INPUTS, answers=(YES,)))

    assert result.success
    assert "cancel_appointment" not in world.called


def test_a_day_without_slots_names_days_with_room(spec: SkillSpec, world: World) -> None:
    def some(date: str, **_: Any) -> list[dict[str, str]]:
        open_days = {"2026-03-05", "2026-03-09"}
        return [{**SLOTS[0], "date": date}] if date in open_days else []

    world.functions["check_availability"] = some
    result = asyncio.run(world.run(spec, INPUTS))

    assert result.message == ("No slots on 2026-03-03. Days with room: 2026-03-05, 2026-03-09.")
    assert world.called.count("check_availability") == 8
