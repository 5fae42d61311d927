"""A tool of before that runs on: as it was, under the stricter of its policies of then and now."""

import pytest
from policies import FULL, edited, spec_of
from tests.definitions import few

from toolmd._load.weakening import list_weakened, tighten

OLD = spec_of(FULL)


def test_an_unchanged_tool_is_the_old_tool_itself() -> None:
    assert tighten(OLD, spec_of(FULL)) is OLD


def test_stricter_new_fields_apply_to_the_old_tool() -> None:
    now = edited("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.9")
    free = edited("- **Requires Auth**: true\n")

    assert tighten(OLD, now).safety.min_confidence == 0.9
    assert tighten(free, OLD).requires_auth
    assert tighten(edited("- **Max Calls**: 20\n"), OLD).limits.quotas == few(20)


def test_weaker_new_fields_do_not_apply_to_the_old_tool() -> None:
    now = edited("- **Min Confidence**: 0.8\n")

    assert tighten(OLD, now) is OLD


def test_its_parameters_and_result_stay_as_the_steps_expect() -> None:
    secret = "What was given\n- **Sensitive**: true\n"
    text = FULL.replace("What was given\n", secret).replace("- **Maximum**: 10", "- **Maximum**: 5")
    now = spec_of(text.replace("## Rules\n\n", "## Rules\n\n- `dose != 4`: Not four.\n"))
    assert list_weakened(now, OLD)

    assert tighten(OLD, now) is OLD


@pytest.mark.parametrize(
    ("line", "then", "now", "field"),
    [
        ("- **Confirm When**: `{}`\n", "dose > 5", "dose == 4", "confirm_when"),
        ("- **Crisis When**: `{}`\n", "dose > 9", "dose == 1", "crisis_when"),
    ],
)
def test_of_two_conditions_either_applies(line, then, now, field) -> None:
    said = line.format(then)
    without, other = edited(said), edited(said, line.format(now))

    assert getattr(tighten(OLD, other).safety, field) == f"({then}) || ({now})"
    assert getattr(tighten(OLD, OLD).safety, field) == then
    assert getattr(tighten(OLD, without).safety, field) == then
    assert getattr(tighten(without, OLD).safety, field) == then
    assert getattr(tighten(without, without).safety, field) is None


def test_a_condition_that_holds_wherever_the_other_one_does_applies_alone() -> None:
    low, high = (edited("`dose > 5`", f"`dose > {number}`") for number in (3, 6))

    assert tighten(low, high).safety.confirm_when == "dose > 3"
    assert tighten(high, low).safety.confirm_when == "dose > 3"


def test_a_default_threshold_counts_as_the_files_own() -> None:
    silent = edited("- **Min Confidence**: 0.8\n")
    low = edited("- **Min Confidence**: 0.8", "- **Min Confidence**: 0.5")

    assert tighten(low, silent, default_min=0.7).safety.min_confidence is None
    assert tighten(low, silent).safety.min_confidence == 0.5
    assert tighten(low, silent, default_min=0.5).safety.min_confidence == 0.5


def test_the_combined_tool_is_as_strict_as_either() -> None:
    now = edited("- **Sensitivity**: high", "- **Sensitivity**: critical")
    then = edited("- **Timeout**: 10s", "- **Timeout**: 5s")

    held = tighten(then, now)

    assert [list_weakened(then, held), list_weakened(now, held)] == [(), ()]
