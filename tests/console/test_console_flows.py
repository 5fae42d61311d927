"""An author's work at the console, in a real browser."""

import json
import re

from playwright.sync_api import Page, expect
from projects import ORDER
from served_project import Visitor


def field(page: Page, key: str) -> "object":
    return page.locator(f".field[data-key='{key}'] > [data-input]")


def test_the_link_starts_a_session_and_leaves_no_token_in_the_address(visitor, served):
    assert visitor.page.url == f"{served.url}/"
    expect(visitor.page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
    cookies = visitor.context.cookies()
    assert [(c["httpOnly"], c["sameSite"]) for c in cookies] == [(True, "Strict")]
    assert served.token not in cookies[0]["value"]


def test_without_the_link_a_page_explains_how_to_sign_in(browser, served):
    page = browser.new_page()
    page.goto(f"{served.url}/tools/pay_invoice")
    expect(page.get_by_role("heading", name="Open the link from the terminal")).to_be_visible()
    assert "invoice" not in page.locator("main").inner_text()
    page.context.close()


def test_a_saved_file_changes_the_catalogue_at_once(visitor, served):
    page = visitor.page
    entry = page.locator("article", has_text="order_supplies")
    expect(entry.get_by_text("live", exact=True)).to_be_visible()
    page.get_by_label("Show only definitions with").fill("supplies")
    expect(page.get_by_role("status").get_by_text("2 of 3")).to_be_visible()
    expect(page.locator("article", has_text="pay_invoice")).to_be_hidden()
    served.edit(
        "tools_md/order-supplies.tool.md",
        "- **Type**: integer\n- **Req",
        "- **Type**: intger\n- **Req",
    )
    expect(entry.get_by_text("last good version")).to_be_visible()
    finding = entry.locator(".finding.is-error").first
    expect(finding).to_contain_text("unknown type 'intger'")
    expect(finding.locator("mark")).to_have_text("intger")
    expect(finding.locator(".caret")).to_have_text("^^^^^^")
    caret, meant = finding.locator(".caret").bounding_box(), finding.locator("mark").bounding_box()
    assert abs(caret["x"] - meant["x"]) < 1
    expect(page.get_by_role("link", name=re.compile("Problems [0-9]"))).to_be_visible()
    served.write(
        "tools_md/order-supplies.tool.md", ORDER.replace("what a practice", "all that a shop")
    )
    expect(entry.get_by_text("live", exact=True)).to_be_visible()
    expect(entry).to_contain_text("Order all that a shop needs.")
    expect(page.get_by_label("Show only definitions with")).to_have_value("supplies")
    expect(page.locator("article", has_text="pay_invoice")).to_be_hidden()


def test_python_that_differs_from_its_markdown_is_shown_at_its_tool(visitor, served):
    page = visitor.page
    served.edit("tools_md/pay_invoice.py", "euros: float", "dollars: float")
    entry = page.locator("article", has_text="pay_invoice")
    expect(entry.locator(".finding.is-error").first).to_contain_text("dollars")
    expect(page.get_by_role("link", name=re.compile("Problems [0-9]"))).to_be_visible()
    page = visitor.go("/problems")
    expect(page.get_by_role("heading", name="tools_md/pay_invoice.py")).to_be_visible()


def test_a_tool_is_shown_as_it_is_written_and_as_each_model_sees_it(visitor, served):
    page = visitor.go("/tools/order_supplies")
    expect(page.locator(".document")).to_contain_text("How many boxes")
    for target in ("openai", "openai-responses", "anthropic", "gemini", "mcp"):
        page.get_by_role("tab", name=target, exact=True).click()
        shown = page.locator(f"#panel-{target} pre").inner_text()
        assert json.loads(shown) == served.workspace.export(target, ["order_supplies"])[0]
    page.get_by_role("tab", name="prompt").click()
    expect(page.locator("#panel-prompt pre")).to_contain_text("order_supplies")
    expect(page.locator("#panel-mcp pre")).to_be_hidden()
    served.edit(
        "tools_md/order-supplies.tool.md", "Anything else", "Anything else\n- **Max Length**: 80"
    )
    page.get_by_role("tab", name="openai", exact=True).click()
    lost = page.locator("#panel-openai .losses")
    expect(lost).to_contain_text("openai does not show these; Toolmd still checks them")
    expect(lost).to_contain_text("order_supplies.note: maxLength 80")


def test_a_form_of_every_control_calls_the_tool_with_just_what_is_filled_in(visitor, served):
    page = visitor.go("/tools/order_supplies")
    field(page, "item").select_option(label="masks")
    field(page, "amount").fill("3")
    field(page, "day").fill("2026-12-24")
    field(page, "urgent").select_option(label="false")
    page.get_by_role("button", name="Add an item to rooms").click()
    field(page, "floor").fill("2")
    page.get_by_role("button", name="Add an item to doors").click()
    page.locator("[data-key='doors'] .item [data-input]").fill("2b")
    page.get_by_role("button", name="Add an item to rooms").click()
    field(page, "floor").last.fill("4")
    field(page, "street").fill("High Street")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".result .outcome")).to_have_text("ok")
    expect(page.locator(".check.is-passed")).to_have_count(11)
    assert served.called()[-1]["arguments"] == {
        "item": "masks",
        "amount": 3,
        "day": "2026-12-24",
        "urgent": False,
        "rooms": [{"floor": 2, "doors": ["2b"]}, {"floor": 4}],
        "address": {"street": "High Street"},
    }


