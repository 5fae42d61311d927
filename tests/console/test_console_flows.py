"""The console in a real browser: read, try, decide, accept, run, and follow the events."""

import json
import re

from playwright.sync_api import expect
from projects import ORDER
from served_project import ServedProject, Visitor

from toolmd._types.call import Caller


def field(page, key):
    """Return the input of a field."""
    return page.locator(f"form.try [data-key='{key}'] > :is(input, select, textarea)")


def pay(page, *, confidence="0.9"):
    """Fill in a payment and call the tool."""
    field(page, "invoice").fill("A-1")
    field(page, "euros").fill("12.50")
    page.get_by_label("Confidence, 0 to 1").fill(confidence)
    page.get_by_role("button", name="Call", exact=True).click()


def test_the_link_starts_a_session_and_leaves_no_token_in_the_address(visitor, served):
    assert visitor.page.url == f"{served.url}/"
    expect(visitor.page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
    cookies = visitor.context.cookies()
    assert [(c["httpOnly"], c["sameSite"]) for c in cookies] == [(True, "Strict")]
    assert served.token not in cookies[0]["value"]


def test_without_the_link_a_page_explains_how_to_sign_in(browser, served):
    page = browser.new_page()
    page.goto(f"{served.url}/tools/pay_invoice")
    expect(page.get_by_role("heading", name="Open the link that the terminal")).to_be_visible()
    assert "invoice" not in page.locator("main").inner_text()
    page.context.close()


def test_a_saved_file_changes_the_catalogue_at_once(visitor, served):
    page = visitor.page
    entry = page.locator("article", has_text="order_supplies")
    expect(entry.get_by_text("live", exact=True)).to_be_visible()
    page.get_by_label("Show only definitions with").fill("supplies")
    expect(page.locator("article", has_text="pay_invoice")).to_be_hidden()
    served.edit(
        "tools_md/order-supplies.tool.md",
        "- **Type**: integer\n- **Req",
        "- **Type**: intger\n- **Req",
    )
    finding = entry.locator(".finding.is-error").first
    expect(finding).to_contain_text("unknown type 'intger'")
    expect(finding.locator("mark")).to_have_text("intger")
    expect(finding.locator(".caret")).to_have_text("^^^^^^")
    expect(page.get_by_role("link", name=re.compile("Problems [0-9]"))).to_be_visible()
    served.write("tools_md/order-supplies.tool.md", ORDER.replace("what a practice", "what a shop"))
    expect(entry).to_contain_text("Order what a shop needs.")
    expect(page.get_by_label("Show only definitions with")).to_have_value("supplies")
    expect(page.locator("article", has_text="pay_invoice")).to_be_hidden()


def test_a_tool_whose_server_changed_is_shown_as_suspended(visitor):
    changed = {
        "path": "tools_md/pay-invoice.tool.md", "line": 1, "column": 1, "end_line": 1,
        "end_column": 1, "code": "changed-remote-tool", "severity": "error",
        "message": "It changed.", "help": None, "fix": [],
    }  # fmt: skip
    visitor.page.route("**/api/diagnostics*", lambda route: route.fulfill(json=[changed]))
    page = visitor.go("/")
    for name, state in (("pay_invoice", "suspended"), ("order_supplies", "live")):
        expect(page.locator(".entry", has_text=name).locator(".status")).to_have_text(state)
    page = visitor.go("/tools/pay_invoice")
    expect(page.locator(".facts-line .status")).to_have_text("suspended")


def test_a_tool_is_shown_as_it_is_written_and_as_each_model_sees_it(visitor, served):
    page = visitor.go("/tools/order_supplies")
    expect(page.locator(".source-text")).to_contain_text("How many boxes")
    for target in ("openai", "openai-responses", "anthropic", "gemini", "mcp"):
        page.get_by_role("tab", name=target, exact=True).click()
        shown = page.get_by_label(target, exact=True)
        expect(shown).to_be_visible()
        assert (
            json.loads(shown.inner_text()) == served.workspace.export(target, ["order_supplies"])[0]
        )
    page.get_by_role("tab", name="prompt").click()
    expect(page.locator("#view pre")).to_contain_text("order_supplies")


def test_a_form_of_every_control_calls_the_tool_with_just_what_is_filled_in(visitor, served):
    page = visitor.go("/tools/order_supplies")
    field(page, "item").select_option(label="masks")
    assert field(page, "item").bounding_box()["y"] < 500, "the form is above the fold"
    field(page, "amount").fill("12345678901234567890")
    field(page, "day").fill("2026-12-24")
    field(page, "urgent").select_option(label="false")
    page.get_by_role("button", name="Add an item to rooms").click()
    field(page, "floor").fill("2")
    page.get_by_role("button", name="Add an item to doors").click()
    page.locator("[data-key='doors'] .item input").fill("2b")
    field(page, "street").fill("High Street")
    with page.expect_request("**/call") as sent:
        page.get_by_role("button", name="Call", exact=True).click()
    assert "12345678901234567890" in sent.value.post_data
    expect(page.locator(".result .outcome")).to_have_text("denied")
    expect(page.locator(".check.is-stopped .check-name")).to_contain_text("arguments")
    expect(page.locator("[data-key='amount'] .field-error")).to_contain_text("20")
    expect(field(page, "amount")).to_have_attribute("aria-invalid", "true")
    field(page, "amount").fill("3")
    page.get_by_role("button", name="Dry run").click()
    expect(page.locator(".result .outcome")).to_have_text("allowed")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".result .outcome")).to_have_text("ok")
    expect(page.locator(".check.is-passed")).to_have_count(12)
    assert served.called()[-1]["arguments"] == {
        "item": "masks",
        "amount": 3,
        "day": "2026-12-24",
        "urgent": False,
        "rooms": [{"floor": 2, "doors": ["2b"]}],
        "address": {"street": "High Street"},
    }


