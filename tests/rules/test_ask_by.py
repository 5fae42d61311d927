"""A step's Ask with By: another person answers, by the code that Approval uses."""

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import definitions
from tests.definitions import Folder, tool

from toolmd import Answer, Decision, Workspace, parse_skill
from toolmd._load.weakening import list_weakened
from toolmd._parse import skill_text
from toolmd._types.decision import Approver
from toolmd.config import load_settings
from toolmd.testing import FakeClock

PAY = "### amount\n\n- **Type**: number\n- **Required**: true\n\n"
ASK = """1. **Ask a colleague**.
   - **Ask**: Pay {amount}?
   - **By**: manager
   - **Expires**: 2 days
   - **Escalate**: after 4 hours to head
   - **If no**: stop "Nobody agreed."
2. **Pay**.
   - **Use**: pay
   - **With**:
     - amount: `amount`
   - **Save as**: paid
3. **Return**:
   - paid: `paid`
"""
WITH_USE = """1. **Pay**.
   - **Ask**: Pay {amount}?
   - **By**: manager
   - **Use**: pay
   - **With**:
     - amount: `amount`
   - **Save as**: paid
2. **Return**:
   - paid: `paid`
"""
SETTINGS = "[identity.facts]\nlimit = 'number'\n"
PYTHON = "def pay(amount):\n    return {'paid': amount}\n"
Open = Callable[..., Workspace]


def skill(steps: str = ASK) -> str:
    return definitions.skill("pay_out", "pay", steps, PAY)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(dt.datetime(2026, 9, 21, tzinfo=dt.UTC))


@pytest.fixture
def shop(tmp_path: Path, clock: FakeClock) -> Iterator[Open]:
    opened: list[Workspace] = []
    folder = Folder(tmp_path)

    def open_shop(steps: str = ASK, safety: str = "", **settings: Any) -> Workspace:
        folder.write("tools_md/pay.tool.md", tool("pay", PAY, safety))
        folder.write("tools_md/pay.py", PYTHON)
        folder.write("skills_md/pay_out.skill.md", skill(steps))
        folder.write("toolmd.toml", SETTINGS)
        opened.append(Workspace(load_settings(tmp_path, overrides=settings), clock=clock))
        return opened[-1]

    yield open_shop
    for one in opened:
        one.close()


def begin(workspace: Workspace, amount: float = 500, user: str | None = "ana") -> Any:
    return workspace.run_sync("pay_out", {"amount": amount}, user=user)


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


MANAGER = Approver("eve", roles=("manager",))


@pytest.mark.parametrize("steps", [ASK, WITH_USE])
def test_a_person_with_the_role_answers_and_the_run_goes_on(shop, steps: str) -> None:
    workspace = shop(steps)
    assert not workspace.diagnostics
    asked = begin(workspace)
    assert asked.outcome == "review"
    assert "waits for manager" in asked.message
    one = asked.confirmation
    assert one.prompt.startswith("Pay 500?")
    (listed,) = workspace.confirmations.pending_sync(user="eve", roles=["manager"])
    assert listed.id == one.id
    assert listed.to_dict()["approvals"][0]["by"] == ["manager"]
    assert workspace.confirmations.pending_sync(user="bob", roles=["clerk"]) == ()
    done = workspace.confirmations.decide_sync(one.id, Decision.approve(), MANAGER)
    assert done.outcome == "ok"
    again = workspace.confirmations.decide_sync(one.id, Decision.approve(), MANAGER)
    assert code(again) in {"confirmation_used", "confirmation_not_found"}


@pytest.mark.parametrize("steps", [ASK, WITH_USE])
@pytest.mark.parametrize(
    "who",
    [
        Approver("ana"),
        Approver("ana", roles=("manager",)),
        Approver("ana", roles=("manager",), via="backend"),
        Approver("bob", roles=("clerk",)),
        Approver("bob", roles=("Manager",)),
        Approver("bob", roles=("head",)),
        Approver(None, roles=("manager",)),
        Approver(),
    ],
)
def test_nobody_else_answers_by_any_door(shop, steps: str, who: Approver) -> None:
    workspace = shop(steps)
    one = begin(workspace).confirmation
    for decision in (Decision.approve(), Decision.edit({"amount": 1}), Decision.respond("Yes")):
        denied = workspace.confirmations.decide_sync(one.id, decision, who)
        assert denied.outcome == "denied", decision
    run_id = one.id.partition("/")[0]
    for user in (who.user, None):
        try:
            answered = workspace.runs.answer_sync(run_id, Answer(approved=True), user=user)
        except Exception:  # noqa: BLE001 - another's run is not found
            continue
        assert answered.outcome == "denied"
    run = workspace.run_sync("pay_out", {"amount": 5}, user="ana", ask=lambda _: True)
    assert run.outcome == "review"
    assert workspace.runs.get_sync(run_id).state == "waiting"


def test_an_approver_edits_nothing_and_a_no_ends_it(shop) -> None:
    workspace = shop(WITH_USE)
    one = begin(workspace).confirmation
    edited = workspace.confirmations.decide_sync(one.id, Decision.edit({"amount": 1}), MANAGER)
    assert code(edited) == "not_allowed"
    ended = workspace.confirmations.decide_sync(one.id, Decision.reject(), MANAGER)
    assert ended.outcome != "ok"


