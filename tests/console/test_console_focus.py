"""The focus, and what a person types, in a real browser: after an action and after an update."""

import re

import pytest
from playwright.sync_api import expect


def ask(served, invoice):
    """Make a call that waits for a person; return its id."""
    called = served.workspace.call_sync(
        "pay_invoice", {"invoice": invoice, "euros": 1}, confidence=1.0
    )
    return called.confirmation.id


def test_after_a_decision_the_result_stays_in_its_place_and_has_the_focus(visitor, served):
    for invoice in ("A-1", "A-2", "A-3"):
        ask(served, invoice)
    page = visitor.go("/pending")
    page.get_by_role("button", name="Approve", exact=True).first.press("Enter")
    expect(page.get_by_text("2 calls to decide.")).to_be_visible()
    first = page.locator(".slip").first
    expect(first).to_contain_text("A-1")
    expect(first.locator("[data-message]")).to_be_focused()
    expect(first.locator(".outcome")).to_have_text("ok")


def test_an_update_keeps_the_focus_on_the_same_link(visitor, served):
    page = visitor.go("/runs")
    link = page.get_by_role("link", name="Pending")
    link.focus()
    ask(served, "A-1")
    expect(page.get_by_role("link", name="Pending 1")).to_be_focused()


def test_an_update_keeps_the_focus_on_a_button_below_a_call_that_is_gone(visitor, served):
    first, _ = ask(served, "A-1"), ask(served, "A-2")
    page = visitor.go("/pending")
    reject = page.locator(".slip", has_text="A-2").get_by_role("button", name="Reject")
    reject.focus()
    served.workspace.confirmations.reject_sync(first)
    expect(page.locator(".slip")).to_have_count(1)
    expect(reject).to_be_focused()


def test_an_answer_that_is_being_typed_survives_a_changed_tool_and_a_decision(visitor, served):
    pending = ask(served, "A-1")
    page = visitor.go("/pending")
    page.get_by_role("button", name="Respond…").press("Enter")
    page.keyboard.type("Paid by")
    served.edit("tools_md/pay-invoice.tool.md", "The invoice's number", "The number")
    served.workspace.reload()
    served.workspace.confirmations.reject_sync(pending)
    expect(page.get_by_text("No call is pending.")).to_be_visible()
    expect(page.locator(".slip")).to_contain_text("not pending any more")
    page.keyboard.type(" hand")
    expect(page.get_by_label("Answer for the model")).to_have_value("Paid by hand")


def test_escape_closes_a_drawer_and_returns_to_its_button(visitor, served):
    ask(served, "A-1")
    page = visitor.go("/pending")
    edit = page.get_by_role("button", name="Edit…")
    edit.press("Space")
    expect(page.locator(".drawer input").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(edit).to_be_focused()
    expect(edit).to_have_attribute("aria-expanded", "false")
    expect(page.locator(".drawer").first).to_be_hidden()


def test_the_audit_is_filtered_with_the_keyboard_and_an_update_keeps_the_filter(visitor, served):
    order, pay = {"item": "gauze", "amount": 1}, {"invoice": "A-1", "euros": 1}
    served.workspace.call_sync("order_supplies", order)
    served.workspace.call_sync("pay_invoice", pay, confidence=1.0)
    page = visitor.go("/audit")
    tool = page.get_by_label("Tool or skill")
    tool.press_sequentially("order_supplies")
    tool.press("Enter")
    page.wait_for_url("**/audit?tool=order_supplies&*")
    rows = visitor.see().locator("tbody tr")
    expect(rows).to_have_count(1)
    tool.fill("pay_inv")
    served.workspace.call_sync("order_supplies", order)
    expect(rows).to_have_count(2)
    expect(tool).to_have_value("pay_inv")
    expect(tool).to_be_focused()


def test_typing_goes_on_in_the_same_field_when_a_parameter_is_written_above_it(visitor, served):
    page = visitor.go("/tools/order_supplies")
    page.get_by_role("button", name="Add an item to rooms").press("Enter")
    page.get_by_role("button", name="Add an item to doors").press("Enter")
    page.keyboard.type("12")
    added = "### ward\n\n- **Type**: string\n- **Description**: The ward\n\n### item\n"
    served.edit("tools_md/order-supplies.tool.md", "### item\n", added)
    expect(page.locator("form .fields").first).to_contain_text("The ward")
    page.keyboard.type("b")
    page.get_by_role("button", name="Write JSON").press("Enter")
    expect(page.get_by_label("All arguments as JSON")).to_have_value(re.compile('"12b"'))


COUNT = """() => {
  window.announced = 0;
  const counter = new MutationObserver(() => (window.announced += 1));
  counter.observe(document.getElementById("announcer"), {childList: true});
}"""


def test_many_updates_are_shown_and_announced_once(visitor, served):
    page = visitor.go("/audit")
    page.evaluate(COUNT)
    for number in (1, 2, 3):
        served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 1})
        expect(page.locator("tbody tr")).to_have_count(number)
    assert page.evaluate("window.announced") < 3


@pytest.mark.parametrize(
    ("path", "button", "place"),
    [("/runs/{}", "Cancel", "#steered"), ("/tools/order_supplies", "Run them", None)],
)
def test_a_button_keeps_the_focus_or_its_result_has_it(visitor, served, path, button, place):
    run = served.workspace.run_sync("restock", {"boxes": 1}, confidence=1.0)
    page = visitor.go(path.format(run.run_id))
    pressed = page.get_by_role("button", name=button)
    pressed.press("Enter")
    expect(pressed if place is None else page.locator(place)).to_be_focused()
