"""Another person approves a call: who may, once, with every check again at the start."""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.definitions import Folder, skill, tool

from toolmd import Decision, Workspace, parse_tool
from toolmd._parse import parse_tool as read_tool
from toolmd._types.decision import Approver
from toolmd._types.identity import Identity
from toolmd._types.verdict import Action, Verdict
from toolmd.config import load_settings
from toolmd.hooks import hookimpl
from toolmd.testing import FakeClock

PARAMETERS = """- **amount** (number, required)
  - **Minimum**: 0
- **order_id** (string, required)
- **pin** (string)
  - **Sensitive**: true
"""
MANAGER = """
## Approval

- **When**: `amount > 100`
- **By**: manager
- **Text**: Refund {amount} EUR for order {order_id}?
- **Escalate**: after 4 hours to head
"""
TWO = """
## Approval

### Money

- **When**: `amount > 100`
- **By**: manager

### Much money

- **When**: `amount > 1000`
- **By**: manager, owner
"""
CODE = """
from pathlib import Path

def refund(amount, order_id, pin=None):
    with Path(__file__).with_name("done.txt").open("a") as file:
        file.write(f"{amount}\\n")
    return {"refunded": amount}
"""
Open = Callable[..., Workspace]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(dt.datetime(2026, 9, 21, tzinfo=dt.UTC))


@pytest.fixture
def shop(tmp_path: Path, clock: FakeClock) -> Iterator[Open]:
    opened: list[Workspace] = []

    def open_shop(approval: str = MANAGER, extra: str = "", **settings: Any) -> Workspace:
        if not opened:
            folder = Folder(tmp_path)
            folder.write("tools_md/refund.tool.md", tool("refund", PARAMETERS, extra + approval))
            folder.write("tools_md/refund.py", CODE)
            folder.write("toolmd.toml", "[identity.facts]\nlimit = 'number'\n")
        workspace = Workspace(load_settings(tmp_path, overrides=settings), clock=clock)
        opened.append(workspace)
        return workspace

    yield open_shop
    for one in opened:
        one.close()


def ask(workspace: Workspace, amount: float = 500, user: str | None = "ana", **more: Any) -> Any:
    arguments = {"amount": amount, "order_id": "a-1"}
    return workspace.call_sync("refund", arguments, user=user, **more)


def done(tmp_path: Path) -> list[str]:
    file = tmp_path / "tools_md/done.txt"
    return file.read_text().splitlines() if file.exists() else []


def code(result: Any) -> str:
    return result.outcome if result.error is None else result.error.code


def test_a_call_below_the_condition_runs_at_once(shop, tmp_path) -> None:
    assert ask(shop(), 100).outcome == "ok"
    assert done(tmp_path) == ["100"]


def test_a_call_waits_for_a_person_with_the_role_and_runs_once(shop, tmp_path) -> None:
    workspace = shop()
    result = ask(workspace)
    one = result.confirmation

    assert result.outcome == "review"
    assert result.message == (
        "refund waits for manager: Refund 500 EUR for order a-1? Do not call it again."
    )
    assert one.prompt.startswith("Refund 500 EUR for order a-1? I'd like to refund: amount: 500")
    approve = workspace.confirmations.approve_sync
    assert approve(one.id, user="eve", roles=["manager"]).data == {"refunded": 500}
    assert code(approve(one.id, user="eve", roles=["manager"])) == "confirmation_used"
    assert done(tmp_path) == ["500"]


@pytest.mark.parametrize(
    "who",
    [
        Approver("ana", roles=("manager",)),
        Approver("ana"),
        Approver("bob", roles=("clerk",)),
        Approver("bob"),
        Approver(None, roles=("manager",)),
        Approver(),
        Approver("bob", roles=("Manager",)),
        Approver("bob", roles=("head",)),
    ],
)
@pytest.mark.parametrize(
    "decision", [Decision.approve(), Decision.edit({"amount": 5}), Decision.respond("Done")]
)
def test_nobody_else_decides(shop, tmp_path, who, decision) -> None:
    workspace = shop()
    one = ask(workspace).confirmation

    assert code(workspace.confirmations.decide_sync(one.id, decision, who)) == "not_allowed"
    assert done(tmp_path) == []
    assert workspace.confirmations.get_sync(one.id).state == "pending"