def test_the_caller_may_withdraw(shop) -> None:
    workspace = shop()
    one = begin(workspace).confirmation
    ended = workspace.confirmations.decide_sync(one.id, Decision.reject(), Approver("ana"))
    assert ended.message == "Nobody agreed."


def test_the_tool_asks_its_caller_besides(shop) -> None:
    workspace = shop(WITH_USE, "\n## Safety\n\n- **Requires Confirmation**: yes\n")
    one = begin(workspace).confirmation
    second = workspace.confirmations.decide_sync(one.id, Decision.approve(), MANAGER)
    assert second.outcome == "confirm"
    done = workspace.confirmations.approve_sync(second.confirmation.id, user="ana")
    assert done.outcome == "ok"


BY = "`'manager' in approver.roles && amount <= approver.limit`"


def test_an_expression_compares_the_approver_with_the_step(shop) -> None:
    workspace = shop(ASK.replace("**By**: manager", f"**By**: {BY}"))
    assert not workspace.diagnostics
    one = begin(workspace).confirmation
    for limit, ok in ((499, False), (500, True)):
        who = Approver("eve", roles=("manager",), context={"limit": limit})
        result = workspace.confirmations.decide_sync(one.id, Decision.approve(), who)
        assert (result.outcome == "ok") is ok
    view = workspace.runs.get_sync(one.id.partition("/")[0])
    assert "reads" not in str(view.to_dict())


def test_escalation_widens_at_its_time_and_a_late_yes_is_too_late(shop, clock: FakeClock) -> None:
    head = Approver("zoe", roles=("head",))
    workspace = shop()
    first, second = begin(workspace).confirmation, begin(workspace, 600).confirmation
    clock.advance(4 * 3600 - 60)
    denied = workspace.confirmations.decide_sync(first.id, Decision.approve(), head)
    assert code(denied) == "not_allowed"
    clock.advance(120)
    assert workspace.confirmations.decide_sync(first.id, Decision.approve(), head).outcome == "ok"
    clock.advance(2 * 86400)
    late = workspace.confirmations.decide_sync(second.id, Decision.approve(), head)
    assert late.outcome != "ok"
    ended = workspace.runs.resume_sync(second.id.partition("/")[0])
    assert ended.message == "Nobody agreed."


def test_it_waits_over_a_restart(shop) -> None:
    one = begin(shop(store="sqlite")).confirmation
    done = shop(store="sqlite").confirmations.decide_sync(one.id, Decision.approve(), MANAGER)
    assert done.outcome == "ok", done.error


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("**By**: manager", "**By**: me", "unreadable-value"),
        ("**By**: manager", "**By**: anyone", "unreadable-value"),
        ("**Expires**: 2 days", "**Expires**: tomorrow", "unreadable-value"),
        ("**Expires**: 2 days", "**Expires**: 40 days", "unreadable-value"),
        ("**Expires**: 2 days", "**Expires**: 4 hours", "invalid-step"),
        ("   - **By**: manager\n", "", "invalid-step"),
        ("**Escalate**: after", "**Escalate**: soon", "unreadable-value"),
        ("**By**: manager", "**By**: `approver.limt > 1`", "unknown-fact"),
        ("**By**: manager", "**By**: `approver.limit`", "not-a-condition"),
        ("**Ask**: Pay {amount}?", "**Choose**: `amount`", "invalid-step"),
        ("**If no**", "**Timeout**: 5m\n   - **If no**", "invalid-step"),
    ],
)
def test_what_cannot_be_read_keeps_the_skill_from_running(
    shop, old: str, new: str, found: str
) -> None:
    workspace = shop(ASK.replace(old, new))
    assert found in {one.code for one in workspace.diagnostics}
    assert "pay_out" not in workspace.skills


def spec(steps: str) -> Any:
    read, found = parse_skill(skill(steps), "pay_out.skill.md")
    assert read is not None, found
    return read


@pytest.mark.parametrize("steps", [ASK, WITH_USE, ASK.replace("**By**: manager", f"**By**: {BY}")])
def test_the_canonical_text_gives_the_same_skill(steps: str) -> None:
    one = spec(steps)
    again, _ = parse_skill(skill_text(one), "pay_out.skill.md")
    assert again is not None
    assert again.hash == one.hash
    step = one.steps[0]
    assert step["by"] in (["manager"], BY.strip("`"))
    if steps == ASK:
        assert step["expires_s"] == 172800
        assert step["escalate"] == [{"after_s": 14400.0, "to": ["head"]}]


@pytest.mark.parametrize("steps", [ASK, WITH_USE])
@pytest.mark.parametrize(
    ("old", "new", "weaker"),
    [
        ("manager", "manager, clerk", True),
        ("manager", "`approver.user != ''`", True),
        ("   - **By**: manager\n", "", True),
        ("2 days", "3 days", True),
        ("4 hours", "3 hours", True),
        ("to head", "to head, clerk", True),
        ("2 days", "1 day", False),
        ("4 hours", "5 hours", False),
        ("Ask**: Pay", "Ask**: Do pay", False),
        ("   - **By**", "   - **When**: `amount > 5`\n   - **By**", True),
    ],
)
def test_a_wider_answer_is_weaker(steps: str, old: str, new: str, weaker: bool) -> None:
    before = steps
    after = before.replace(old, new)
    if new == "":
        after = after.replace("   - **Escalate**: after 4 hours to head\n", "")
    if after == before:
        pytest.skip("it has no such key")
    assert bool(list_weakened(spec(before), spec(after))) is weaker
