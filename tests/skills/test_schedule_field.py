"""A skill's Schedule: read, written, checked, and its ticks."""

import datetime as dt

import pytest
from run_world import skill, tool

from toolmd._parse import parse_skill, skill_text
from toolmd._skills.check import check_skill
from toolmd._types.schedule import last_tick, next_tick
from toolmd._types.skill import SkillSpec

NOW = dt.datetime(2026, 3, 28, 12, 34, 56, tzinfo=dt.UTC)
STEPS = "1. **Make**\n   - **Use**: make\n"
DAILY = "- **Schedule**: `0 7 * * *`\n"
NUMBER = "- `number` (integer, required)\n- `day` (date)"
MAKE = {"make": tool("make")}


def scheduled(metadata: str = DAILY, inputs: str = "None", steps: str = STEPS) -> SkillSpec:
    """Return a skill with a Schedule."""
    return skill(steps, "make", inputs, metadata=metadata)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("`0 7 * * 1-5`", "0 7 * * 1-5"),
        ("0  7 * * mon-fri", "0 7 * * MON-FRI"),
        ("`0 7 * * * in Europe/Vienna`", "0 7 * * * in Europe/Vienna"),
        ("every 15m", "every 900s"),
        ("Every 2 hours", "every 7200s"),
    ],
)
def test_a_schedule_is_a_cron_expression_or_a_period(text: str, canonical: str) -> None:
    spec = scheduled(f"- **Schedule**: {text}\n")
    again, _ = parse_skill(skill_text(spec), "trial.skill.md")

    assert spec.canonical["schedule"] == canonical
    assert again is not None
    assert again.canonical == spec.canonical


@pytest.mark.parametrize(
    "text",
    ["daily", "@daily", "* * * *", "* * * * * *", "61 * * * *", "0 0 30 2 *", "R * * * *",
     "L * * * *", "0 0 0 * *", "*/0 * * * *", "0 0 * * 8", "0 0 * * 5#6",
     "0 7 * * * in Nowhere/City", "every", "every 0s", "every 1.5s", "every monday", "7:00"],
)  # fmt: skip
def test_an_unreadable_schedule_is_an_error(text: str) -> None:
    spec, found = parse_skill(skill_text(scheduled()).replace("0 7 * * *", text), "t.skill.md")

    assert spec is None
    assert [one.code for one in found] == ["unreadable-value"]


def test_the_ticks_of_a_schedule_are_the_same_for_each_process() -> None:
    def ticks(schedule: str) -> list[str]:
        found = [last_tick(schedule, NOW), next_tick(schedule, NOW)]
        found.append(next_tick(schedule, found[1]))
        return [f"{tick:%m-%d %H:%M}" for tick in found]

    assert ticks("every 900s") == ["03-28 12:30", "03-28 12:45", "03-28 13:00"]
    assert ticks("0 7 * * *") == ["03-28 07:00", "03-29 07:00", "03-30 07:00"]
    # The clock of Vienna is put forward in between.
    assert ticks("0 7 * * * in Europe/Vienna") == ["03-28 06:00", "03-29 05:00", "03-30 05:00"]


@pytest.mark.parametrize(
    ("schedule", "found"),
    [
        ("30 2 * * *", ["10-25 00:30", "10-26 01:30"]),
        ("*/30 2 * * *", ["10-25 00:00", "10-25 00:30", "10-26 01:00"]),
        ("30 * * * *", ["10-24 22:30", "10-24 23:30", "10-25 00:30", "10-25 01:30"]),
    ],
)
def test_an_hour_that_comes_twice_counts_once_unless_each_hour_does(
    schedule: str, found: list[str]
) -> None:
    # The clock of Vienna is put back from 3:00 to 2:00 at 1:00 UTC.
    vienna = f"{schedule} in Europe/Vienna"
    ticks = [next_tick(vienna, dt.datetime(2026, 10, 24, 22, tzinfo=dt.UTC))]
    while len(ticks) < len(found):
        ticks.append(next_tick(vienna, ticks[-1]))

    assert [f"{tick:%m-%d %H:%M}" for tick in ticks] == found
    assert [last_tick(vienna, tick) for tick in ticks] == ticks
    second = dt.timedelta(seconds=1)
    assert [last_tick(vienna, tick - second) for tick in ticks[1:]] == ticks[:-1]