def test_wrong_arguments_are_marked_at_their_fields_and_at_the_check(visitor, served):
    page = visitor.go("/tools/order_supplies")
    page.get_by_role("button", name="Two boxes").click()
    expect(field(page, "floor")).to_have_value("1")
    field(page, "amount").fill("many")
    page.locator("[data-key='doors'] .item [data-input]").fill("7")
    field(page, "floor").fill("up")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".result .outcome")).to_have_text("denied")
    expect(page.locator(".check.is-stopped .check-name")).to_contain_text("arguments")
    expect(page.locator(".check.is-unreached")).to_have_count(6)
    expect(field(page, "amount")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[data-key='floor'] > [data-error]")).to_contain_text("integer")
    expect(field(page, "amount")).to_be_focused()
    assert [r["decision"] for r in served.called()] == ["deny"]


def test_a_dry_run_passes_the_checks_and_runs_nothing(visitor, served):
    page = visitor.go("/tools/order_supplies")
    page.get_by_role("button", name="Two boxes").click()
    page.get_by_role("button", name="Dry run").click()
    expect(page.locator(".result .outcome")).to_have_text("allowed")
    expect(page.locator(".check").last).to_contain_text("A dry run ends here")
    assert served.called() == []


def test_json_may_be_written_by_hand(visitor):
    page = visitor.go("/tools/order_supplies")
    field(page, "amount").fill("4")
    page.get_by_role("button", name="Write JSON").click()
    box = page.get_by_label("All arguments as JSON")
    assert json.loads(box.input_value()) == {"amount": 4}
    box.fill('{"item": "gauze", "item": "masks"}')
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".result code").first).to_have_text("malformed_call")
    expect(page.locator(".check.is-stopped .check-name")).to_contain_text("syntax")


def test_examples_are_run_from_the_page(visitor):
    page = visitor.go("/tools/order_supplies")
    page.get_by_role("button", name="Run them").click()
    expect(page.locator(".tried .is-passed")).to_have_count(2)


def request(visitor, euros="12.5"):
    page = visitor.go("/tools/pay_invoice")
    field(page, "invoice").fill("A-7")
    field(page, "euros").fill(euros)
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".check.is-stopped .check-name")).to_contain_text("confidence")
    page.get_by_label("Confidence, 0 to 1").fill("0.9")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".check.is-pending .check-name")).to_contain_text("confirmation")
    return page


def test_enter_in_an_edited_field_approves_the_edit_and_the_page_follows(visitor, served):
    request(visitor)
    page = visitor.go("/pending")
    slip = page.locator(".slip")
    expect(slip).to_contain_text("I'd like to pay invoice: invoice: A-7, euros: 12.5")
    slip.get_by_role("button", name="Edit…").click()
    expect(field(page, "euros")).to_have_value("12.5")
    field(page, "euros").fill("11")
    field(page, "euros").press("Enter")
    expect(page.get_by_text("No call is pending.")).to_be_visible()
    expect(slip.locator(".outcome")).to_have_text("ok")
    ran = served.called()[-1]
    assert ran["arguments"] == {"invoice": "A-7", "euros": 11}
    assert served.workspace.confirmations.pending_sync() == ()


def test_a_pending_call_is_rejected_or_answered_on_the_tools_page(visitor, served):
    page = request(visitor)
    page.locator(".slip").get_by_role("button", name="Reject").click()
    expect(page.locator(".slip .result code")).to_have_text("rejected")
    page = request(visitor)
    page.locator(".slip").get_by_role("button", name="Respond…").click()
    page.get_by_label("Answer for the model").fill("Paid by hand.")
    page.locator(".slip").get_by_role("button", name="Respond", exact=True).click()
    expect(page.locator(".slip .result")).to_contain_text("Paid by hand.")
    assert "run" not in [r["decision"] for r in served.called()]


def test_a_pending_call_of_another_client_appears(visitor, served):
    page = visitor.go("/pending")
    served.workspace.call_sync("pay_invoice", {"invoice": "B-1", "euros": 1}, confidence=1.0)
    expect(page.locator(".slip")).to_contain_text("B-1")
    expect(page.get_by_role("link", name="Pending 1")).to_be_visible()


