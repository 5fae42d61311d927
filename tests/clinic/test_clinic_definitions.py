"""The clinic's files have no findings, match the seed, and their examples pass."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.benchmarks.book import BOOKING as TEMPLATE

from toolmd._expressions import compile_expression
from toolmd._parse import format_text, parse_skill, parse_tool
from toolmd._validation import ArgumentsValidator, InvalidArgumentsError

ROOT = Path(__file__).parents[2]
TOOLS = sorted((ROOT / "tools_md").glob("*/*.tool.md"))
SKILLS = sorted((ROOT / "skills_md").glob("*.skill.md"))

BOOKING = TEMPLATE.format(name="book_appointment")
"""The example of seed 003, whole."""


def read(path, parse=parse_tool):
    spec, diagnostics = parse(path.read_text(), path.relative_to(ROOT).as_posix())
    assert spec is not None, diagnostics
    return spec, diagnostics


def tool(name):
    (path,) = [path for path in TOOLS if path.name == f"{name.replace('_', '-')}.tool.md"]
    return read(path)[0]


def test_the_clinic_has_the_tools_of_the_five_categories():
    found = {}
    for path in TOOLS:
        spec, _ = read(path)
        assert path.parent.name == spec.category
        found.setdefault(spec.category, []).append(spec.name)
    assert found == {
        "appointment": [
            "add_appointment_notes",
            "book_appointment",
            "cancel_appointment",
            "check_availability",
            "get_appointment_history",
            "get_appointment",
            "reschedule_appointment",
        ],
        "clinic": [
            "get_appointment_preparation",
            "get_available_services",
            "get_clinic_hours",
            "get_day_book",
            "get_directions",
        ],
        "external": ["check_insurance_eligibility"],
        "notification": ["send_appointment_reminder", "send_confirmation_sms"],
        "patient": ["add_child", "get_patient_info", "register_family"],
    }


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_a_tools_file_is_read_without_a_word(path):
    _, diagnostics = read(path)
    assert diagnostics == ()


@pytest.mark.parametrize("path", SKILLS, ids=lambda path: path.stem)
def test_a_skills_file_is_read_without_a_word(path):
    _, diagnostics = read(path, parse_skill)
    assert diagnostics == ()


@pytest.mark.parametrize("path", [*TOOLS, *SKILLS], ids=lambda path: path.stem)
def test_a_file_is_written_canonically(path):
    assert format_text(path.read_text(), path.name) == path.read_text()


def test_booking_is_the_seeds_example_and_more():
    written = iter(
        (ROOT / "tools_md/appointment/book-appointment.tool.md").read_text().splitlines()
    )
    # The canonical form writes the seed's older name of this field as its newer one.
    older, newer = "- **Requires Patient Context**: true", "- **Requires Context**: patient"
    for line in BOOKING.replace(older, newer).splitlines():
        assert line in written, f"not in the file, or not in this order: {line}"
    seed, _ = parse_tool(BOOKING, "book-appointment.tool.md")
    ours = tool("book_appointment")
    assert ours.input_schema == seed.input_schema
    assert ours.description == seed.description
    assert replace(ours.returns, properties=None) == seed.returns


def test_the_scheduling_skill_requires_the_seeds_five_inputs():
    spec, _ = read(ROOT / "skills_md/schedule-appointment.skill.md", parse_skill)
    assert [(p.name, p.shape.types, p.required) for p in spec.parameters] == [
        ("patientId", ("string",), True),
        ("date", ("string",), True),
        ("timeRange", ("string",), True),
        ("numChildren", ("number",), True),
        ("parentPhone", ("string",), True),
        ("childNames", ("array",), False),
        ("appointmentType", ("string",), False),
    ]


def test_a_tool_without_arguments_says_so():
    for name in ("get_clinic_hours", "get_directions", "get_available_services"):
        assert tool(name).parameters == ()


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_every_example_is_accepted_or_denied_as_declared(path):
    spec, _ = read(path)
    assert spec.examples
    validator = ArgumentsValidator(spec.parameters, ignore_unknown=False)
    for example in spec.examples:
        assert (example.error is None) is passes(spec, validator, example.arguments)


def passes(spec, validator, arguments):
    try:
        filled = validator.validate(arguments)
    except InvalidArgumentsError:
        return False
    return all(compile_expression(rule.expression).evaluate(filled) for rule in spec.rules)


def test_every_tool_that_changes_something_can_be_called_again_with_the_same_request():
    for path in TOOLS:
        spec, _ = read(path)
        assert spec.read_only or spec.idempotent in {"yes", "keyed"}, spec.name
