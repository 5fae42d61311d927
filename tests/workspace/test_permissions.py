"""A call's permission: roles, facts about the caller, and the time, as the file states them."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.definitions import tool
from workspace_shop import Shop, skill, word

from toolmd import Workspace, load_settings

SETTINGS = """plugins = []

[identity]
roles = ["support", "manager"]
facts = { customer = "string", limit = "number", vip = "boolean", patients = "list" }
"""
PARAMETERS = (
    "### customer\n\n- **Type**: string\n- **Required**: true\n\n"
    "### amount\n\n- **Type**: integer\n- **Required**: true\n\n"
)
PYTHON = "def refund(customer, amount):\n    return [customer, amount]\n"


def write(shop: Shop, *rules: str, metadata: str = "", safety: str = "", limits: str = "") -> None:
    """Write a shop with one tool and these rules."""
    listed = "".join(f"- `{rule}`: It must hold.\n" for rule in rules)
    extra = (f"## Rules\n\n{listed}\n" if rules else "") + safety + limits
    text = tool("refund", PARAMETERS, extra)
    shop.write(
        "tools_md/refund.tool.md", text.replace("\n## Parameters", f"{metadata}\n## Parameters")
    )
    shop.write("tools_md/refund.py", PYTHON)
    shop.write("toolmd.toml", SETTINGS)


def outcome(workspace: Workspace, amount: int = 5, **caller: Any) -> str:
    """Call, and return the outcome, or the code of the error."""
    result = workspace.call_sync("refund", {"customer": "c1", "amount": amount}, **caller)
    return result.error.code if result.error is not None else result.outcome


OWN = "customer == caller.customer || 'support' in caller.roles"
SWAPPED = "'support' in caller.roles || customer == caller.customer"


@pytest.mark.parametrize("rule", [OWN, SWAPPED])
def test_only_the_owner_or_a_role_may(shop: Shop, rule: str) -> None:
    write(shop, rule)
    with shop.open() as workspace:
        for caller, expected in (
            ({}, "not_allowed"),
            ({"context": {"customer": "c2"}}, "not_allowed"),
            ({"context": {"customer": ""}}, "not_allowed"),
            ({"context": {"customer": None}}, "not_allowed"),
            ({"context": {"customer": None}, "roles": ["support"]}, "ok"),
            ({"context": {"customer": "c1"}}, "ok"),
            ({"roles": ["support"]}, "ok"),
            ({"roles": ["manager"]}, "not_allowed"),
            ({"roles": ["Support"]}, "not_allowed"),
            ({"roles": ["support"], "context": {"customer": "c2"}}, "ok"),
        ):
            assert outcome(workspace, user="ana", **caller) == expected, caller


@pytest.mark.parametrize(
    ("rule", "facts", "expected"),
    [
        ("amount <= caller.limit", {"limit": 5}, "ok"),
        ("amount <= caller.limit", {"limit": "5.5"}, "ok"),
        ("amount <= caller.limit", {"limit": 4}, "not_allowed"),
        ("amount <= caller.limit", {"limit": "much"}, "not_allowed"),
        ("amount <= caller.limit", {"limit": True}, "not_allowed"),
        ("amount <= caller.limit", {}, "not_allowed"),
        ("customer != caller.customer", {}, "not_allowed"),
        ("customer != caller.customer", {"customer": " "}, "not_allowed"),
        ("customer != caller.customer", {"customer": 5}, "not_allowed"),
        ("customer != caller.customer", {"customer": "c2"}, "ok"),
        ("!(customer == caller.customer)", {}, "not_allowed"),
        ("caller.vip", {"vip": True}, "ok"),
        ("caller.vip", {"vip": "true"}, "ok"),
        ("caller.vip", {"vip": "yes"}, "not_allowed"),
        ("!caller.vip", {}, "not_allowed"),
        ("customer in caller.patients", {"patients": ["c1", "c2"]}, "ok"),
        ("customer in caller.patients", {"patients": "c2, c1"}, "ok"),
        ("customer in caller.patients", {"patients": []}, "not_allowed"),
        ("customer in caller.patients", {"patients": [1]}, "not_allowed"),
        ("has(caller.limit) && amount < caller.limit", {"limit": 6}, "ok"),
        ("caller.user == 'ana'", {}, "ok"),
        ("caller.via == 'app'", {}, "not_allowed"),
        ("caller.roles == ['support']", {"roles": "support"}, "not_allowed"),
    ],
)
def test_a_fact_counts_only_with_its_type(
    shop: Shop, rule: str, facts: dict[str, Any], expected: str
) -> None:
    write(shop, rule)
    with shop.open() as workspace:
        assert not workspace.diagnostics
        assert outcome(workspace, user="ana", context=facts) == expected


def test_a_denial_names_what_the_caller_lacks_and_no_value(shop: Shop) -> None:
    write(shop, "customer == caller.customer", "amount > 0")
    with shop.open() as workspace:
        denied = workspace.call_sync("refund", {"customer": "c1", "amount": 5}).error
        wrong = workspace.call_sync("refund", {"customer": "c1", "amount": -5}).error
    assert denied is not None
    assert "the caller has no fact 'customer'" in denied.message
    assert wrong is not None
    assert wrong.code == "invalid_arguments"  # before any permission


@pytest.mark.parametrize(
    ("rule", "code", "help_"),
    [
        ("customer == caller.custmer", "unknown-fact", "did you mean 'customer'?"),
        ("amount != caller.customer", "invalid-expression", ""),
        ("caller.roles == 'support'", "invalid-expression", ""),
        ("now.getHours() < 18", "time-zone-missing", "getHours('Europe/Berlin')"),
        ("(now - duration('1h')).getDayOfWeek() < 6", "time-zone-missing", ""),
    ],
)
def test_a_mistake_about_the_caller_is_found_when_the_file_is_read(
    shop: Shop, rule: str, code: str, help_: str
) -> None:
    write(shop, rule)
    with shop.open() as workspace:
        (found,) = workspace.diagnostics
        assert found.code == code
        assert help_ in found.help
        assert outcome(workspace, user="ana") == "unknown_tool"


def test_a_fact_is_known_by_the_settings_or_by_requires_context(shop: Shop) -> None:
    write(shop, "customer == caller.tenant")
    with shop.open() as workspace:
        assert [one.code for one in workspace.diagnostics] == ["unknown-fact"]
        shop.write("toolmd.toml", SETTINGS.replace("facts = {", "facts = { tenant = 'string',"))
        workspace.reload()
        assert not workspace.diagnostics
        assert outcome(workspace, context={"tenant": "c1"}) == "ok"
    write(shop, "customer == caller.tenant", metadata="- **Requires Context**: tenant\n")
    with shop.open() as workspace:
        assert not workspace.diagnostics
        assert outcome(workspace, context={"tenant": "c2"}) == "not_allowed"
        assert outcome(workspace) == "context_required"


def test_a_new_fact_counts_at_once_and_another_type_of_one_after_a_restart(shop: Shop) -> None:
    write(shop, "customer == caller.customer")
    with shop.open() as workspace:
        shop.write("toolmd.toml", SETTINGS.replace("facts = {", "facts = { zone = 'string',"))
        workspace.reload()
        assert not workspace.diagnostics
        shop.write("toolmd.toml", SETTINGS.replace("facts = {", "facts = { zone = 'list',"))
        workspace.reload()
        assert [one.code for one in workspace.diagnostics] == ["weakened-settings"]


def test_a_parameter_called_caller_or_now_is_read_by_no_expression(shop: Shop) -> None:
    for name, rule in (("caller", "caller.user == 'a'"), ("now", "now > 3"), ("now", "now() > t")):
        text = tool("refund", word(name) + word("t"), f"## Rules\n\n- `{rule}`: No.\n\n")
        shop.write("tools_md/refund.tool.md", text)
        with shop.open() as workspace:
            codes = {one.code for one in workspace.diagnostics}
            assert codes & {"ambiguous-name", "invalid-expression"}, rule
    shop.write("tools_md/refund.tool.md", tool("refund", word("caller") + word("now")))
    with shop.open() as workspace:
        assert not {one.code for one in workspace.registry.diagnostics}


def test_the_time_of_a_call_decides(shop: Shop) -> None:
    write(shop, "now.getHours('Europe/Berlin') < 18 && now < timestamp('2026-12-01T00:00:00Z')")
    moment = datetime(2026, 11, 29, 16, 59, tzinfo=UTC)
    settings = load_settings(shop.root)
    with Workspace(settings, clock=lambda: moment) as workspace:
        assert outcome(workspace) == "ok"
        moment = datetime(2026, 11, 29, 17, 1, tzinfo=UTC)
        assert outcome(workspace) == "not_allowed"
        moment = datetime(2026, 12, 1, 9, tzinfo=UTC)
        assert outcome(workspace) == "not_allowed"


def test_conditions_of_safety_read_the_caller(shop: Shop) -> None:
    write(shop, safety="## Safety\n\n- **Confirm When**: `amount > caller.limit`\n\n")
    with shop.open() as workspace:
        assert outcome(workspace, context={"limit": 5}) == "ok"
        assert outcome(workspace, context={"limit": 4}) == "confirm"
        assert outcome(workspace) == "confirm"  # It can't be computed.


def test_a_permission_is_checked_again_when_an_approved_call_starts(shop: Shop) -> None:
    safety = "## Safety\n\n- **Requires Confirmation**: true\n\n"
    write(shop, "now < timestamp('2026-12-01T00:00:00Z')", safety=safety)
    moment = datetime(2026, 11, 30, 23, 58, tzinfo=UTC)
    with Workspace(load_settings(shop.root), clock=lambda: moment) as workspace:
        for later, expected in ((moment, "ok"), (datetime(2026, 12, 1, 0, 1, tzinfo=UTC), "")):
            asked = workspace.call_sync("refund", {"customer": "c1", "amount": 5}, user="ana")
            assert asked.confirmation is not None
            moment = later
            result = workspace.confirmations.approve_sync(asked.confirmation.id, user="ana")
            assert result.outcome == (expected or "denied")
            assert expected or (result.error is not None and result.error.code == "not_allowed")


ROLES = "- **Allowed Roles**: support, manager\n"


def test_one_of_the_allowed_roles_suffices(shop: Shop) -> None:
    write(shop, metadata=ROLES)
    with shop.open() as workspace:
        assert outcome(workspace, roles=["support"]) == "auth_required"
        assert outcome(workspace, user="ana") == "not_allowed"
        assert outcome(workspace, user="ana", roles=["guest", "manager"]) == "ok"
        denied = workspace.call_sync(
            "refund", {"customer": "c", "amount": 1}, user="a", roles=["x"]
        )
        assert denied.error is not None
        assert denied.error.message == "refund is for support or manager."
        spec = workspace.tools["refund"].spec
        assert spec.canonical["allowed_roles"] == ["support", "manager"]
        assert spec.requires_auth
        (function,) = workspace.export("openai")
    assert "Only for support or manager." in function["function"]["description"]


@pytest.mark.parametrize(
    ("line", "code", "help_"),
    [
        ("Roles**: support", "unknown-field", "Allowed Roles"),
        ("Requires Role**: support", "unknown-field", "Allowed Roles"),
        ("Required Roles**: support, manager", "unknown-field", "&&"),
        ("Allowed Roles**: everyone", "unreadable-value", "any will do"),
        ("Allowed Roles**: *", "unreadable-value", ""),
        ("Allowed Roles**: not guest", "unreadable-value", "!('guest' in caller.roles)"),
        ("Allowed Roles**:", "unreadable-value", ""),
        ("Allowed Roles**: suport", "unknown-role", "did you mean 'support'?"),
        ("Allowed Rolse**: support", "unknown-field", "Allowed Roles"),
        ("Allowed Roles**: support\n- **Requires Auth**: no", "conflict", "Requires Auth"),
    ],
)
def test_a_role_that_cannot_be_read_denies(shop: Shop, line: str, code: str, help_: str) -> None:
    write(shop, metadata=f"- **{line}\n")
    with shop.open() as workspace:
        (found,) = workspace.diagnostics
        assert found.code == code
        assert help_ in found.help
        assert not workspace.tools


def test_more_roles_wait_for_acceptance(shop: Shop) -> None:
    write(shop, metadata="- **Allowed Roles**: manager\n")
    with shop.open() as workspace:
        assert outcome(workspace, user="ana", roles=["support"]) == "not_allowed"
        for looser in (ROLES, ""):
            write(shop, metadata=looser)
            workspace.reload()
            assert outcome(workspace, user="ana", roles=["support"]) == "not_allowed"
            assert "weakened-policy" in {one.code for one in workspace.diagnostics}
        workspace.changes.accept_sync("refund")
        assert outcome(workspace, user="ana", roles=["support"]) == "ok"


STEPS = (
    "1. **Refund**.\n   - **When**: `'manager' in caller.roles`\n   - **Use**: refund\n"
    "   - **With**:\n     - customer: `word`\n     - amount: 5\n   - **Save as**: paid\n"
    "2. **Return**:\n   - who: `caller.user`\n   - paid: `has(paid)`"
)


def test_steps_read_the_caller_and_a_run_needs_the_roles_of_its_tools(shop: Shop) -> None:
    write(shop, metadata=ROLES)
    shop.write("skills_md/pay.skill.md", skill("pay", "refund", STEPS, word("word")))
    with shop.open() as workspace:
        assert not workspace.diagnostics
        for role, paid in (("manager", True), ("support", False)):
            ran = workspace.run_sync("pay", {"word": "c"}, user="ana", roles=[role])
            assert ran.data == {"who": "ana", "paid": paid}
        denied = workspace.run_sync("pay", {"word": "c"}, user="ana")
        assert denied.error is not None
        assert denied.error.code == "not_allowed"
    shop.write(
        "skills_md/pay.skill.md",
        skill("pay", "refund", STEPS.replace("caller.user", "caller.usr"), word("word")),
    )
    with shop.open() as workspace:
        assert "unknown-fact" in {one.code for one in workspace.diagnostics}


def test_a_stored_call_keeps_roles_and_facts_over_a_restart(shop: Shop) -> None:
    safety = "## Safety\n\n- **Requires Confirmation**: true\n\n"
    write(shop, "customer in caller.patients", metadata=ROLES, safety=safety)
    who: dict[str, Any] = {"user": "ana", "roles": ["support"], "context": {"patients": "c1, c2"}}
    stored = {"store": "sqlite"}
    with shop.open(overrides=stored) as workspace:
        asked = workspace.call_sync("refund", {"customer": "c1", "amount": 5}, **who)
    assert asked.confirmation is not None
    with shop.open(overrides=stored) as workspace:
        done = workspace.confirmations.approve_sync(asked.confirmation.id, user="ana")
    assert done.data == ["c1", 5]


HOURS = "## Limits\n\n- **Allowed Hours**: {}\n\n"


@pytest.mark.parametrize(
    ("hours", "is_open", "closed", "opens"),
    [
        ("Mon-Fri 08:00-18:00", "2026-11-30 08:00", "2026-11-30 07:59", "on Monday at 08:00"),
        ("Mon-Fri 08:00-18:00", "2026-12-04 17:59", "2026-12-04 18:00", "on Monday at 08:00"),
        ("Fri 22:00-02:00", "2026-12-05 01:59", "2026-12-05 02:00", "on Friday at 22:00"),
        ("Sun 22:00-02:00", "2026-11-30 01:00", "2026-11-30 02:00", "on Sunday at 22:00"),
        ("Sat-Mon 09:00-13:00", "2026-11-29 12:59", "2026-12-01 10:00", "on Saturday at 09:00"),
        ("saturday 9:00–24:00", "2026-12-05 23:59", "2026-12-06 00:00", "on Saturday at 09:00"),
        ("Mon 08:00-12:00, Mon 13:00-17:00", "2026-11-30 13:00", "2026-11-30 12:30",
         "on Monday at 13:00"),
    ],
)  # fmt: skip
def test_a_call_outside_the_allowed_hours_is_denied(
    shop: Shop, hours: str, is_open: str, closed: str, opens: str
) -> None:
    write(shop, limits=HOURS.format(f"{hours} Europe/Berlin"))
    zone = ZoneInfo("Europe/Berlin")
    moment = datetime.fromisoformat(is_open).replace(tzinfo=zone)
    with Workspace(load_settings(shop.root), clock=lambda: moment) as workspace:
        assert outcome(workspace) == "ok"
        moment = datetime.fromisoformat(closed).replace(tzinfo=zone)
        result = workspace.call_sync("refund", {"customer": "c1", "amount": 5})
        assert result.error is not None
        assert result.error.code == "not_allowed"
        assert result.error.message.endswith(f"(Europe/Berlin); next {opens}.")


@pytest.mark.parametrize(
    "hours",
    ["9-5", "9am-5pm", "weekdays", "Mon-Fri", "Mon-Fri 08:00-18:00 CET", "Mon 08:00-25:00",
     "Mon 08:00-08:00", "Mon 24:00-08:00", "2026-12-24 08:00-12:00", "Mon 08:00-18:00 Europe/Berln",
     "Noday 08:00-18:00", "always"],
)  # fmt: skip
def test_hours_that_are_not_exact_are_an_error(shop: Shop, hours: str) -> None:
    write(shop, limits=HOURS.format(hours))
    with shop.open() as workspace:
        assert {one.code for one in workspace.diagnostics} == {"unreadable-value"}
        assert outcome(workspace) == "unknown_tool"


def test_hours_need_a_time_zone(shop: Shop) -> None:
    write(shop, limits=HOURS.format("Mon-Sun 00:00-24:00"))
    with shop.open() as workspace:
        assert {one.code for one in workspace.diagnostics} == {"time-zone-missing"}
    shop.write("toolmd.toml", f'time_zone = "Europe/Berlin"\n{SETTINGS}')
    with shop.open() as workspace:
        assert outcome(workspace) == "ok"


def test_what_a_call_leaves_out_is_filled_from_the_caller(shop: Shop) -> None:
    write(shop, OWN)
    file = shop.root / "tools_md" / "refund.tool.md"
    file.write_text(file.read_text().replace("true\n\n### amount", "true\n- **Default**: "
                                             "`caller.customer`\n\n### amount"))  # fmt: skip
    ana: dict[str, Any] = {"user": "ana", "context": {"customer": "c1"}}
    with shop.open() as workspace:
        assert not workspace.diagnostics
        (exported,) = workspace.export("anthropic")
        assert exported["input_schema"]["required"] == ["amount"]
        for given in ({"amount": 5}, {"amount": 5, "customer": None}):
            assert workspace.call_sync("refund", given, **ana).data == ["c1", 5]
        for given, caller, code in (
            ({"amount": 5, "customer": "c2"}, ana, "not_allowed"),
            ({"amount": 5}, {"user": "ana"}, "invalid_arguments"),
            ({"amount": 5}, {"user": "ben", "roles": ["support"]}, "invalid_arguments"),
        ):
            error = workspace.call_sync("refund", given, **caller).error
            assert error is not None
            assert error.code == code, given


FILLED = "true\n- **Default**: `caller.%s`\n\n### amount"


@pytest.mark.parametrize(
    ("rules", "metadata", "fact", "code"),
    [
        ([OWN], "", "custmer", "unknown-fact"),
        (["amount > 0"], "", "customer", "default-without-rule"),
        ([OWN], "- **Requires Context**: customer\n", "", "fact-beside-role"),
        ([SWAPPED], "- **Requires Context**: customer\n", "", "fact-beside-role"),
        ([OWN], "", "customer", ""),
        (["customer == caller.customer"], "- **Requires Context**: customer\n", "customer", ""),
    ],
)
def test_rules_over_callers_that_surprise_are_told(
    shop: Shop, rules: list[str], metadata: str, fact: str, code: str
) -> None:
    write(shop, *rules, metadata=metadata)
    file = shop.root / "tools_md" / "refund.tool.md"
    if fact:
        file.write_text(file.read_text().replace("true\n\n### amount", FILLED % fact))
    with shop.open() as workspace:
        assert [one.code.value for one in workspace.diagnostics] == ([code] if code else [])
