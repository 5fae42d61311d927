"""The system prompt that teaches a text dialect its tools."""

import pytest

from toolmd._dialect import parse_reply, system_prompt
from toolmd._types.call_spec import Rule, Safety
from toolmd._types.diagnostic import Source
from toolmd._types.schema import Parameter, Schema
from toolmd._types.tool import Example, ToolSpec

PRESSURE = ToolSpec(
    name="log_blood_pressure",
    title="Log blood pressure",
    description="Log a blood pressure reading.",
    when_to_use="The user reports a reading.",
    version="1.0.0",
    category="health",
    parameters=(
        Parameter(
            name="systolic",
            required=True,
            shape=Schema(types=("integer",), minimum=1, maximum=300, unit="mmHg"),
        ),
        Parameter(
            name="position",
            shape=Schema(types=("string",), description="How.", enum=("sitting", "lying")),
        ),
        Parameter(
            name="tags",
            shape=Schema(
                types=("array",),
                items=Schema(
                    types=("object",),
                    properties=(
                        Parameter(
                            name="word",
                            required=True,
                            shape=Schema(types=("string",), max_length=9),
                        ),
                    ),
                ),
                max_items=3,
            ),
        ),
    ),
    returns=Schema(types=("object",), description="What was logged."),
    rules=(Rule(expression="systolic > 0", message="Systolic must be above zero."),),
    safety=Safety(min_confidence=0.7, requires_confirmation=True, explicit_intent=True),
    examples=(
        Example(title="Refused", arguments={"systolic": 0}, error="invalid_arguments"),
        Example(title="Morning", arguments={"systolic": 120}),
    ),
    source=Source("x.tool.md", 1),
)
PLAIN = ToolSpec(
    name="search",
    title="Search",
    description="Search the notes.",
    version="1.0.0",
    category="general",
    parameters=(
        Parameter(name="day", required=True, shape=Schema(types=("string",), format="date")),
        Parameter(name="limit", required=True, shape=Schema(types=("integer",), minimum=5)),
        Parameter(
            name="words",
            required=True,
            shape=Schema(types=("array",), items=Schema(types=("string",)), min_items=2),
        ),
        Parameter(name="deep", required=True, shape=Schema(types=("boolean",))),
        Parameter(name="unused", shape=Schema(types=("string",))),
    ),
    returns=Schema(types=("array",)),
    source=Source("y.tool.md", 1),
)


def examples_of(prompt):
    return [line.removeprefix("Example: ") for line in prompt.splitlines() if "Example: " in line]


@pytest.mark.parametrize("dialect", ["inline", "action", "plan"])
def test_its_examples_are_calls_in_the_dialect_itself(dialect):
    first, second = examples_of(system_prompt([PRESSURE, PLAIN], dialect))
    (call,) = parse_reply(first, dialect).calls
    assert call.tool == "log_blood_pressure"
    assert call.arguments == {"systolic": 120}
    assert call.confidence == 0.95
    (call,) = parse_reply(second, dialect).calls
    assert call.arguments == {
        "day": "2026-03-05",
        "limit": 5,
        "words": ["…", "…"],
        "deep": True,
    }


def test_the_prompt_has_a_tools_parameters_limits_and_policy():
    prompt = system_prompt([PRESSURE], "inline")
    for line in (
        "## log_blood_pressure",
        "When to use it: The user reports a reading.",
        "- `systolic` (integer, required): Unit: mmHg. At least 1. At most 300.",
        '- `position` (string, optional): How. One of "sitting", "lying".',
        "- `tags` (array of object, optional): At most 3 items.",
        "    - `word` (string, required): At most 9 characters.",
        "- Systolic must be above zero.",
        "Returns: What was logged.",
        "Call it only with a confidence of at least 0.7; else ask.",
        "Call it only when the user has asked for it in words.",
        "The user is shown the call and must confirm it before it runs.",
    ):
        assert line in prompt.splitlines()
    assert "_confidence" not in prompt


def test_a_dialect_without_a_confidence_field_has_it_as_an_argument():
    prompt = system_prompt([PRESSURE, PLAIN], "action")
    assert prompt.count("`_confidence`") == 1


def test_a_prompt_without_tools_says_so():
    assert "no tools" in system_prompt([], "inline")


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "auto"])
def test_a_native_dialect_needs_no_prompt(dialect):
    assert system_prompt([PRESSURE], dialect) == ""
