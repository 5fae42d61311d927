"""`decide` takes every decision on a pending call; only the caller reads Sensitive values."""

from typing import Any

import pytest
from workspace_shop import Shop, skill, word

from toolmd import Approver, Decision, Workspace

TOOL = """
def look(word):
    return {"word": word, "code": "4711"}
"""
RETURNS = """
## Returns

- **Type**: object
- **Description**: What was found
- **Properties**:
  - word:
    - **Type**: string
  - code:
    - **Type**: string
    - **Sensitive**: true

## Safety

- **Requires Confirmation**: true
"""
STEPS = (
    "1. **Look**.\n   - **Use**: look\n   - **With**:\n     - word: `word`\n"
    "   - **Save as**: found\n"
    "2. **Tell**.\n   - **Return**:\n     - it: `found`"
)


@pytest.fixture(params=["memory", "sqlite"])
def workspace(shop: Shop, request: pytest.FixtureRequest) -> Workspace:
    shop.tool("look", TOOL, word("word"))
    file = shop.root / "tools_md" / "look.tool.md"
    text = file.read_text("utf-8").partition("\n## Returns")[0]
    file.write_text(text + RETURNS, "utf-8")
    shop.write("skills_md/find.skill.md", skill("find", "look", STEPS, word("word")))
    return shop.open(overrides={"store": request.param})


def wait(workspace: Workspace, kind: str) -> str:
    """Let a call of `ana`, or her run, wait for a person; return its id."""
    start = workspace.call_sync if kind == "call" else workspace.run_sync
    name = "look" if kind == "call" else "find"
    asked = start(name, {"word": "a"}, user="ana").confirmation
    assert asked is not None
    return asked.id


def found(data: Any, kind: str) -> Any:
    """Return what the tool found."""
    return data if kind == "call" else data["it"]


def test_each_decision_has_its_outcome(workspace) -> None:
    for decision, outcome, data in (
        (Decision.approve(), "ok", {"word": "a", "code": "4711"}),
        (Decision.edit({"word": "b"}), "ok", {"word": "b", "code": "4711"}),
        (Decision.edit({}), "ok", {"word": "a", "code": "4711"}),
        (Decision.reject(), "denied", None),
        (Decision.respond("By hand."), "ok", "By hand."),
    ):
        waiting = wait(workspace, "call")
        result = workspace.confirmations.decide_sync(waiting, decision, Approver("ana"))
        assert (result.outcome, result.data) == (outcome, data), decision
        again = workspace.confirmations.decide_sync(waiting, decision, Approver("ana"))
        assert again.error is not None
        assert again.error.code == "confirmation_used", decision


@pytest.mark.parametrize("kind", ["call", "run"])
def test_only_the_caller_reads_sensitive_values_of_the_result(workspace, kind: str) -> None:
    for who, code in ((Approver("ana"), "4711"), (Approver(), "(hidden)"),
                      (Approver(name="the operator"), "(hidden)")):  # fmt: skip
        waiting = wait(workspace, kind)
        result = workspace.confirmations.decide_sync(waiting, Decision.approve(), who)
        assert found(result.data, kind) == {"word": "a", "code": code}, who


@pytest.mark.parametrize("kind", ["call", "run"])
def test_another_user_decides_nothing(workspace, kind: str) -> None:
    waiting = wait(workspace, kind)
    result = workspace.confirmations.decide_sync(waiting, Decision.approve(), Approver("ben"))
    assert result.error is not None
    assert result.error.code == "confirmation_not_found"
    assert [one.id for one in workspace.confirmations.pending_sync()] == [waiting]
