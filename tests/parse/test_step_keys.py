"""A bullet of a step that looks like a key is a key or an error, never silently prose."""

import pytest

from toolmd._parse import parse_skill
from toolmd._types.skill import STEP_KEYS

SKILL = """\
# Pay Bill

Pay a bill.

## Metadata

- **Name**: pay_bill
- **Version**: 1.0.0
- **Category**: billing
- **Required Tools**: pay

## Workflow

{}

## Input Schema

### amount

- **Type**: number
- **Required**: true

## Output Schema

- **Type**: object (SkillResult)
"""
PAY = "\n2. **Pay** it.\n   - **Use**: pay"


def read(steps: str):
    return parse_skill(SKILL.format(steps), "pay_bill.skill.md")


def errors(steps: str):
    spec, diagnostics = read(steps)
    found = [d for d in diagnostics if d.severity == "error"]
    assert (spec is None) == bool(found)
    return found


INSTEAD = [(key, word) for key, row in STEP_KEYS.items() for word in row.instead.split(", ")]


@pytest.mark.parametrize(("key", "word"), [*INSTEAD, ("Ask", "Aks"), ("On error", "On eror")])
def test_an_unknown_step_key_is_an_error_that_suggests_the_key(key, word):
    (found,) = errors(f"1. **Look** at it.\n   - **{word}**: Really pay {{amount}}?\n{PAY}")
    assert found.code == "unknown-step-key"
    assert f"'{key}'" in found.help
    assert found.span.line == 15


@pytest.mark.parametrize("text", ["tomorrow", "soon", "0s", "-2h", "2 h later", ""])
def test_an_unreadable_wait_is_an_error(text):
    (found,) = errors(f"1. **Later**\n   - **Wait**: {text}\n{PAY}")
    assert found.code == "unreadable-value"
    assert found.span.line == 15


@pytest.mark.parametrize(
    "line", ["**Wait**: 2h", "> **Wait**: 2h", "- Before\n     - **Wait**: 2h"]
)
def test_a_wait_that_is_not_a_bullet_of_a_step_is_an_error(line):
    (found,) = errors(f"1. **Later**\n\n   {line}\n\n{PAY}")
    assert "'Wait'" in found.message


@pytest.mark.parametrize(
    "bullet",
    [
        "- **Confirm**: Pay?",
        "- **Confirm:** Pay?",
        "- __Confirm__: Pay?",
        "- `Confirm`: Pay?",
        "- **Confirm** - Pay?",
        "- **Confirm** \u2014 Pay?",
        "- **Confirm**\uff1aPay?",
        "- *Confirm*: Pay?",
        "- confirm: Pay?",
        "- CONFIRM : Pay?",
        "* **Confirm**: Pay?",
        "1. **Confirm**: Pay?",
        "- **Confirm**:\n     - Pay?",
        "- Ask",
        "- [x] Ask",
        "- **Ask** with the owner",
        "> **Ask**: Pay?",
        "**Ask**: Pay?",
        "- Before it\n     - **Ask**: Pay?",
        "- Aks",
        "- **Frobnicate**: Pay?",
        "- Frobnicate: Pay?",
        "- **The owner of the house must agree**: Pay?",
    ],
)
@pytest.mark.parametrize("above", ["1. **Look** at it.", "1. **Look** at it.\n   - **Use**: pay"])
def test_text_that_looks_like_a_key_is_an_error_in_every_form(bullet, above):
    assert errors(f"{above}\n   {bullet}\n{PAY}")


@pytest.mark.parametrize("title", ["**Aks**: Pay?", "**Ask**", "Aks: Pay?", "**Wait**"])
def test_a_step_whose_title_is_a_key_that_it_lacks_is_an_error(title):
    assert errors(f"1. {title}\n{PAY}")[0].code == "unknown-step-key"


@pytest.mark.parametrize(
    "beside",
    ["- **Ask**: Pay?", "**Ask**: Pay?", "> **When**: `amount > 1.0`"],
)
def test_a_key_outside_the_steps_is_an_error(beside):
    assert errors(f"{beside}\n\n1. **Pay** it.\n   - **Use**: pay")
    assert errors(f"1. **Pay** it.\n   - **Use**: pay\n\n### Later\n\n{beside}")


@pytest.mark.parametrize(
    "step",
    [
        "1. **Look**\n   - **Check**: `amount < 9.0`",
        "1. **Look**\n   - **When**: `amount < 9.0`",
        "1. **Look**\n   - **On error**: continue",
        "1. **Stop**: No.\n   - **Check**: `amount < 9.0`",
        "1. **Return**\n   - **Save as**: it",
        "1. **Check**: `amount < 9.0`",
        "1. **By**: head",
        "1. **Save as**: it",
    ],
)
def test_a_key_that_its_step_does_not_use_is_an_error(step):
    (found,) = errors(f"{step}\n{PAY}")
    assert found.code == "invalid-step"


def test_a_bold_line_below_a_keys_value_is_not_part_of_it():
    assert errors("1. **Pay**\n   - **Stop**: No.\n     **When**: `amount > 1.0`\n")


@pytest.mark.parametrize(
    "words",
    [
        "   - at the slip",
        "   - The owner pays on Mondays",
        "   - When the owner is away, his wife pays: she knows",
        "   - https://bank.example/pay",
        "   - 10:30 is late",
        "\n   Take the blue slip.",
        "   - The slip has two sides: both count",
    ],
)
def test_sentences_below_a_step_stay_text(words):
    spec, diagnostics = read(f"1. **Look** at it.\n{words}\n{PAY}")
    assert not diagnostics
    assert spec is not None


@pytest.mark.parametrize(
    "title",
    [
        "**Confirm** the amount",
        "Wait until noon",
        "**Check the slip**: both sides",
        "**Check**: the slip",
        "**User**: says which day",
        "**Task**: polish",
        "**B**: the second half",
    ],
)
def test_titles_of_steps_stay_titles(title):
    spec, diagnostics = read(f"1. {title}\n{PAY}")
    assert not diagnostics
    assert spec is not None


@pytest.mark.parametrize("key", ["With:", "**with**:", "With", "__With__:"])
@pytest.mark.parametrize("name", ["save as", "Save as", "**Save As**"])
def test_a_step_that_is_its_action_reads_each_spelling_of_its_keys(key, name):
    spec, diagnostics = read(f"1. **Use**: pay\n   - {key}\n     - amount: 5\n   - {name}: slip")
    assert not diagnostics
    assert spec is not None
    (step,) = spec.steps
    assert (step["use"], step["with"], step["save_as"]) == ("pay", {"amount": "5"}, "slip")


def test_a_workflow_without_actions_may_have_keys_as_titles():
    spec, diagnostics = read("1. **Confirm**: the owner agrees\n2. **Verify**: the slip is signed")
    assert not diagnostics
    assert spec is not None
