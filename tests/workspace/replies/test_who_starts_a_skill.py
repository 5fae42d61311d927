"""A skill says whether models may start it, whether people may, and which tools it may use."""

import asyncio
import json
from pathlib import Path

import pytest

from toolmd import Workspace, parse_skill

SKILL = """# Water a bed

Water one bed.

## Metadata

- **Name**: water_bed
- **Version**: 1.0
- **Category**: garden
{fields}
## Workflow

1. **Return**:
   - done: `true`

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


def opened(place: Path, *fields: str) -> Workspace:
    (place / "toolmd.toml").write_text("tools = []\n", "utf-8")
    (place / "skills_md").mkdir()
    lines = "".join(f"- **{field}\n" for field in fields)
    file = place / "skills_md" / "water-bed.skill.md"
    file.write_text(SKILL.replace("{fields}", lines), "utf-8")
    return Workspace.open(place)


def reply() -> dict[str, object]:
    function = {"name": "water_bed", "arguments": json.dumps({})}
    return {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function",
            "function": function}]}  # fmt: skip


@pytest.mark.parametrize(
    "field", ["Model Invocation**: no", "Disable Model Invocation**: yes",
              "disable-model-invocation**: true"]
)  # fmt: skip
def test_a_model_neither_sees_nor_starts_a_skill_for_people(tmp_path: Path, field: str) -> None:
    with opened(tmp_path, field) as workspace:
        for target in ("openai", "openai-responses", "anthropic", "gemini", "mcp"):
            assert workspace.export(target) == []
            assert workspace.export(target, ["water_bed"]) == []
        assert "water_bed" not in workspace.export("prompt")
        turn = asyncio.run(workspace.handle(reply(), dialect="openai"))
        run = asyncio.run(workspace.run("water_bed", {}))

    assert [(r.outcome, r.error and r.error.code) for r in turn.results] == [
        ("denied", "unknown_tool")
    ]
    assert run.data == {"done": True}


def test_a_model_starts_any_other_skill(tmp_path: Path) -> None:
    with opened(tmp_path, "Model Invocation**: yes") as workspace:
        turn = asyncio.run(workspace.handle(reply(), dialect="openai"))

        assert len(workspace.export("openai")) == 1
    assert [r.outcome for r in turn.results] == ["ok"]


def test_a_host_of_agent_skills_is_told_who_may_start_it(tmp_path: Path) -> None:
    fields = ("Model Invocation**: no", "User Invocable**: no", "Disallowed Tools**: Write")
    with opened(tmp_path, *fields) as workspace:
        (item,) = workspace.export("agentskills")

    assert "disable-model-invocation: true\nuser-invocable: false\n" in item["text"]
    assert 'disallowed-tools: "Write"\n' in item["text"]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (("Required Tools**: dig", "Disallowed Tools**: dig"), "Disallowed Tools excludes it"),
        (("Required Tools**: dig", "Disallowed Tools**: d*"), "Disallowed Tools excludes it"),
        (("Required Tools**: dig", "Allowed Tools**: rake"), "Allowed Tools does not have it"),
    ],
)
def test_a_required_tool_that_is_excluded_is_an_error(fields: tuple[str, ...], said: str) -> None:
    lines = "".join(f"- **{field}\n" for field in fields)
    spec, found = parse_skill(SKILL.replace("{fields}", lines), "water-bed.skill.md")

    assert spec is None
    assert any(said in diagnostic.message for diagnostic in found)


@pytest.mark.parametrize("allowed", ["dig", "Dig, dig", "d*", "dig(bed:*)", "Read dig"])
def test_a_required_tool_that_is_allowed_is_none(allowed: str) -> None:
    lines = f"- **Required Tools**: dig\n- **Allowed Tools**: {allowed}\n"
    spec, found = parse_skill(SKILL.replace("{fields}", lines), "water-bed.skill.md")

    assert spec is not None, found


@pytest.mark.parametrize("value", ["maybe", "", "Bash"])
def test_a_flag_that_cannot_be_read_denies(value: str) -> None:
    text = SKILL.replace("{fields}", f"- **Model Invocation**: {value}\n")

    assert parse_skill(text, "water-bed.skill.md")[0] is None
