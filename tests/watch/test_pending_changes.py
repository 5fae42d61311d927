"""An edit that weakens a policy is not live before it is accepted."""

import sys

import pytest
from tests import warm_python
from watched_shop import GUARDED, Shop, codes, skill, tool

from toolmd import NotFoundError


def outcome(workspace, name: str = "greet", **options: object) -> str:
    return workspace.call_sync(name, "{}", confidence=0.9, **options).outcome


def test_a_dropped_restriction_stays_live_until_its_removal_is_accepted(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    assert outcome(ws) == "confirm"

    shop.tool("greet")
    ws.reload()

    assert outcome(ws) == "confirm"
    (edit,) = ws.changes.list_sync()
    assert (edit.name, edit.kind, edit.path, edit.line) == (
        "greet",
        "tool",
        "tools_md/greet.tool.md",
        1,
    )
    assert edit.diff == (
        "- Safety: Min Confidence: 0.7\n+ Safety: Min Confidence: none\n"
        "- Safety: Requires Confirmation: true\n+ Safety: Requires Confirmation: none\n"
        "- Limits: Quota: 3 calls per conversation ever\n+ Limits: Quota: none"
    )
    (found,) = ws.registry.diagnostics
    assert (found.code, found.severity, found.span.line) == ("weakened-policy", "warning", 1)
    assert "toolmd accept greet" in found.help
    assert ws.tools["greet"].diagnostics == (found,)

    assert ws.changes.accept_sync("greet") == edit

    assert outcome(ws) == "ok"
    assert ws.changes.list_sync() == ()
    assert ws.registry.diagnostics == ()


def test_a_pending_change_and_its_acceptance_survive_a_restart(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    shop.open().close()
    shop.tool("greet")

    ws = shop.open()
    assert outcome(ws) == "confirm"
    ws.close()
    again = shop.open()
    assert [edit.name for edit in again.changes.list_sync()] == ["greet"]
    again.changes.accept_sync("greet")
    again.close()

    assert outcome(shop.open()) == "ok"


def test_a_reload_reads_the_acceptance_of_another_process(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    shop.tool("greet")
    ws.reload()

    done = warm_python.run(
        [sys.executable, "-m", "toolmd", "accept", "greet"],
        cwd=shop.root,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "- Safety: Requires Confirmation: true" in done.stdout
    assert outcome(ws) == "confirm"
    ws.reload()
    assert outcome(ws) == "ok"


def test_a_stricter_edit_is_live_at_once_even_next_to_a_pending_change(shop: Shop) -> None:
    shop.tool("greet", "\n## Safety\n\n- **Requires Confirmation**: true\n", "def greet(): ...")
    ws = shop.open()

    shop.tool("greet", "\n## Safety\n\n- **Min Confidence**: 0.95\n")
    ws.reload()

    assert ws.call_sync("greet", "{}", confidence=0.9).error.code == "low_confidence"
    assert ws.call_sync("greet", "{}", confidence=0.96).outcome == "confirm"


def test_texts_and_new_parameters_of_a_pending_change_are_live(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(name=None): return {'n': name}")
    ws = shop.open()
    named = "### name\n\n- **Type**: string\n- **Description**: Who\n"

    text = tool("greet", parameters=named).replace("Does greet.", "Greets warmly.")
    shop.write("tools_md/greet.tool.md", text)
    ws.reload()

    spec = ws.tools["greet"].spec
    assert spec.description == "Greets warmly."
    assert [p.name for p in spec.parameters] == ["name"]
    assert spec.safety.requires_confirmation is True


def test_a_live_restriction_stays_though_its_file_has_a_pending_change(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): ...")
    ws = shop.open()
    shop.tool("greet", "\n## Limits\n\n- **Max Rows**: 5\n- **Max Calls**: 3\n")
    ws.reload()

    shop.tool("greet")
    ws.reload()

    assert ws.tools["greet"].spec.limits.max_rows == 5
    assert "Limits: Max Rows" in {found.place for found in ws.changes.list_sync()[0].weakened}


def test_restoring_the_restriction_removes_the_pending_change(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): ...")
    ws = shop.open()
    shop.tool("greet")
    ws.reload()

    shop.tool("greet", GUARDED)
    ws.reload()

    assert ws.changes.list_sync() == ()
    with pytest.raises(NotFoundError, match="greet has no change"):
        ws.changes.accept_sync("greet")


def test_an_acceptance_covers_the_shown_change_and_no_later_one(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    shop.tool("greet", GUARDED.replace("- **Min Confidence**: 0.7\n", ""))
    ws.reload()

    shop.tool("greet")
    ws.changes.accept_sync("greet")

    (edit,) = ws.changes.list_sync()
    assert "Safety: Min Confidence" not in edit.diff
    assert ws.call_sync("greet", "{}").outcome == "confirm"


def test_a_project_that_trusts_edits_applies_them_at_once(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open(trust_edits=True)

    shop.tool("greet")
    ws.reload()

    assert outcome(ws) == "ok"
    assert outcome(shop.open()) == "ok"


def test_a_restored_definition_keeps_its_old_restrictions(shop: Shop) -> None:
    file = shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    file.unlink()
    ws.reload()
    assert "greet" not in ws.tools

    shop.tool("greet")
    ws.reload()

    assert outcome(ws) == "confirm"


def test_a_renamed_definition_keeps_its_old_restrictions(shop: Shop) -> None:
    file = shop.tool("greet", GUARDED, "def greet(): return {}\ndef gree(): return {}\n")
    ws = shop.open()

    file.write_text(tool("gree"))
    ws.reload()

    assert list(ws.tools) == ["gree"]
    assert ws.tools["gree"].spec.safety.requires_confirmation is True
    file.write_text(tool("greet"))
    ws.reload()
    assert outcome(ws) == "confirm"


def test_a_definition_may_move_to_another_file(shop: Shop) -> None:
    file = shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    (shop.root / "tools_md/more").mkdir()
    (shop.root / "tools_md/greet.py").rename(shop.root / "tools_md/more/greet.py")

    moved = file.rename(shop.root / "tools_md/more/greet.tool.md")
    ws.reload()
    assert ws.changes.list_sync() == ()
    moved.write_text(tool("greet"))
    ws.reload()

    assert [edit.path for edit in ws.changes.list_sync()] == ["tools_md/more/greet.tool.md"]


def test_a_skill_that_asks_no_more_is_a_pending_change(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): return {}")
    asks = "   - **Ask**: Shall I?\n"
    shop.write("skills_md/hello.skill.md", skill("hello", "greet", asks))
    ws = shop.open()

    shop.write("skills_md/hello.skill.md", skill("hello", "greet"))
    ws.reload()

    assert ws.run_sync("hello", {}).outcome == "confirm"
    ws.changes.accept_sync("hello")
    assert ws.run_sync("hello", {}).success


def test_settings_of_a_running_project_may_only_become_stricter(shop: Shop) -> None:
    shop.tool("greet", "", "def greet(): return {}")
    shop.write("toolmd.toml", "plugins = []\n[safety]\nfloor = 0.5\ndefault_min = 0.6\n")
    ws = shop.open()

    shop.write("toolmd.toml", "plugins = []\n[safety]\ndefault_min = 0.7\n")
    ws.reload()

    assert (ws.settings.safety.floor, ws.settings.safety.default_min) == (0.5, 0.7)
    (found,) = ws.diagnostics
    assert (found.code, found.span.path) == ("weakened-settings", "toolmd.toml")
    assert "safety.floor" in found.message
    assert shop.open().settings.safety.floor is None


def test_without_a_state_folder_the_process_keeps_pending_changes(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    shop.write("blocked", "a file stands where the folder should be")
    ws = shop.open(state="blocked/state", audit=False)
    shop.tool("greet")
    ws.reload()

    assert ws.tools["greet"].spec.safety.requires_confirmation is True
    assert codes(ws) == {"weakened-policy", "unreadable-state"}
    ws.changes.accept_sync("greet")
    assert ws.tools["greet"].spec.safety.requires_confirmation is None


def test_a_state_folder_that_was_removed_loses_nothing_while_the_process_runs(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): return {}")
    ws = shop.open()
    warm_python.run(["rm", "-rf", str(shop.root / ".toolmd/live")], check=True)

    shop.tool("greet")
    ws.reload()

    assert [edit.name for edit in ws.changes.list_sync()] == ["greet"]


def test_observers_receive_each_change_once_and_nothing_without_a_change(
    shop: Shop,
) -> None:
    shop.tool("greet", GUARDED, "def greet(): ...")
    ws = shop.open()
    heard = []

    def breaks(old, new) -> None:
        raise OSError("not here")

    ws.on_change(breaks)
    end = ws.on_change(lambda old, new: heard.append((old, new)))
    first = ws.registry
    shop.tool("greet")
    second = ws.reload()
    ws.reload()
    ws.changes.accept_sync("greet")

    assert heard == [(first, second), (second, ws.registry)]
    end()
    end()
    shop.tool("other", "", "def other(): ...")
    ws.reload()
    assert len(heard) == 2


def test_an_observer_may_accept_a_change(shop: Shop) -> None:
    shop.tool("greet", GUARDED, "def greet(): ...")
    ws = shop.open()
    ws.on_change(
        lambda old, new: [ws.changes.accept_sync(edit.name) for edit in new.pending_changes]
    )

    shop.tool("greet")
    ws.reload()

    assert ws.changes.list_sync() == ()


def test_a_pending_confirmation_applies_to_the_shown_call_only(shop: Shop) -> None:
    asks = "\n## Safety\n\n- **Requires Confirmation**: true\n"
    shop.tool("greet", asks, "def greet(): return {'n': 1}")
    ws = shop.open()
    asked = [ws.call_sync("greet", conversation=name) for name in ("a", "b", "c")]
    first, second, third = (one.confirmation.id for one in asked)

    shop.tool("other")
    ws.reload()
    assert ws.confirmations.approve_sync(first).data == {"n": 1}

    shop.tool("greet")
    ws.reload()
    assert ws.changes.list_sync()
    assert ws.confirmations.approve_sync(second).data == {"n": 1}

    shop.tool("greet", asks.replace("true", "true\n- **Sensitivity**: high"))
    ws.reload()
    stale = ws.confirmations.approve_sync(third)
    assert (stale.outcome, stale.error.code) == ("confirm", "confirmation_stale")
    assert ws.confirmations.approve_sync(stale.confirmation.id).success


AMOUNT = "### amount\n\n- **Type**: integer\n- **Required**: true\n- **Description**: Euros"


def pays(shop: Shop, condition: str) -> None:
    safety = f"\n## Safety\n\n- **Confirm When**: `{condition}`\n"
    shop.write("tools_md/pay.py", "def pay(amount: int): return {}")
    shop.write("tools_md/pay.tool.md", tool("pay", AMOUNT, safety))


def asks(workspace, *amounts: int) -> list[bool]:
    results = [workspace.call_sync("pay", {"amount": amount}) for amount in amounts]
    return [result.outcome == "confirm" for result in results]


def test_a_stricter_condition_is_live_at_once(shop: Shop) -> None:
    pays(shop, "amount > 500")
    ws = shop.open()
    assert asks(ws, 300, 600) == [False, True]

    pays(shop, "amount > 200")
    ws.reload()

    assert asks(ws, 100, 300, 600) == [False, True, True]
    assert ws.changes.list_sync() == ()


def test_of_two_conditions_each_asks_until_the_change_is_accepted(shop: Shop) -> None:
    pays(shop, "amount > 500")
    ws = shop.open()
    pays(shop, "amount % 2 == 0")
    ws.reload()
    for _ in range(2):
        assert asks(ws, 301, 300, 601) == [False, True, True]
        assert [edit.name for edit in ws.changes.list_sync()] == ["pay"]
        ws.close()
        ws = shop.open()

    ws.changes.accept_sync("pay")

    assert asks(ws, 301, 300, 601) == [False, True, False]
