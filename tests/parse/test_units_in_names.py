"""The name of a field may contain the unit of its value."""

import pytest

from toolmd._parse import parse_skill, parse_tool

TOOL = """\
# T

Do it.

## Metadata

- **Name**: t
- **Version**: 1.0.0
- **Category**: g
- **Read Only**: yes

## Parameters

None

## Returns

- **Type**: object
- **Description**: r

## Limits

- {}
"""


def limits(line: str):
    spec, diagnostics = parse_tool(TOOL.format(line), "t.tool.md")
    return spec, diagnostics


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("Timeout Seconds: 10", "Timeout: 10s"),
        ("**Timeout Seconds**: 10", "Timeout: 10s"),
        ("timeout_seconds: 10", "Timeout: 10s"),
        ("timeoutSeconds: 10", "Timeout: 10s"),
        ("Timeout (seconds): 10", "Timeout: 10s"),
        ("Timeout in seconds: 2.5", "Timeout: 2500ms"),
        ("timeout_s: 10", "Timeout: 10s"),
        ("timeoutMs: 500", "Timeout: 500ms"),
        ("Timeout Ms: 1,500", "Timeout: 1500ms"),
        ("Timeout Secs: 10s", "Timeout: 10s"),
        ("Timeout Seconds: 10 seconds", "Timeout: 10s"),
        ("Timeout Minutes: `2`", "Timeout: 2m"),
        ("Backoff Seconds: 1", "Backoff: 1s"),
        ("Back Off Ms: 100", "Backoff: 100ms"),
        ("Rate per second: 3", "Rate: 3/s"),
        ("Rate Per Minute: 100", "Rate: 100/min"),
        ("calls_per_minute: 100", "Rate: 100/min"),
        ("Max Calls Per Minute: 5", "Rate: 5/min"),
        ("Rate per minute: 3/min", "Rate: 3/min"),
        ("Max Bytes KB: 64", "Max Bytes: 64KB"),
        ("Max KB: 64", "Max Bytes: 64KB"),
        ("maxMb: 0.25", "Max Bytes: 256KB"),
    ],
)
def test_a_unit_in_the_name_is_the_unit_of_the_value(written, canonical):
    spec, diagnostics = limits(written)
    same, _ = limits(canonical)
    assert not diagnostics
    assert spec is not None
    assert spec.limits != type(spec.limits)()
    assert (spec.canonical, spec.hash) == (same.canonical, same.hash)


@pytest.mark.parametrize(
    "line",
    [
        "Timeout Seconds: 500ms",
        "Timeout Ms: 10s",
        "Timeout Seconds: soon",
        "Timeout Seconds: 0",
        "Timeouts: 10",
        "Rate per minute: 3/s",
        "Max KB: 1MB",
        "Timeout Seconds: 10\n- Timeout: 20s",
        "Timeout Parsecs: 10",
        "Max Rows KB: 10",
    ],
)
def test_a_unit_that_the_value_or_another_line_contradicts_is_an_error(line):
    spec, diagnostics = limits(line)
    assert spec is None
    assert any(d.severity == "error" for d in diagnostics)


def test_the_timeout_of_a_step_may_contain_its_unit():
    text = """\
# S

Ask.

## Metadata

- **Name**: s
- **Version**: 1.0.0
- **Category**: g

## Workflow

1. **Ask** the owner.
   - **Ask**: Is it so?
   - **Timeout Minutes**: 2

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""
    spec, diagnostics = parse_skill(text, "s.skill.md")
    assert not diagnostics
    assert spec is not None
    assert spec.workflow_sections[0].steps[0].timeout_s == 120
    assert parse_skill(text.replace("2\n", "2s\n", 1), "s.skill.md")[0] is None
