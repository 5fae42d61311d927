"""A tool with `Model Invocation: no` serves conditions, steps, people and programs."""

import asyncio
import json

from tests.definitions import tool
from workspace_shop import Shop, skill, word

from toolmd import Call

HIDDEN = "- **Read Only**: yes\n- **Model Invocation**: no\n"
GIVEN = """
## Rules

- **Given**: owner from find_owner
  - order: `order`
- `owner == caller.user`: Only the owner cancels.
"""
STEPS = "1. **Look**.\n   - **Use**: find_owner\n   - **With**:\n     - order: `order`"


def of_helper(shop: Shop) -> Shop:
    text = tool("find_owner", word("order"), metadata=HIDDEN, returns="string")
    shop.write("tools_md/find-owner.tool.md", text)
    shop.write("tools_md/find_owner.py", "def find_owner(order):\n    return 'ann'\n")
    shop.tool("cancel", "def cancel(order):\n    return {}\n", word("order"), GIVEN)
    shop.write("skills_md/look.skill.md", skill("look", "find_owner", STEPS, word("order")))
    return shop


def test_a_model_neither_sees_nor_calls_a_helper(shop: Shop) -> None:
    function = {"name": "find_owner", "arguments": json.dumps({"order": "A1"})}
    asked = {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    with of_helper(shop).open() as workspace:
        for target in ("openai", "openai-responses", "anthropic", "gemini", "mcp"):
            assert len(workspace.export(target)) == 2
            assert workspace.export(target, ["find_owner"]) == []
        assert "find_owner" not in workspace.system_prompt("inline")
        (replied,) = workspace.handle_sync(asked, "openai").results
        alone = asyncio.run(workspace.dispatch(Call("find-owner", {"order": "A1"}, "c2")))

        for result in (replied, alone):
            assert result.error is not None
            assert result.error.code == "unknown_tool"


def test_conditions_steps_and_programs_call_a_helper(shop: Shop) -> None:
    with of_helper(shop).open() as workspace:
        assert not workspace.diagnostics
        assert workspace.call_sync("find_owner", {"order": "A1"}).data == "ann"
        assert workspace.call_sync("cancel", {"order": "A1"}, user="ann").outcome == "ok"
        assert workspace.call_sync("cancel", {"order": "A1"}, user="bob").outcome == "denied"
        assert workspace.run_sync("look", {"order": "A1"}).success


def test_showing_a_helper_to_models_waits_for_acceptance(shop: Shop) -> None:
    with of_helper(shop).open() as workspace:
        text = tool(
            "find_owner", word("order"), metadata="- **Read Only**: yes\n", returns="string"
        )
        shop.write("tools_md/find-owner.tool.md", text)
        workspace.reload()

        (change,) = asyncio.run(workspace.changes.list())
        assert change.name == "find_owner"
        assert "find_owner" not in {item["name"] for item in workspace.export("mcp")}
