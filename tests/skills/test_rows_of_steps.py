"""Every package derives what it knows of a step's key from the key's row."""

from typing import NamedTuple

import pytest

from toolmd._parse import parse_skill, skill_text
from toolmd._parse.fields.table import KEY_BY_FOLD, key_instead
from toolmd._parse.steps.values import READERS
from toolmd._parse.words import fold
from toolmd._parse.writing.texts import WRITERS
from toolmd._skills.check import StepCheck, check_skill
from toolmd._skills.graph import chart_of
from toolmd._skills.run import Run
from toolmd._types.skill import STEP_KEYS, SkillSpec, Step, StepKey, step_json

SKILL = """# Send

Sends flowers.

## Metadata

- **Version**: 1.0.0
- **Category**: shop
- **Required Tools**: send, take_back

## Workflow

1. **Send them**.
{keys}

## Input Schema

- `day` (string, required): The day.
- `days` (array of string, required): All days.

## Output Schema

- **Type**: object (SkillResult)
"""


class Case(NamedTuple):
    """A key's value, the keys that it is written with, and its canonical JSON."""

    value: str
    beside: str
    json: object
    checked: bool = False
    """Whether the value is an expression, which is checked when the skill is loaded."""


USE = "   - **Use**: send\n"
ASK = "   - **Ask**: Send them?\n"
CASES = {
    "Use": Case("send", "", "send"),
    "With": Case("\n     - day: `day`", USE, {"day": "`day`"}, checked=True),
    "Choose": Case("`day`", "", "day", checked=True),
    "Ask": Case("Send {day}?", "", "Send {day}?", checked=True),
    "Return": Case("\n     - day: `day`", "", {"day": "`day`"}, checked=True),
    "Stop": Case("Not {day}.", "", "Not {day}.", checked=True),
    "Save as": Case("sent", USE, "sent"),
    "When": Case('`day == "x"`', USE, 'day == "x"', checked=True),
    "For each": Case(
        "one in `days`", USE, {"name": "one", "in": "days", "at_once": 1}, checked=True
    ),
    "Wait": Case("`timestamp(day)`", USE, "timestamp(day)", checked=True),
    "At Once": Case("3", USE + "   - **For each**: one in `days`\n", None),
    "If empty": Case('stop "No {day}"', USE, 'stop "No {day}"', checked=True),
    "If no": Case('stop "No {day}"', ASK, 'stop "No {day}"', checked=True),
    "Or else": Case("`day`", "   - **Choose**: `days[0]`\n", "`day`", checked=True),
    "Check": Case('`day == "x"`', USE, 'day == "x"', checked=True),
    "On error": Case('retry 2 times, then stop "No {day}"', USE,
                     {"retries": 2, "then": 'stop "No {day}"'}, checked=True),
    "Undo": Case("take_back\n     - day: `day`", USE,
                 {"use": "take_back", "with": {"day": "`day`"}}, checked=True),
    "By": Case("`approver.user != day`", ASK, "approver.user != day", checked=True),
    "Expires": Case("2 days", ASK, 172800.0),
    "Escalate": Case("after 4 hours to head", ASK + "   - **By**: manager\n",
                     [{"after_s": 14400.0, "to": ["head"]}]),
    "Timeout": Case("30s", USE, 30.0),
}  # fmt: skip


def parsed(text: str) -> SkillSpec:
    spec, found = parse_skill(text, "send.skill.md")
    assert spec is not None, found
    return spec


def written(name: str, beside: str, value: str) -> str:
    return SKILL.format(keys=f"{beside}   - **{name}**: {value}\n")


def test_every_key_has_a_case_and_every_attribute_a_key() -> None:
    head = {"id", "title", "text", "line", "places", "message"}

    assert CASES.keys() == STEP_KEYS.keys()
    assert {key.attribute for key in STEP_KEYS.values()} - {""} == {*Step.model_fields} - head


@pytest.mark.parametrize("row", STEP_KEYS.values(), ids=lambda row: row.name)
def test_a_row_has_every_part(row: StepKey) -> None:
    assert row.says.endswith(".")
    assert row.kind in READERS
    assert row.kind in WRITERS
    assert callable(getattr(StepCheck, f"_{row.kind}"))
    assert row.word or row.part, "a drawing shows the key, or another key shows it"
    assert callable(getattr(Run, row.run)) if row.run else row.needs


def test_no_kind_of_value_is_left_over() -> None:
    kinds = {row.kind for row in STEP_KEYS.values()}

    assert READERS.keys() == WRITERS.keys() == kinds


@pytest.mark.parametrize("name", sorted({*STEP_KEYS} - {"With"}))
def test_a_key_is_in_the_drawing(name: str) -> None:
    spec = parsed(written(name, CASES[name].beside, CASES[name].value))

    assert STEP_KEYS[name].word in [line.word.split(" until")[0]
                                    for line in chart_of(spec).boxes[0].lines]  # fmt: skip


@pytest.mark.parametrize("name", STEP_KEYS)
def test_a_key_is_read_and_written_back(name: str) -> None:
    spec = parsed(written(name, CASES[name].beside, CASES[name].value))
    again = parsed(skill_text(spec))
    (step,) = spec.workflow_sections[0].steps

    assert name in step.places
    assert again.canonical == spec.canonical
    assert f"- **{name}**:" in skill_text(spec)


@pytest.mark.parametrize("name", sorted({*STEP_KEYS} - {"At Once"}))
def test_a_key_is_in_the_canonical_json(name: str) -> None:
    spec = parsed(written(name, CASES[name].beside, CASES[name].value))
    (step,) = spec.workflow_sections[0].steps
    key = "with" if name == "With" else STEP_KEYS[name].attribute

    key = {"returns": "return", "wait": "wait_until"}.get(key, key)
    assert step_json(step)[key] == CASES[name].json


@pytest.mark.parametrize("name", sorted(name for name, case in CASES.items() if case.checked))
def test_an_unknown_name_in_a_key_is_found(name: str) -> None:
    case = CASES[name]
    text = written(name, case.beside, case.value.replace("day", "nobody"))
    spec = parsed(text.replace("nobody: ", "day: "))
    found = check_skill(spec, {}, {}, partial=True)

    assert any(one.code == "invalid-expression" and "nobody" in one.message for one in found)


@pytest.mark.parametrize("name", sorted(name for name, row in STEP_KEYS.items() if row.needs))
def test_a_key_without_the_one_that_it_needs_is_an_error(name: str) -> None:
    _, found = parse_skill(written(name, "", CASES[name].value), "send.skill.md")

    assert any(f"'{name}' needs" in one.message for one in found)


def test_words_that_people_write_instead_mean_their_key_and_are_not_read_as_it() -> None:
    for row in STEP_KEYS.values():
        for word in row.instead.split(", "):
            assert key_instead(word) == row.name
            assert fold(word) not in KEY_BY_FOLD