def test_a_question_of_another_processs_run_appears(visitor, served):
    page = visitor.go("/pending")
    served.workspace.run_sync("restock", {"boxes": 3}, confidence=1.0)
    expect(page.locator(".slip")).to_contain_text("Pay for 3 boxes?")


def test_a_weakened_policy_is_shown_as_a_diff_and_accepted(visitor, served):
    page = visitor.page
    served.edit(
        "tools_md/pay-invoice.tool.md", "- **Min Confidence**: 0.8", "- **Min Confidence**: 0.2"
    )
    card = page.locator(".slip", has_text="Weakened policy")
    expect(card.locator("dt")).to_have_text("Safety: Min Confidence")
    expect(card.locator(".was")).to_contain_text("0.8")
    expect(card.locator(".will")).to_contain_text("0.2")
    assert served.workspace.tools["pay_invoice"].spec.safety.min_confidence == 0.8
    card.get_by_role("button", name="Accept").click()
    expect(card).to_have_count(0)
    assert served.workspace.tools["pay_invoice"].spec.safety.min_confidence == 0.2


def test_a_run_is_shown_on_its_graph_and_resumes_after_approval(visitor, served):
    page = visitor.go("/skills/restock")
    step = page.locator("[data-step]")
    field(page, "boxes").fill("2")
    page.get_by_label("Confidence, 0 to 1").fill("1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(step.nth(0)).to_have_class(re.compile("done"))
    expect(step.nth(1)).to_have_class(re.compile("skipped"))
    expect(step.nth(2)).to_have_class(re.compile("waiting"))
    expect(step.nth(2).locator("text.state")).to_have_text("waits")
    expect(page.locator("[data-run-log] li").last).to_contain_text("Pay for 2 boxes?")
    page.locator("[data-part=result]").get_by_role("link").click()
    visitor.see()
    expect(page.locator(".slip")).to_contain_text("Pay for 2 boxes?")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".standing")).to_have_text("done")
    expect(step.nth(3)).to_have_class(re.compile("done"))
    expect(page.locator(".edge.taken")).to_have_count(3)
    page.get_by_role("button", name="Replay").click()
    expect(step.nth(3)).to_have_class(re.compile("done"))
    visitor.go("/runs")
    expect(page.locator("tbody tr")).to_contain_text("restock")


WATCH = """() => {
  window.seen = [];
  const words = () => [...document.querySelectorAll("text.state")].map((one) => one.textContent);
  new MutationObserver(() => {
    const now = words().join(" ");
    if (now !== window.seen.at(-1)) window.seen.push(now);
  }).observe(document.querySelector("[data-graph]"), {subtree: true, childList: true});
}"""


def test_steps_light_up_one_after_another_however_fast_the_run_was(browser, served):
    came = Visitor(browser, served, reduced_motion="no-preference")
    page = came.go("/skills/restock")
    page.evaluate(WATCH)
    field(page, "boxes").fill("12")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("[data-step='2'] text.state")).to_have_text("done")
    seen = page.evaluate("window.seen.map((words) => words.trim())")
    assert seen == ["runs", "done", "done runs", "done done"]
    came.context.close()


def test_a_question_without_a_call_is_answered_in_words(visitor, served):
    text = (served.folder / "skills_md/restock.skill.md").read_text(encoding="utf-8")
    plain = text.replace(
        "   - **Use**: pay_invoice\n   - **With**:\n     - invoice: A-1\n     - euros: `12.5`\n",
        "   - **Save as**: said\n",
    )
    assert plain != text
    served.write(
        "skills_md/ask-first.skill.md", plain.replace("**Name**: restock", "**Name**: ask_first")
    )
    served.workspace.reload()
    told = served.workspace.run_sync("ask_first", {"boxes": 1}, confidence=1.0)
    page = visitor.go(f"/runs/{told.run_id}")
    page.get_by_role("button", name="Respond…").click()
    page.get_by_label("Answer for the model").fill("Yes, from petty cash")
    page.get_by_role("button", name="Respond", exact=True).click()
    expect(page.locator(".standing")).to_have_text("done")
    expect(page.locator("[data-live=log]")).to_contain_text("petty cash")


def test_sensitive_values_are_hidden_in_a_runs_question(visitor, served):
    served.edit(
        "skills_md/restock.skill.md",
        "- **Description**: How many boxes",
        "- **Description**: How many boxes\n- **Sensitive**: true",
    )
    served.edit(
        "tools_md/pay-invoice.tool.md",
        "- **Description**: The invoice's number",
        "- **Description**: The number\n- **Sensitive**: true",
    )
    served.workspace.reload()
    served.workspace.run_sync("restock", {"boxes": 7}, confidence=1.0)
    page = visitor.go("/pending")
    shown = page.locator(".slip pre")
    expect(shown).to_contain_text('"invoice": "(hidden)"')
    expect(shown).to_contain_text('"euros": 12.5')
    page.get_by_role("button", name="Edit…").click()
    expect(page.locator(".field[data-key='invoice']")).to_have_count(0)
    field(page, "euros").fill("9")
    page.get_by_role("button", name="Approve with these values").click()
    expect(page.locator(".slip .outcome")).to_have_text("ok")
    assert served.called()[-1]["arguments"] == {"invoice": "(hidden)", "euros": 9}


