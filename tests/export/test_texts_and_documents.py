"""The exports that people read: the prompt, and Agent Skills."""

import json
from pathlib import Path

import pytest
from export_specs import BOOK_APPOINTMENT, GUARDED, NOWHERE, SCHEDULE, tool

from toolmd._export.agentskills import folder
from toolmd._export.targets import export
from toolmd._types.schema import Parameter, Schema
from toolmd._types.skill import SkillSpec

GOLDEN = Path(__file__).parent / "golden"


def test_the_prompt_reads_as_the_golden_file() -> None:
    text = export("prompt", [BOOK_APPOINTMENT, GUARDED, tool()], [SCHEDULE]).items
    assert text == (GOLDEN / "prompt.md").read_text("utf-8")


def test_an_agent_skill_reads_as_the_golden_file() -> None:
    (file,) = export("agentskills", [], [SCHEDULE]).items
    assert file["path"] == "schedule-appointment/SKILL.md"
    assert file["text"] == (GOLDEN / "schedule-appointment.SKILL.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "kebab"),
    [("a_b", "a-b"), ("A__b_", "a-b"), ("x" * 63 + "_y", "x" * 63), ("äö", "skill")],
)
def test_a_folder_is_named_in_kebab_case(name: str, kebab: str) -> None:
    assert folder(name) == kebab


def test_tools_and_skills_with_a_used_folder_name_are_noted() -> None:
    twin = SCHEDULE.model_copy(update={"name": "schedule__appointment"})
    exported = export("agentskills", [tool()], [SCHEDULE, twin])
    assert len(exported.items) == 1
    assert [str(loss) for loss in exported.losses] == [
        "x: a tool can't be an Agent Skill: left out",
        "schedule__appointment: the skill is left out: schedule-appointment/SKILL.md is taken",
    ]


def test_openapi_has_the_confidence_next_to_the_arguments() -> None:
    document = export("openapi", [GUARDED]).items
    post = document["paths"]["/api/tools/log_blood_pressure/call"]["post"]
    body = post["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["arguments", "confidence"]
    assert "_confidence" not in json.dumps(body)


def test_an_agent_skill_describes_all_constraints_of_its_inputs() -> None:
    kind = Parameter("kind", Schema(types=("string",), enum=("rose", "iris")))
    flower = Schema(types=("object",), properties=(kind,))
    shape = Schema(types=("array",), items=flower, max_items=3)
    skill = SkillSpec(
        name="gather",
        title="Gather",
        description="Gather flowers.",
        version="1.0.0",
        category="shop",
        parameters=(Parameter("flowers", shape),),
        source=NOWHERE,
    )
    (file,) = export("agentskills", [], [skill]).items
    assert (
        "- `flowers` (array of object, optional): At most 3 items.\n"
        "  - each (object)\n"
        '    - `kind` (string, optional): One of "rose", "iris".\n'
    ) in file["text"]