def test_a_caller_who_is_not_signed_in_needs_a_named_person_too(shop) -> None:
    workspace = shop()
    one = ask(workspace, user=None).confirmation

    assert code(workspace.confirmations.approve_sync(one.id)) == "not_allowed"
    approve = workspace.confirmations.approve_sync
    assert code(approve(one.id, user="eve", roles=["manager"])) == "ok"


def test_one_rejection_ends_it_and_the_caller_may_withdraw(shop, tmp_path) -> None:
    workspace = shop()
    reject = workspace.confirmations.reject_sync
    first, second = (ask(workspace, amount).confirmation for amount in (500, 600))

    assert code(reject(first.id, user="bob")) == "not_allowed"
    by_approver = reject(first.id, user="eve", roles=["manager"])
    by_caller = reject(second.id, user="ana")
    assert (code(by_approver), code(by_caller)) == ("rejected", "rejected")
    assert by_approver.error.message.startswith("The approver said no: ")
    assert by_caller.error.message.startswith("The user said no: ")
    assert done(tmp_path) == []


def test_two_approvals_need_two_people(shop, tmp_path) -> None:
    workspace = shop(TWO)
    one = ask(workspace, 5000).confirmation
    approve = workspace.confirmations.approve_sync

    waits = approve(one.id, user="eve", roles=["manager", "owner"])
    assert (waits.outcome, waits.confirmation.id) == ("review", one.id)
    assert code(approve(one.id, user="eve", roles=["manager", "owner"])) == "not_allowed"
    assert code(approve(one.id, user="ana", roles=["manager", "owner"])) == "not_allowed"
    assert done(tmp_path) == []
    assert code(approve(one.id, user="max", roles=["manager"])) == "ok"
    assert done(tmp_path) == ["5000"]


def test_the_yes_of_a_person_with_both_roles_counts_where_it_is_needed(shop) -> None:
    approval = TWO.replace("manager, owner", "owner")
    workspace = shop(approval)
    one = ask(workspace, 5000).confirmation
    approve = workspace.confirmations.approve_sync

    assert approve(one.id, user="eve", roles=["manager", "owner"]).outcome == "review"
    assert code(approve(one.id, user="max", roles=["manager"])) == "ok"


def test_two_people_with_one_role_do_not_give_the_approval_of_another(shop, tmp_path) -> None:
    workspace = shop(TWO.replace("manager, owner", "owner"))
    one = ask(workspace, 5000).confirmation
    approve = workspace.confirmations.approve_sync

    for user in ("eve", "max", "tom"):
        assert approve(one.id, user=user, roles=["manager"]).outcome != "ok"
    assert done(tmp_path) == []
    assert code(approve(one.id, user="zoe", roles=["owner"])) == "ok"


def test_an_edit_by_an_approver_needs_another_one(shop, tmp_path) -> None:
    workspace = shop()
    one = ask(workspace).confirmation
    approve = workspace.confirmations.approve_sync

    waits = approve(one.id, {"amount": 400}, user="eve", roles=["manager"])
    assert (waits.outcome, waits.confirmation.prompt[:15]) == ("review", "Refund 400 EUR ")
    told = "refund waits for manager: Refund 400 EUR for order a-1? Do not call it again."
    assert waits.message == told
    assert workspace.confirmations.get_sync(one.id).reason == told
    assert waits.notes == ("The approver changed amount: 500 → 400.",)
    assert code(approve(one.id, user="eve", roles=["manager"])) == "not_allowed"
    assert code(approve(one.id, user="ana", roles=["manager"])) == "not_allowed"
    assert done(tmp_path) == []
    result = approve(one.id, user="max", roles=["manager"])
    assert (result.data, result.notes) == ({"refunded": 400}, waits.notes)