def test_json_may_be_written_by_hand(visitor):
    page = visitor.go("/tools/order_supplies")
    field(page, "amount").fill("4")
    page.get_by_role("button", name="Write JSON").click()
    box = page.get_by_label("All arguments as JSON")
    assert json.loads(box.input_value()) == {"amount": 4}
    box.fill('{"amount": 5, "amount": 6}')
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".check.is-stopped .check-name")).to_contain_text("syntax")


def test_the_caller_is_typed_once_and_the_call_is_theirs(visitor, served):
    page = visitor.go("/tools/pay_invoice")
    page.get_by_label("User", exact=True).fill("ana")
    page.get_by_label("Context").fill("patient=P-1")
    pay(page)
    card = page.locator(".slip")
    expect(card).to_contain_text("ana")
    page = visitor.go("/tools/order_supplies")
    expect(page.get_by_label("User", exact=True)).to_have_value("ana")
    expect(page.get_by_label("Context")).to_have_value("patient=P-1")
    assert served.called()[-1]["user"] == "ana"


def test_an_approved_card_says_what_happened(visitor, served):
    page = visitor.go("/tools/pay_invoice")
    pay(page)
    card = page.locator(".slip")
    expect(card.locator(".slip-kind")).to_contain_text("Waits for a confirmation")
    expect(page.locator(".check.is-pending .check-name")).to_contain_text("confirmation")
    expect(page.get_by_role("link", name=re.compile("Pending 1"))).to_be_visible()
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.locator(".slip-kind")).to_have_text("Approved")
    expect(card.locator(".result .outcome")).to_have_text("ok")
    expect(card.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("link", name="Pending", exact=True)).to_be_visible()
    assert served.called()[-1]["decision"] == "run"


