"""A skill whose tools ask how sure the model is: the skill asks, and its steps say what it said."""

import asyncio
import json
from typing import Any

import pytest
from workspace_shop import Shop, skill, word

from toolmd import Call, Workspace

SURE = "\n## Safety\n\n- **Min Confidence**: 0.8\n"
STEPS = "1. **Go**.\n   - **Use**: {used}\n   - **With**:\n     - word: `word`"


@pytest.fixture
def opened(shop: Shop) -> Workspace:
    shop.tool("say", "def say(word): return {'said': word}", word("word"), SURE)
    shop.tool("hum", "def hum(word): return {}", word("word"))
    for name, used in (("once", "say"), ("quiet", "hum"), ("outer", "once")):
        text = skill(name, used, STEPS.format(used=used), word("word"))
        if used == "once":
            text = text.replace("**Required Tools**", "**Required Skills**")
        shop.write(f"skills_md/{name}.skill.md", text)
    return shop.open()


def _asking(workspace: Workspace, target: str) -> set[str]:
    return {
        item["name"]
        for item in workspace.export(target)
        if "_confidence" in item["inputSchema"]["required"]
    }


def test_a_skill_requires_the_confidence_that_its_tools_require(opened: Workspace) -> None:
    assert _asking(opened, "mcp") == {"say", "once", "outer"}


def test_a_skill_that_is_exported_alone_requires_it_too(opened: Workspace) -> None:
    (item,) = opened.export("mcp", ["outer"])
    assert "_confidence" in item["inputSchema"]["required"]


@pytest.mark.parametrize("name", ["once", "outer"])
def test_the_models_confidence_reaches_the_skills_steps(opened: Workspace, name: str) -> None:
    def reply(confidence: float) -> dict[str, object]:
        arguments = json.dumps({"word": "hi", "_confidence": confidence})
        function = {"name": name, "arguments": arguments}
        return {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        }

    assert opened.handle_sync(reply(0.9), "openai").results[0].success
    (refused,) = opened.handle_sync(reply(0.3), "openai").results
    assert refused.error is not None
    assert refused.error.code == "low_confidence"


def test_the_openapi_document_has_a_skills_confidence_next_to_its_inputs(
    opened: Workspace,
) -> None:
    path = opened.export("openapi")["paths"]["/api/skills/once/run"]
    body = path["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["inputs", "confidence"]
    assert set(body["properties"]) == {"inputs", "confidence", "message"}


@pytest.mark.parametrize("confidence", [5, -0.1, float("nan"), "0.9", True, object()])
def test_a_skill_denies_a_confidence_that_is_not_a_number_from_0_to_1(
    opened: Workspace, confidence: Any
) -> None:
    call = Call("quiet", {"word": "hi"}, confidence=confidence)
    denied = asyncio.run(opened.dispatch(call))
    assert (denied.outcome, denied.error and denied.error.code) == ("denied", "malformed_call")