def test_an_edit_that_needs_no_approval_runs(shop, tmp_path) -> None:
    workspace = shop()
    one = ask(workspace).confirmation

    approve = workspace.confirmations.approve_sync
    assert code(approve(one.id, {"amount": 50}, user="eve", roles=["manager"])) == "ok"
    assert done(tmp_path) == ["50"]


def test_an_expression_says_who_may(shop, tmp_path) -> None:
    by = "`'manager' in approver.roles && amount <= approver.limit`"
    workspace = shop(MANAGER.replace("manager", by))
    one = ask(workspace).confirmation
    approve, manager = workspace.confirmations.approve_sync, {"roles": ["manager"]}

    for context in ({}, {"limit": 499}, {"limit": "much"}, {"limit": "499"}):
        assert code(approve(one.id, user="eve", context=context, **manager)) == "not_allowed"
    # As a caller's, a text becomes the number that the settings declare.
    assert code(approve(one.id, user="eve", context={"limit": "500"}, **manager)) == "ok"


def test_escalation_widens_who_may_at_its_time(shop, clock) -> None:
    workspace = shop()
    one = ask(workspace).confirmation
    approve = workspace.confirmations.approve_sync

    clock.advance(4 * 3600 - 1)
    assert code(approve(one.id, user="pia", roles=["head"])) == "not_allowed"
    clock.advance(1)
    assert code(approve(one.id, user="pia", roles=["head"])) == "ok"


def test_the_events_tell_an_escalation_and_an_expiry_at_their_times(shop, clock) -> None:
    workspace = shop()
    changes = workspace.confirmations.store_changes
    one = ask(workspace).confirmation

    def told() -> list[str]:
        return [data["state"] for _, data, _ in asyncio.run(changes.look()) if data["id"] == one.id]

    assert told() == ["pending"]
    assert told() == []
    clock.advance(4 * 3600)
    assert told() == ["escalated"]
    assert told() == []
    clock.advance(20 * 3600)
    assert told() == ["closed"]


def test_a_late_decision_runs_nothing(shop, clock, tmp_path) -> None:
    workspace = shop()
    one = ask(workspace).confirmation

    clock.advance(24 * 3600 - 1)
    assert workspace.confirmations.get_sync(one.id).state == "pending"
    clock.advance(2)
    approve = workspace.confirmations.approve_sync
    assert code(approve(one.id, user="eve", roles=["manager"])) == "approval_expired"
    assert done(tmp_path) == []


def test_the_caller_confirms_first_then_the_approver_is_asked_under_one_id(shop, tmp_path) -> None:
    workspace = shop(extra="\n## Safety\n\n- **Requires Confirmation**: yes\n")
    result = ask(workspace)
    approve = workspace.confirmations.approve_sync

    assert result.outcome == "confirm"
    assert code(approve(result.confirmation.id, user="eve", roles=["manager"])) != "ok"
    waits = approve(result.confirmation.id, user="ana")
    assert (waits.outcome, waits.confirmation.id) == ("review", result.confirmation.id)
    assert code(approve(result.confirmation.id, user="ana", roles=["manager"])) == "not_allowed"
    assert done(tmp_path) == []
    assert code(approve(result.confirmation.id, user="eve", roles=["manager"])) == "ok"


def test_a_quota_that_is_used_up_meanwhile_denies_the_start(shop, tmp_path) -> None:
    quota = "\n## Limits\n\n- **Quota**: 1 call per user ever\n"
    workspace = shop(extra=quota)
    one = ask(workspace).confirmation
    assert ask(workspace, 5).outcome == "ok"

    approve = workspace.confirmations.approve_sync
    assert code(approve(one.id, user="eve", roles=["manager"])) == "quota_exceeded"
    assert done(tmp_path) == ["5"]


