"""List, change, snooze and end reminders."""

import pytest


@pytest.fixture
def do(call, workspace):
    """Call a tool, and confirm where it asks."""

    def go(tool, **arguments):
        user = arguments.pop("user", "ana")
        result = call(tool, arguments, user=user)
        if result.confirmation is not None:
            result = workspace.confirmations.approve_sync(result.confirmation.id, user=user)
        return result

    return go


@pytest.fixture
def pill(do):
    """A reminder at nine, and now it is eight on a Monday."""
    return do("create_reminder", title="Pill", time="09:00").data["reminder_id"]


def listed(do, **options):
    return [(one["title"], one.get("next_due")) for one in do("list_reminders", **options).data]


def test_reminders_are_listed_the_next_one_first(do, pill):
    do("schedule_reminder", title="Walk", time="08:30", days=[1], description="Around the lake")
    first, second = do("list_reminders").data
    assert first["description"] == "Around the lake"
    assert (first["title"], first["days"]) == ("Walk", ["monday"])
    assert (second["reminder_id"], second["time"]) == (pill, "09:00")
    assert do("list_reminders", user="ben").data == []


def test_a_change_keeps_the_rest(do, pill):
    changed = do("change_reminder", reminder_id=pill, time="10:00", days=["tuesday", "sunday"])
    assert changed.message == "Changed reminder: Pill"
    assert changed.data["next_due"] == "2026-03-03T10:00:00+01:00"
    assert changed.data["days"] == ["tuesday", "sunday"]
    do("change_reminder", reminder_id=pill, title="Red pill")
    assert listed(do) == [("Red pill", "2026-03-03T10:00:00+01:00")]


def test_a_snoozed_reminder_comes_once_later_and_then_as_before(do, pill, clock):
    snoozed = do("snooze_reminder", reminder_id=pill, minutes=90)
    assert snoozed.data["snoozed"] is True
    assert listed(do) == [("Pill", "2026-03-02T09:30:00+01:00")]
    clock.advance(5400)
    assert listed(do) == [("Pill", "2026-03-03T09:00:00+01:00")]


def test_an_ended_reminder_never_comes_again(do, pill, clock):
    assert do("end_reminder", reminder_id=pill).message == "Ended reminder: Pill"
    assert do("end_reminder", reminder_id=pill).data["ended_at"] == "2026-03-02T08:00:00+01:00"
    assert listed(do) == []
    assert listed(do, include_ended=True) == [("Pill", None)]
    assert do("get_today_summary").data["reminders"] == []
    for tool, rest in (("change_reminder", {"time": "10:00"}), ("snooze_reminder", {"minutes": 5})):
        assert do(tool, reminder_id=pill, **rest).error.code == "reminder_ended"


@pytest.mark.parametrize(
    ("tool", "rest"),
    [
        ("change_reminder", {"title": "Mine"}),
        ("snooze_reminder", {"minutes": 5}),
        ("end_reminder", {}),
    ],
)
def test_nobody_reaches_the_reminder_of_another(do, pill, tool, rest):
    result = do(tool, reminder_id=pill, user="ben", **rest)
    assert result.error.code == "no_such_reminder"
    assert listed(do) == [("Pill", "2026-03-02T09:00:00+01:00")]


def test_a_person_who_confirms_reads_the_title_of_the_reminder(call, pill):
    asked = call("end_reminder", {"reminder_id": pill})
    assert asked.confirmation.prompt.startswith("End the reminder Pill at 09:00? ")
    moved = call("change_reminder", {"reminder_id": pill, "time": "10:00"})
    assert moved.confirmation.prompt.startswith("Change the reminder Pill at 09:00? ")