def test_a_pending_call_is_edited_answered_or_rejected(visitor, served):
    page = visitor.go("/pending")
    for number, (opener, text) in enumerate((("Edit…", "7"), ("Respond…", "It is paid."))):
        served.workspace.call_sync(
            "pay_invoice", {"invoice": f"B-{number}", "euros": 1}, confidence=1
        )
        page = visitor.go("/pending")
        card = page.locator(".slip", has_text=f"B-{number}")
        card.get_by_role("button", name=opener).click()
        where = card.locator(".drawer [data-key='euros'] input, .drawer textarea")
        where.fill(text)
        where.press("Escape")
        expect(card.locator(".drawer")).to_be_hidden()
        expect(card.get_by_role("button", name=opener)).to_be_focused()
        card.get_by_role("button", name=opener).click()
        where.fill(text)
        card.locator(".drawer button").last.click()
        expect(card.locator(".result")).to_be_visible()
    assert served.called()[-1]["decision"] == "answered"
    (ran,) = (one for one in served.called() if one["decision"] == "run")
    assert ran["arguments"] == {"invoice": "B-0", "euros": 7}
    served.workspace.call_sync("pay_invoice", {"invoice": "B-9", "euros": 1}, confidence=1)
    page = visitor.go("/pending")
    page.get_by_role("button", name="Reject").click()
    expect(page.locator(".slip-kind")).to_have_text("Rejected")


def test_a_decision_that_is_denied_leaves_the_card_as_it_was(visitor, served):
    served.workspace.call_sync("pay_invoice", {"invoice": "B-1", "euros": 1}, confidence=1)
    page = visitor.go("/pending")
    card = page.locator(".slip")
    for euros, heading, left in (
        ("5000", "Not approved", 4),
        ("7", "Approved with other values", 0),
    ):
        if euros == "5000":
            card.get_by_role("button", name="Edit…").click()
        card.locator(".drawer [data-key='euros'] input").fill(euros)
        card.locator(".drawer button").last.click()
        expect(card.locator(".slip-kind")).to_have_text(heading)
        expect(card.locator(".buttons").first.get_by_role("button")).to_have_count(left)
    assert [one["decision"] for one in served.called()] == ["confirm", "deny", "run"]


def test_nobody_is_offered_to_approve_an_own_call(browser, tmp_path):
    ana = Caller("ana", roles=("manager",))
    with ServedProject(tmp_path / "project", caller=ana) as served:
        approval = "## Approval\n\n- **When**: always\n- **By**: manager\n\n## Safety\n"
        served.edit("tools_md/pay-invoice.tool.md", "## Safety\n", approval)
        served.workspace.reload()
        for user in ("ana", "bob"):
            pays = {"invoice": f"of {user}", "euros": 1}
            served.workspace.call_sync("pay_invoice", pays, confidence=1, user=user)
            served.workspace.confirmations.approve_sync(
                served.workspace.confirmations.pending_sync(user=user)[0].id, user=user
            )
        page = Visitor(browser, served).go("/pending")
        own, other = (page.locator(".slip", has_text=f"of {user}") for user in ("ana", "bob"))
        expect(own.locator(".slip-kind")).to_contain_text("Waits for manager")
        expect(own.get_by_role("button")).to_have_text(["Reject"])
        expect(other.get_by_role("button")).to_have_text(["Approve", "Edit…", "Respond…", "Reject"])
        other.get_by_role("button", name="Approve").click()
        expect(other.locator(".slip-kind")).to_have_text("Approved")
        own.get_by_role("button", name="Reject").click()
        expect(own.locator(".slip-kind")).to_have_text("Rejected")


def test_a_pending_call_of_another_client_appears_and_typing_is_kept(visitor, served):
    page = visitor.go("/pending")
    served.workspace.call_sync("pay_invoice", {"invoice": "C-1", "euros": 1}, confidence=1)
    card = page.locator(".slip", has_text="C-1")
    expect(card).to_be_visible()
    card.get_by_role("button", name="Respond…").click()
    card.locator("textarea").fill("half a sen")
    served.workspace.call_sync("pay_invoice", {"invoice": "C-2", "euros": 1}, confidence=1)
    expect(page.get_by_role("link", name=re.compile("Pending 2"))).to_be_visible()
    expect(card.locator("textarea")).to_have_value("half a sen")