def test_an_approval_survives_a_restart(shop, tmp_path) -> None:
    first = shop(TWO, store="sqlite")
    one = ask(first, 5000).confirmation
    first.confirmations.approve_sync(one.id, user="eve", roles=["manager", "owner"])
    first.close()

    approve = shop(store="sqlite").confirmations.approve_sync
    assert code(approve(one.id, user="eve", roles=["manager", "owner"])) == "not_allowed"
    assert code(approve(one.id, user="max", roles=["manager"])) == "ok"
    assert done(tmp_path) == ["5000"]


def test_an_approval_added_meanwhile_asks_again(shop, tmp_path) -> None:
    workspace = shop(MANAGER)
    one = ask(workspace, 5000).confirmation
    text = tool("refund", PARAMETERS, TWO)
    (tmp_path / "tools_md/refund.tool.md").write_text(text)
    workspace.reload()

    again = workspace.confirmations.approve_sync(one.id, user="eve", roles=["manager"])
    assert code(again) == "confirmation_stale"
    assert done(tmp_path) == []


def test_a_person_with_the_role_finds_the_calls_that_wait(shop) -> None:
    workspace = shop()
    one = ask(workspace).confirmation
    pending = workspace.confirmations.pending_sync

    assert [each.id for each in pending(user="eve", roles=["manager"])] == [one.id]
    assert pending(user="eve", roles=["clerk"]) == pending(user="eve") == ()
    (told,) = (each.to_dict() for each in pending(user="ana"))
    assert told["approvals"] == [
        {"reason": "amount > 100", "by": ["manager"], "text": "Refund 500 EUR for order a-1?"}
    ]


def test_a_condition_that_cannot_be_computed_needs_the_approval(shop) -> None:
    approval = MANAGER.replace("amount > 100", "caller.user != 'boss'")
    workspace = shop(approval)

    assert ask(workspace, user="boss").outcome == "ok"
    assert ask(workspace, user=None).outcome == "review"


FIELDS = "- **When**: `amount > 100`\n- **By**: manager\n"


@pytest.mark.parametrize(
    ("section", "error"),
    [
        ("Each refund needs a second person.", "approval-without-when"),
        ("- **By**: manager", "approval-without-when"),
        ("- **When**: always", "missing-field"),
        ("- **When**: now and then\n- **By**: manager", "unreadable-value"),
        ("- **When**: `amout > 5`\n- **By**: manager", "invalid-expression"),
        ("- **When**: `amount > 5`\n- **By**: anyone", "unreadable-value"),
        ("- **When**: `amount > 5`\n- **By**: me", "unreadable-value"),
        ("- **When**: `amount > 5`\n- **By**: not clerk", "unreadable-value"),
        ("- **When**: `amount > 5`\n- **By**: `approver.nobody == 'x'`", "unknown-fact"),
        (FIELDS + "- **Expires**: never", "unreadable-value"),
        (FIELDS + "- **Expires**: tomorrow", "unreadable-value"),
        (FIELDS + "- **Expires**: 31 days", "unreadable-value"),
        (FIELDS + "- **Escalate**: after 25 hours to head", "unreadable-value"),
        (FIELDS + "- **Escalate**: head", "unreadable-value"),
        (FIELDS + "- **Text**: Pay with {pin}?", "invalid-expression"),
        (FIELDS + "- **Text**: Pay {amount", "invalid-expression"),
        (FIELDS + "- **Text**: Pay {amout}?", "invalid-expression"),
        (FIELDS + "- **Whom**: boss", "unknown-field"),
    ],
)
def test_what_says_no_approval_exactly_is_an_error(section: str, error: str) -> None:
    text = tool("refund", PARAMETERS, f"\n## Approval\n\n{section}\n")
    spec, said = read_tool(text, "refund.tool.md", identity=Identity())

    assert spec is None
    assert error in [one.code for one in said]


@pytest.mark.parametrize("title", ["Approval", "Approvals", "Four Eyes", "approval"])
def test_its_section_is_read_under_its_names(title: str) -> None:
    spec, said = parse_tool(tool("refund", PARAMETERS, f"\n## {title}\n\n{FIELDS}"), "r.tool.md")

    assert spec is not None, said
    assert spec.canonical["approvals"] == [
        {"when": "amount > 100", "by": ["manager"], "expires_s": 86400.0}
    ]


