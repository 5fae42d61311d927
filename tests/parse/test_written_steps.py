"""Common ways of writing a skill's steps, and errors for text that would be ignored."""

import pytest

from toolmd._parse import format_text, parse_skill

SKILL = """\
# Discharge Animal

Send an animal home.

## Metadata

- **Name**: discharge_animal
- **Version**: 1.0.0
- **Category**: surgery
- **Required Tools**: weigh_animal, bill_owner

## Workflow

{}

## Input Schema

### animal

- **Type**: string
- **Required**: true

## Output Schema

- **Type**: object (SkillResult)
"""
CANONICAL = """\
1. **Weigh**
   - **Use**: weigh_animal
   - **With**:
     - animal: `animal`
   - **Save as**: weight
   - **On error**: retry 2 times, then stop "No scales."
   - **If empty**: go to Nothing

### Nothing

1. **Stop**: Nothing weighed."""


def read(steps: str):
    return parse_skill(SKILL.format(steps), "discharge_animal.skill.md")


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("   - **With**:\n", "   - With\n"),
        ("   - **With**:\n", "   - **with**\n"),
        ("1. **Weigh**\n", "1. [ ] **Weigh**\n"),
        ("go to Nothing", "go to `Nothing`."),
        ("go to Nothing", "goto Nothing"),
        ('stop "No scales."', "stop \u201cNo scales.\u201d"),
        ('stop "No scales."', "stop 'No scales.'"),
        ("times, then", "times and then"),
        ("times, then", "times then"),
        ("1. **Weigh**", "Be quick:\n\n- at the door\n\n1. **Weigh**"),
    ],
)
def test_a_step_in_another_form_reads_as_the_same(written, instead):
    spec, diagnostics = read(CANONICAL.replace(written, instead))
    canonical, _ = read(CANONICAL)
    assert not diagnostics
    assert spec is not None
    assert canonical is not None
    assert [s.name for s in spec.workflow_sections] == ["", "Nothing"]
    steps = [section.steps for section in spec.workflow_sections]
    plain = [section.steps for section in canonical.workflow_sections]
    assert [[s.model_dump(exclude=AT) for s in part] for part in steps] == [
        [s.model_dump(exclude=AT) for s in part] for part in plain
    ]


AT = {
    "line": True,
    "places": True,
    "use": {"arguments": {"__all__": {"line", "column", "value_column", "value"}}},
}


@pytest.mark.parametrize(
    "loop", ["`day in [1, 2]`", "`day` in `[1, 2]`", "day in `[1, 2]`", "day in [1, 2]"]
)
def test_a_loop_may_be_in_one_code_span(loop):
    spec, _ = read(f"1. **Weigh**\n   - **For each**: {loop}\n   - **Use**: weigh_animal")
    assert spec is not None
    said = spec.workflow_sections[0].steps[0].for_each
    assert (said.name, said.over.cel) == ("day", "[1, 2]")


@pytest.mark.parametrize(
    "bullet",
    [
        "- **Ask**: Is the owner here?",
        "- **Bill**\n  - **Use**: bill_owner",
        "### Before\n\n- **Ask**: Is the owner here?\n\n1. **Wait**\n   - **Choose**: `1`",
    ],
)
def test_a_bullet_with_an_action_next_to_numbered_steps_is_an_error(bullet):
    spec, (found,) = read(f"{bullet}\n\n1. **Weigh**\n   - **Use**: weigh_animal")
    assert spec is None
    assert found.code == "invalid-step"
    assert "number it" in found.help


def test_bullets_of_a_workflow_without_steps_are_text():
    spec, diagnostics = read("- **Ask**: the owner\n- **Use**: the scales")
    assert not diagnostics
    assert spec is not None
    assert not spec.executable


@pytest.mark.parametrize(
    "steps",
    [
        "1. **Requires Confirmation**: yes\n   - **Use**: bill_owner",
        "**Requires Confirmation**: yes\n\n1. **Bill**\n   - **Use**: bill_owner",
        "1. **Bill**\n   - **Use**: bill_owner\n\n> Min Confidence: 0.9",
    ],
)
def test_a_restriction_among_the_steps_is_an_error(steps):
    spec, (found,) = read(steps)
    assert spec is None
    assert found.code == "misplaced-field"


@pytest.mark.parametrize("line", ["Requires Auth**: yes", "Min Confidence**: 0.9"])
def test_a_tools_restriction_in_a_skills_metadata_is_an_error(line):
    text = SKILL.format(CANONICAL).replace("- **Category**", f"- **{line}\n- **Category**")
    spec, (found,) = parse_skill(text, "discharge_animal.skill.md")
    assert spec is None
    assert found.code == "misplaced-field"


@pytest.mark.parametrize("below", ["", "   - **Use**: weigh_animal\n"])
@pytest.mark.parametrize(
    "title",
    [
        "**Look** at the paws – front first",
        "**Look** (front): all",
        "**Step 1: look**",
        "**Look**: at all",
        "**Look**. At all",
        "Look at it: all",
        "1: all",
        "**Look",
        "**Look at *all* the paws.",
        "**Look*\0* at all",
        "Look**at** all**",
    ],
)
def test_a_step_is_read_back_as_it_was_written(title, below):
    text = SKILL.format(f"1. {title}\n{below}\n2. **Bill**\n   - **Use**: bill_owner")
    path = "discharge_animal.skill.md"
    spec, _ = parse_skill(text, path)
    written = format_text(text, path)
    assert spec is not None
    assert written is not None
    again, _ = parse_skill(written, path)
    assert again is not None
    assert again.steps == spec.steps
    assert format_text(written, path) == written