@pytest.mark.parametrize(
    ("schedule", "found"),
    [
        ("30 2 * * *", ["03-29 01:00", "03-30 00:30"]),
        ("*/30 2 * * *", ["03-29 01:00", "03-30 00:00"]),
        ("0 */2 * * *", ["03-29 01:00", "03-29 02:00"]),
        ("30 * * * *", ["03-29 00:30", "03-29 01:30"]),
    ],
)
def test_a_time_that_the_clock_skips_comes_right_after_the_gap(
    schedule: str, found: list[str]
) -> None:
    # The clock of Vienna is put forward from 2:00 to 3:00 at 1:00 UTC.
    vienna = f"{schedule} in Europe/Vienna"
    first = next_tick(vienna, dt.datetime(2026, 3, 29, 0, 15, tzinfo=dt.UTC))

    ticks = [first, next_tick(vienna, first)]
    assert [f"{tick:%m-%d %H:%M}" for tick in ticks] == found
    assert [last_tick(vienna, tick) for tick in ticks] == ticks


@pytest.mark.parametrize(
    ("schedule", "tick"),
    [
        ("0 0 */10 * *", "03-31"),
        ("0 0 13 * SAT-SUN", "03-29"),
        ("0 0 29 2 MON", "02-01"),
        ("0 0 1 NOV-FEB *", "11-01"),
    ],
)
def test_days_are_counted_from_either_end_and_around(schedule: str, tick: str) -> None:
    assert f"{next_tick(schedule, NOW):%m-%d}" == tick


def test_the_ticks_of_a_zone_with_half_an_hour_of_summer_time_leave_none_out() -> None:
    lord_howe = "*/15 7 * * SUN in Australia/Lord_Howe"
    ticks = [next_tick(lord_howe, dt.datetime(2026, 4, 4, 13, tzinfo=dt.UTC))]
    while len(ticks) < 4:
        ticks.append(next_tick(lord_howe, ticks[-1]))

    assert [f"{tick:%H:%M}" for tick in ticks] == ["20:30", "20:45", "21:00", "21:15"]


@pytest.mark.parametrize("schedule", ["every 900s", "30 12 * * *"])
def test_the_last_tick_may_be_now(schedule: str) -> None:
    tick = dt.datetime(2026, 3, 28, 12, 30, tzinfo=dt.UTC)

    assert last_tick(schedule, tick) == tick
    assert last_tick(schedule, tick + dt.timedelta(milliseconds=1)) == tick
    assert next_tick(schedule, tick) > tick


def test_the_inputs_of_a_schedule_are_written_back() -> None:
    metadata = DAILY + "- **Schedule Inputs**:\n  - number: 7\n  - day: 2026-03-02\n"
    spec = scheduled(metadata, NUMBER)
    again, _ = parse_skill(skill_text(spec), "trial.skill.md")

    assert spec.canonical["schedule_inputs"] == {"number": "7", "day": "2026-03-02"}
    assert again is not None
    assert again.canonical == spec.canonical
    assert not check_skill(spec, MAKE, {})


@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ("", "number"),
        ("- **Schedule Inputs**:\n  - number: many\n", "'many' is no integer"),
        ("- **Schedule Inputs**:\n  - numbre: 7\n", "no input 'numbre'"),
        ("- **Schedule Inputs**:\n  - number: 7\n  - day: soon\n", "day"),
    ],
)
def test_inputs_that_do_not_fit_are_an_error(inputs: str, says: str) -> None:
    (found,) = check_skill(scheduled(DAILY + inputs, NUMBER), MAKE, {})

    assert found.code == "invalid-schedule"
    assert says in found.message


def test_a_schedule_that_can_start_no_run_is_an_error() -> None:
    cases = [
        scheduled(DAILY + "- **Durable**: no\n"),
        scheduled(steps="1. Make it.\n"),
        scheduled("- **Schedule Inputs**:\n  - number: 7\n", NUMBER),
    ]
    for spec in cases:
        assert "invalid-schedule" in [one.code for one in check_skill(spec, MAKE, {})]


@pytest.mark.parametrize(
    ("steps", "more", "metadata"),
    [
        ("1. **Make**\n   - **Ask**: Shall I?\n   - **Use**: make\n", "", ""),
        (STEPS, "## Safety\n\n- **Requires Confirmation**: true", ""),
        (STEPS, "## Safety\n\n- **Sensitivity**: critical", ""),
        (STEPS, "", "- **Requires Auth**: true"),
    ],
)
def test_a_schedule_that_needs_a_person_is_a_warning(steps: str, more: str, metadata: str) -> None:
    make = tool("make", more=more, metadata=metadata)
    (found,) = check_skill(scheduled(steps=steps), {"make": make}, {})

    assert (found.code, found.severity) == ("unattended", "warning")