def test_a_call_waits_for_its_caller_as_long_as_the_settings_say(shop, clock) -> None:
    confirmed = "\n## Safety\n\n- **Requires Confirmation**: yes\n"
    workspace = shop("", confirmed, **{"confirmations.expires": 3600})
    first, second = (ask(workspace, amount).confirmation for amount in (1, 2))
    approve = workspace.confirmations.approve_sync

    clock.advance(3599)
    assert code(approve(first.id, user="ana")) == "ok"
    clock.advance(1)
    assert code(approve(second.id, user="ana")) == "confirmation_expired"


def test_a_crisis_review_never_expires(shop, clock, tmp_path) -> None:
    workspace = shop("", "\n## Safety\n\n- **Crisis When**: `amount > 1`\n")
    one = ask(workspace).confirmation

    clock.advance(400 * 24 * 3600)
    assert workspace.confirmations.get_sync(one.id).state == "pending"
    assert "expires" not in one.to_dict()
    assert code(workspace.confirmations.approve_sync(one.id)) == "ok"


def test_the_callers_own_text_stands_before_the_arguments(shop) -> None:
    text = "\n## Safety\n\n- **Requires Confirmation**: yes\n- **Text**: Refund {amount} EUR?\n"
    prompt = ask(shop("", text)).confirmation.prompt

    assert prompt.startswith("Refund 500 EUR? I'd like to refund: amount: 500, order_id: a-1.")


@pytest.mark.parametrize(
    ("approval", "safety", "why"),
    [
        (MANAGER, "", " A person decides because the condition `amount > 100` holds."),
        (TWO, "", " A person decides because the condition `amount > 100` holds."),
        (MANAGER.replace("`amount > 100`", "always"), "", ""),
        ("", "- **Confirm When**: `amount > 100`\n",
         " A person decides because the condition `amount > 100` holds."),
        ("", "- **Confirm When**: `amount > 100`\n- **Sensitivity**: critical\n", ""),
        ("", "- **Confirm When**: `caller.user > 'a'`\n",
         " A person decides because the condition `caller.user > 'a'` can't be computed."),
        ("", "- **Requires Confirmation**: yes\n", ""),
    ],
)  # fmt: skip
def test_the_question_names_the_condition_that_held(shop, approval, safety, why) -> None:
    workspace = shop(approval, f"\n## Safety\n\n{safety}" if safety else "")
    prompt = ask(workspace, user=None).confirmation.prompt
    assert f"I'd like to refund: amount: 500, order_id: a-1.{why} " in prompt


def test_the_question_names_each_condition_that_held(shop) -> None:
    prompt = ask(shop(TWO), 5000).confirmation.prompt
    assert (
        "order_id: a-1. A person decides because the condition `amount > 100` holds"
        " and the condition `amount > 1000` holds. Is"
    ) in prompt


def test_the_condition_is_named_when_the_approver_is_asked_after_the_caller(shop) -> None:
    workspace = shop(extra="\n## Safety\n\n- **Requires Confirmation**: yes\n")
    one = ask(workspace).confirmation
    waits = workspace.confirmations.approve_sync(one.id, user="ana")
    assert ["because" in each.prompt for each in (one, waits.confirmation)] == [False, True]
    # The same call again leaves the approver's question as it is.
    assert ask(workspace).confirmation.prompt == waits.confirmation.prompt


def test_a_correction_that_runs_at_once_replaces_the_call_that_waits(shop, tmp_path) -> None:
    workspace = shop()
    first = ask(workspace, 500, conversation="c1", message="Refund 500").confirmation
    second = ask(workspace, 50, conversation="c1", message="No, refund 50")
    told = f"It replaces the pending call {first.id}, which it corrects."
    assert (second.outcome, second.notes) == ("ok", (told,))
    late = workspace.confirmations.approve_sync(first.id, user="eve", roles=["manager"])
    assert code(late) == "confirmation_used"
    assert done(tmp_path) == ["50"]


