"""The tools' files agree with their implementations."""

import re
from importlib.resources import files

import pytest

from toolmd import parse_tool
from toolmd_simplescribe.fhir.observations import DIASTOLIC, NAMES, SYSTOLIC, VITALS
from toolmd_simplescribe.records import TOOLS

FOLDER = files("toolmd_simplescribe") / "tools"
TEXTS = {name: (FOLDER / f"{name.replace('_', '-')}.tool.md").read_text("utf-8") for name in TOOLS}
SPECS = {name: parse_tool(text, name)[0] for name, text in TEXTS.items()}


def test_the_package_brings_its_tools_without_a_finding(workspace):
    assert workspace.diagnostics == ()
    assert sorted(workspace.tools) == sorted(TOOLS)


@pytest.mark.parametrize("name", TOOLS)
def test_every_tool_is_read_only_scoped_to_a_patient_and_limited(name):
    spec = SPECS[name]
    assert spec.read_only
    assert spec.requires_context == ("patient",)
    assert spec.unknown_parameters == "ignore"
    assert spec.limits.timeout_s
    assert spec.limits.max_rows
    assert spec.limits.max_bytes


@pytest.mark.parametrize("name", TOOLS)
def test_the_examples_are_accepted_or_denied_as_declared(name, workspace):
    assert SPECS[name].examples
    for example in SPECS[name].examples:
        result = workspace.call_sync(
            name, example.arguments, context={"patient": "123"}, dry_run=True
        )
        if example.error is None:
            assert result.outcome == "allowed", example.title
        else:
            assert result.error.code == example.error, example.title


def test_the_codes_in_the_file_are_explained_there_and_have_names():
    codes = next(p for p in SPECS["get_labs"].parameters if p.name == "codes")
    table = dict(re.findall(r"^\| (\d\S*) \| (.*) \|$", TEXTS["get_labs"], re.MULTILINE))
    assert set(codes.shape.items.enum) == table.keys()
    assert table == NAMES


@pytest.mark.parametrize("code", [*NAMES, *VITALS, SYSTOLIC, DIASTOLIC])
def test_every_code_has_the_check_digit_of_loinc(code):
    digits, check = code.split("-")
    total = 0
    for place, digit in enumerate(reversed(digits)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    assert (10 - total % 10) % 10 == int(check)