def test_a_run_is_cancelled_on_its_page(visitor, served):
    told = served.workspace.run_sync("restock", {"boxes": 1}, confidence=1.0)
    page = visitor.go(f"/runs/{told.run_id}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".standing")).to_have_text("cancelled")
    expect(page.locator("[data-step='3'] text.state")).to_have_text("failed")
    expect(page.locator(".log-line").last).to_contain_text("was cancelled.")


def test_the_audit_is_verified_and_a_forged_record_shows(visitor, served):
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 1})
    page = visitor.go("/audit")
    expect(page.locator(".verdict")).to_have_text("1 record: all unchanged.")
    expect(page.locator("tbody tr")).to_contain_text("order_supplies")
    forge(served.workspace.settings.state / "audit")
    page = visitor.go("/audit")
    expect(page.locator(".verdict")).to_contain_text(":1: it was changed")


def test_the_audit_and_the_runs_are_updated_live(visitor, served):
    page = visitor.go("/audit")
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 1})
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("summary").click()
    served.workspace.call_sync("order_supplies", {"item": "masks", "amount": 1})
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tr", has_text="gauze").locator("pre")).to_be_visible()
    page = visitor.go("/runs")
    expect(page.get_by_text("No runs yet")).to_be_visible()
    served.workspace.run_sync("restock", {"boxes": 12})
    expect(page.locator("tbody tr")).to_contain_text("Too much gauze.")


def test_after_a_restart_the_page_asks_for_the_new_link(visitor, served):
    page = visitor.page
    visitor.context.clear_cookies()
    served.edit("tools_md/pay-invoice.tool.md", "Pay an invoice", "Pay the invoice")
    expect(page.locator("[data-feed]")).to_contain_text("open the new link")
    visitor.complaints.clear()  # The browser's own word on the answer 401.


TURN = """hidden => {
  Object.defineProperty(document, "hidden", {get: () => hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_tab_closes_its_connection(visitor, served):
    page = visitor.page
    page.evaluate(TURN, True)
    expect(page.locator("[data-feed]")).to_contain_text("paused")
    served.edit("tools_md/pay-invoice.tool.md", "Pay an invoice", "Settle an invoice")
    served.workspace.reload()
    page.evaluate(TURN, False)
    expect(page.locator("article", has_text="Settle an invoice")).to_be_visible()


def test_numbers_of_any_length_reach_the_dispatcher_unchanged(visitor, served):
    page = request(visitor)
    page.locator(".slip").get_by_role("button", name="Edit…").click()
    page.locator(".slip .field[data-key='euros'] > [data-input]").fill("999.00000000000000000001")
    page.locator(".slip").get_by_role("button", name="Approve with these values").click()
    expect(page.locator(".slip .result .outcome")).to_have_text("ok")
    page = visitor.go("/tools/order_supplies")
    field(page, "item").select_option(label="gauze")
    field(page, "amount").fill("12345678901234567890")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".result")).to_contain_text("12345678901234567890")


def forge(folder):
    for file in folder.glob("*.jsonl"):
        file.chmod(0o600)
        file.write_bytes(file.read_bytes().replace(b"gauze", b"masks"))


def test_the_console_works_with_the_keyboard(visitor, served):
    page = visitor.page
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(4):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "pay_invoice":
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/tools/pay_invoice")
    visitor.see()
    page.locator("#tab-openai").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="anthropic")).to_be_focused()
    expect(page.locator("#panel-anthropic")).to_be_visible()
    field(page, "invoice").focus()
    page.keyboard.type("K-1")
    page.keyboard.press("Tab")
    page.keyboard.type("5")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.type("1")
    page.keyboard.press("Enter")
    approve = page.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_visible()
    approve.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".slip .result .outcome")).to_have_text("ok")
    assert served.called()[-1]["arguments"] == {"invoice": "K-1", "euros": 5}


def test_a_form_keeps_its_values_when_its_file_is_saved(visitor, served):
    page = visitor.go("/tools/pay_invoice")
    field(page, "invoice").fill("half-typ")
    served.edit("tools_md/pay-invoice.tool.md", "The invoice's number", "The number on the invoice")
    expect(page.locator("form .fields")).to_contain_text("The number on the invoice")
    expect(field(page, "invoice")).to_have_value("half-typ")
    expect(field(page, "invoice")).to_be_focused()