@pytest.mark.parametrize(("reason", "ends"), [("late", True), ("broken", False)])
def test_an_approval_that_was_half_given_ends_only_with_a_call_about_the_same(
    shop, tmp_path, reason, ends
) -> None:
    both = TWO.replace("1000", "100")
    workspace = shop(both)
    parameters = PARAMETERS.replace("- **pin**", "- **why** (string, required)\n- **pin**")
    text = tool("refund", parameters, both)
    (tmp_path / "tools_md/refund.tool.md").write_text(text)
    (tmp_path / "tools_md/refund.py").write_text(CODE.replace("pin=None", "why, pin=None"))
    workspace.reload()

    def refund(amount: float, why: str) -> Any:
        arguments = {"amount": amount, "order_id": "a-1", "why": why}
        message = f"{why}: {amount}"
        return workspace.call_sync(
            "refund", arguments, user="ana", conversation="c1", message=message
        )

    one = refund(500, "late").confirmation
    approve = workspace.confirmations.approve_sync
    assert approve(one.id, user="eve", roles=["manager"]).outcome == "review"
    assert refund(50, reason).outcome == "ok"
    last = approve(one.id, user="joe", roles=["owner"])
    assert code(last) == ("confirmation_used" if ends else "ok")


def test_a_correction_replaces_a_call_that_waits_for_an_approval(shop, tmp_path) -> None:
    workspace = shop()
    first, second = (
        ask(workspace, amount, conversation="c1", message=f"Refund {amount}").confirmation
        for amount in (500, 400)
    )
    assert second.replaces == (first.id,)
    approve = workspace.confirmations.approve_sync
    assert code(approve(first.id, user="eve", roles=["manager"])) == "confirmation_used"
    assert approve(second.id, user="eve", roles=["manager"]).data == {"refunded": 400}
    assert done(tmp_path) == ["400"]


SKILL = skill(
    "refund_order",
    "refund",
    """1. **Refund**.
   - **Use**: refund
   - **With**:
     - amount: `amount`
     - order_id: a-1
   - **Save as**: refunded

2. **Return**:
   - refunded: `refunded`""",
    "- **amount** (number, required)",
)


def test_a_run_waits_for_the_approval_of_its_call(shop, tmp_path) -> None:
    (tmp_path / "skills_md").mkdir()
    (tmp_path / "skills_md/refund-order.skill.md").write_text(SKILL)
    workspace = shop()
    waits = workspace.run_sync("refund_order", {"amount": 500}, user="ana")
    decide = workspace.confirmations.approve_sync
    one = waits.confirmation

    assert waits.outcome == "review"
    assert one.prompt.startswith("Refund 500 EUR for order a-1?")
    for who in ({"user": "ana", "roles": ["manager"]}, {"user": "bob"}, {}):
        assert code(decide(one.id, **who)) == "not_allowed", who
    assert done(tmp_path) == []
    assert code(decide(one.id, user="eve", roles=["manager"])) == "ok"
    assert done(tmp_path) == ["500"]


def test_a_run_asks_its_user_first_and_then_the_approver(shop, tmp_path) -> None:
    (tmp_path / "skills_md").mkdir()
    (tmp_path / "skills_md/refund-order.skill.md").write_text(SKILL)
    workspace = shop(extra="\n## Safety\n\n- **Requires Confirmation**: yes\n")
    decide = workspace.confirmations.approve_sync

    first = workspace.run_sync("refund_order", {"amount": 500}, user="ana").confirmation
    second = decide(first.id, user="ana")
    assert (first.kind, second.outcome) == ("confirm", "review")
    again = decide(second.confirmation.id, user="ana", roles=["manager"])
    assert code(again) == "not_allowed"
    assert done(tmp_path) == []
    assert code(decide(second.confirmation.id, user="eve", roles=["manager"])) == "ok"
    assert done(tmp_path) == ["500"]