def test_a_weakened_policy_is_shown_as_a_diff_and_accepted(visitor, served):
    page = visitor.page
    served.edit("tools_md/pay-invoice.tool.md", "- **Sensitivity**: high", "- **Sensitivity**: low")
    edit = page.get_by_label("Weakened policy of pay_invoice")
    expect(edit.locator(".was").first).to_contain_text("high")
    expect(edit.locator(".will").first).to_contain_text("low")
    edit.get_by_role("button", name="Accept").click()
    expect(edit).to_have_count(0)
    assert served.workspace.changes.list_sync() == ()


def test_a_run_is_shown_on_its_graph_and_resumes_after_approval(visitor, served):
    page = visitor.go("/skills/restock")
    sizes = "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    assert min(page.locator(".drawing text:not(:empty)").evaluate_all(sizes)) >= 11
    scale = "one => one.getBoundingClientRect().width / one.viewBox.baseVal.width"
    assert page.locator(".drawing svg").evaluate(scale) > 0.95
    field(page, "boxes").fill("3")
    page.get_by_label("Confidence, 0 to 1").fill("1")
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("/runs/run-"))
    expect(page.locator(".step.waiting")).to_have_count(1)
    expect(page.locator(".step.done")).to_have_count(1)
    card = page.locator(".slip")
    expect(card).to_contain_text("Pay for 3 boxes?")
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".head .standing")).to_have_text("done")
    expect(page.locator(".step.done")).to_have_count(3)
    expect(page.locator(".log-line")).to_have_count(4)
    page = visitor.go("/runs")
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_run_is_cancelled_on_its_page(visitor, served):
    ran = served.workspace.run_sync("restock", {"boxes": 1}, confidence=1.0)
    page = visitor.go(f"/runs/{ran.run_id}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".head .standing")).to_have_text("cancelled")


def test_the_audit_is_verified_and_filtered_and_a_forged_record_shows(visitor, served):
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 1})
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 99})
    page = visitor.go("/audit")
    expect(page.locator(".verdict")).to_contain_text("2 records: all unchanged")
    page.get_by_label("outcome").select_option("deny")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    (file,) = (served.folder / ".toolmd").glob("audit*/*.jsonl")
    file.write_text(file.read_text("utf-8").replace('"gauze"', '"gold"', 1), "utf-8")
    page = visitor.go("/audit")
    expect(page.locator(".verdict.is-bad")).to_be_visible()


def test_crises_stand_in_the_menu_only_where_there_are_any(visitor, served):
    menu = visitor.page.get_by_role("navigation")
    expect(menu.get_by_role("link", name="Pending")).to_be_visible()
    assert menu.get_by_role("link", name="Crises").count() == 0
    served.workspace.crises.heard_sync("I want to give up", conversation="visit", user="ana")
    page = visitor.go("/")
    page.get_by_role("link", name="Crises 1").click()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".sub")).to_contain_text("No conversation has a crisis flag.")


def test_the_dates_of_an_example_are_moved_into_the_future(visitor, served):
    call = '{"item": "gauze", "amount": 1, "day": "2024-01-01"}'
    example = f"\n### Old\n\n```json\n{call}\n```\n"
    served.write("tools_md/order-supplies.tool.md", ORDER + example)
    served.workspace.reload()
    page = visitor.go("/tools/order_supplies")
    page.get_by_role("button", name="Old").click()
    assert field(page, "day").input_value() > "2026"
    expect(page.get_by_text("they were moved")).to_be_visible()


def test_after_a_restart_the_page_asks_for_the_new_link(visitor):
    visitor.context.clear_cookies()
    visitor.page.get_by_role("link", name="Runs").click()
    expect(visitor.page.get_by_role("heading", name="Open the link")).to_be_visible()
    visitor.page.goto("about:blank")
    visitor.complaints.clear()


def test_the_console_works_with_the_keyboard(visitor, served):
    page = visitor.go("/tools/order_supplies")
    field(page, "item").focus()
    page.keyboard.type("gauze")
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator(".result .outcome")).to_have_text("ok")
    page.get_by_role("tab", name="openai", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="openai-responses")).to_be_focused()