CRISIS = "\n## Safety\n\n- **Crisis When**: `amount > 400`\n"


def test_an_operators_review_is_no_matter_of_the_approver(shop, tmp_path) -> None:
    workspace = shop(extra=CRISIS)
    one = ask(workspace).confirmation
    approve = workspace.confirmations.approve_sync

    assert code(approve(one.id, user="eve", roles=["manager"])) == "review"
    assert code(approve(one.id, user="max", roles=["manager"])) == "review"
    assert done(tmp_path) == []
    assert code(approve(one.id)) == "ok"
    assert done(tmp_path) == ["500"]


@pytest.mark.parametrize(("approval", "extra"), [(TWO, ""), (MANAGER, CRISIS)])
def test_a_run_stops_at_a_call_that_several_people_must_approve(
    shop, tmp_path, approval: str, extra: str
) -> None:
    (tmp_path / "skills_md").mkdir()
    (tmp_path / "skills_md/refund-order.skill.md").write_text(SKILL)
    workspace = shop(approval, extra)
    ended = workspace.run_sync("refund_order", {"amount": 5000}, user="ana")

    assert (ended.outcome, code(ended)) == ("failed", "approval_required")
    assert "several people" in ended.message
    assert workspace.confirmations.pending_sync() == ()
    assert done(tmp_path) == []


def test_an_approval_escalates_and_expires_in_a_run_as_outside_of_one(
    shop, tmp_path, clock
) -> None:
    (tmp_path / "skills_md").mkdir()
    (tmp_path / "skills_md/refund-order.skill.md").write_text(SKILL)
    workspace = shop()
    decide, pending = workspace.confirmations.approve_sync, workspace.confirmations.pending_sync

    for hours, role, outcome in ((1, "head", "not_allowed"), (5, "head", "ok"), (25, "head", "")):
        waits = workspace.run_sync("refund_order", {"amount": 500}, user="ana")
        outside = ask(workspace, conversation=str(hours)).confirmation
        one = workspace.confirmations.get_sync(waits.confirmation.id)
        assert waits.message.startswith("It waits for manager")
        assert one.id in {each.id for each in pending(user="eve", roles=["manager"])}
        assert (one.approvals[0].escalate, one.expires) == (
            outside.approvals[0].escalate, outside.expires,
        )  # fmt: skip
        clock.advance(hours * 3600)
        decided = decide(one.id, user="eve", roles=[role])
        assert code(decided) == outcome or (not outcome and decided.outcome == "denied")
    assert done(tmp_path) == ["500"]


def test_a_run_judges_its_approver_by_the_facts_that_the_skill_supplies(tmp_path) -> None:
    folder = Folder(tmp_path)
    approval = MANAGER.replace("manager", "`approver.shop == caller.shop`")
    required = tool("refund", PARAMETERS, approval).replace(
        "- **Category**", "- **Requires Context**: shop\n- **Category**"
    )
    folder.write("tools_md/refund.tool.md", required)
    folder.write("tools_md/refund.py", CODE)
    supplied = SKILL.replace("- **Category**", "- **Context**: shop from shop\n- **Category**")
    given = "- **amount** (number, required)"
    folder.write("skills_md/refund-order.skill.md",
                 supplied.replace(given, f"{given}\n- **shop** (string, required)"))  # fmt: skip
    folder.write("toolmd.toml", "[identity.facts]\nshop = 'string'\n")
    with Workspace.open(tmp_path) as workspace:
        assert not workspace.diagnostics
        for decide in (workspace.confirmations.approve_sync, workspace.confirmations.reject_sync):
            inputs = {"amount": 500, "shop": "lyon"}
            one = workspace.run_sync("refund_order", inputs, user="ana").confirmation
            other = decide(one.id, user="eve", context={"shop": "nice"})
            assert code(other) == "not_allowed"
            assert code(decide(one.id, user="eve", context={"shop": "lyon"})) in {"ok", "refused"}
    assert done(tmp_path) == ["500"]


def test_a_guards_own_review_stands_beside_the_approval(tmp_path) -> None:
    class Guarded:
        @hookimpl
        def toolmd_guards(self, spec):
            return [lambda call, arguments: Verdict(Action.REVIEW, "looks_odd", "It looks odd.")]

    folder = Folder(tmp_path)
    folder.write("tools_md/refund.tool.md", tool("refund", PARAMETERS, MANAGER))
    folder.write("tools_md/refund.py", CODE)
    folder.write("toolmd.toml", "")
    with Workspace.open(tmp_path, plugins={"guarded": Guarded()}) as workspace:
        approve = workspace.confirmations.approve_sync
        one = ask(workspace).confirmation
        assert code(approve(one.id, user="eve", roles=["manager"])) == "review"
        assert done(tmp_path) == []
        assert code(approve(one.id)) == "ok"


def test_an_approval_that_a_review_did_not_need_is_asked_at_the_start(shop, clock) -> None:
    approval = MANAGER.replace("amount > 100", "now > timestamp('2026-09-21T16:00:00Z')")
    workspace = shop(approval, CRISIS)
    one = ask(workspace).confirmation
    assert one.approvals == ()

    clock.advance(24 * 3600)
    again = workspace.confirmations.approve_sync(one.id)
    assert again.outcome == "review"
    assert [each.reason for each in again.confirmation.approvals][-1] == "review"


def test_a_text_shows_what_cannot_be_seen(shop) -> None:
    workspace = shop()
    arguments = {"amount": 500, "order_id": "a\u200b\u202e-1\n"}
    prompt = workspace.call_sync("refund", arguments, user="ana").confirmation.prompt

    assert prompt.isprintable()
    assert 'for order "a<U+200B><U+202E>-1\\n"?' in prompt


def test_calls_with_other_roles_do_not_wait_together(shop) -> None:
    workspace = shop()
    ids = [ask(workspace, roles=roles).confirmation.id for roles in ((), ("clerk",), ("clerk",))]

    assert ids[0] != ids[1] == ids[2]


def test_an_identical_call_waits_with_the_one_that_its_caller_confirmed(shop) -> None:
    workspace = shop(extra="\n## Safety\n\n- **Requires Confirmation**: yes\n")
    approve = workspace.confirmations.approve_sync
    one = ask(workspace).confirmation
    approve(one.id, user="ana")

    again = ask(workspace)
    assert (again.outcome, again.confirmation.id) == ("review", one.id)
    approve(one.id, {"amount": 400}, user="eve", roles=["manager"])
    assert ask(workspace).confirmation.id != one.id  # It waits with other arguments now.


def test_only_the_caller_and_the_approver_see_sensitive_values(shop: Open) -> None:
    workspace = shop(extra="\n## Safety\n\n- **Confirm When**: `amount <= 100`\n")

    def ask(amount: int, pin: str) -> Any:
        given = {"amount": amount, "order_id": "7", "pin": pin}
        return workspace.call_sync("refund", given, user="ana", conversation=pin).confirmation

    def seen(asked: Any, **who: Any) -> set[str]:
        pending = workspace.confirmations.pending_sync(**who)
        kept = next(one for one in pending if one.id == asked.id)
        told = {
            "prompt": kept.prompt,
            "parameters": str(kept.parameters),
            "all": str(kept.to_dict()),
        }
        return {place for place, said in told.items() if "4711" in said}

    own, other = ask(50, "4711"), ask(50, "4712")
    assert 'pin: "4711"' in own.prompt
    assert own.prompt != other.prompt
    assert seen(own, user="ana") == {"prompt", "parameters", "all"}
    assert seen(own) == set()

    high = ask(500, "4711")
    assert 'pin: "4711"' in high.prompt
    assert seen(high, user="ben", roles=["manager"]) == {"prompt", "parameters", "all"}
    assert seen(high) == set()

    for one in (own, high):
        workspace.confirmations.reject_sync(one.id, user="ana")
        assert "4711" not in str(workspace.confirmations.get_sync(one.id, user="ana").to_dict())
