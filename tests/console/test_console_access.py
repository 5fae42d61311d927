"""Accessibility: axe finds nothing on any page, light and dark, wide and narrow."""

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from projects import HOSTILE, ORDER
from served_project import Visitor

RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "dark": ["color-contrast", "scrollable-region-focusable", "target-size"],
}
"""All of them, and for the second look those that go by how a page looks."""


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes by npm, which is not here")
    folder: Path = tmp_path_factory.mktemp("axe")
    command = [npm, "pack", "axe-core@4", "--silent", f"--pack-destination={folder}"]
    try:
        packed = subprocess.run(command, cwd=folder, capture_output=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("the npm registry gave no axe-core within 30 s")
    found = list(folder.glob("axe-core-*.tgz"))
    if packed.returncode or not found:
        pytest.skip("the npm registry gives no axe-core")
    with tarfile.open(found[0]) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


def violations(page, axe, scheme):
    page.evaluate(axe)
    options = {"runOnly": RULES[scheme], "resultTypes": ["violations"], "preload": False}
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [(v["id"], [(n["target"], n["failureSummary"]) for n in v["nodes"][:3]]) for v in found]


def furnish(served):
    """Produce every state that a page may show."""
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 1})
    served.workspace.call_sync("order_supplies", {"item": "gauze", "amount": 99})
    served.workspace.call_sync("pay_invoice", {"invoice": "B-1", "euros": 1}, confidence=1.0)
    heard = {"conversation": "a-visit-with-a-long-name-0123456789", "user": "ana"}
    served.workspace.crises.heard_sync("I want to give up", **heard)
    ran = served.workspace.run_sync("restock", {"boxes": 1}, confidence=1.0)
    served.edit("tools_md/pay-invoice.tool.md", "- **Sensitivity**: high", "- **Sensitivity**: low")
    served.write("tools_md/hostile.tool.md", HOSTILE)
    served.edit("tools_md/order-supplies.tool.md", "- **Format**: date", "- **Fromat**: dat")
    served.workspace.reload()
    return ran.run_id


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(browser, served, axe, scheme):
    run_id = furnish(served)
    width = {"light": 1280, "dark": 420}[scheme]
    came = Visitor(browser, served, color_scheme=scheme, viewport={"width": width, "height": 900})
    paths = ["/", "/tools/order_supplies", "/skills/restock", "/pending", f"/runs/{run_id}",
             "/audit", "/crises"]  # fmt: skip
    # Each page once; the long words of the hostile one where there is least room for them.
    paths += {
        "light": ["/tools/pay_invoice", "/runs", "/problems", "/tools/none", "/enter"],
        "dark": ["/tools/hostile"],
    }[scheme]
    found = {}
    for path in paths:
        page = came.page
        page.goto(served.url + path)
        page.wait_for_selector("main h1")
        unfold(page)
        found[path] = violations(page, axe, scheme)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    assert {path: told for path, told in found.items() if told} == {}
    came.context.close()


def unfold(page):
    """Open every drawer, fill a form and submit it."""
    for opener in page.locator(".slip button[aria-expanded], form.try .field button").all():
        opener.click()
    fills = page.locator(".fill button")
    if fills.count():
        fills.first.click()
        page.get_by_role("button", name="Call", exact=True).click()
        page.wait_for_selector(".outcome-place .result")
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")


def test_a_phone_shows_every_page_without_scrolling_sideways(browser, served):
    furnish(served)
    long = "a_name_without_any_place_where_a_line_could_end_of_sixty_letters"
    text = ORDER.replace("order_supplies", long)
    text = text.replace("### item", f"### {long}").replace("What to order", "W" * 300)
    served.write("tools_md/long.tool.md", text)
    served.workspace.reload()
    came = Visitor(browser, served, viewport={"width": 375, "height": 740})
    ends_of = {
        "/": "nav a",
        f"/tools/{long}": ".field-note",
        "/crises": "td code",
        "/runs": "td:last-child",
        "/audit": "td:last-child",
    }
    for path, what in ends_of.items():
        page = came.go(path)
        page.wait_for_selector(what, state="attached")
        ends = page.evaluate(
            "what => [...document.querySelectorAll(what)]"
            ".map(one => one.getBoundingClientRect().right)",
            what,
        )
        assert max(ends) <= 375, path
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, path
    came.context.close()


def test_dark_is_dark_and_light_is_light(browser, served):
    shades = {}
    for scheme in ("light", "dark"):
        came = Visitor(browser, served, color_scheme=scheme)
        colour = came.page.evaluate("getComputedStyle(document.body).backgroundColor")
        shades[scheme] = sum(int(part) for part in colour[4:-1].split(","))
        came.context.close()
    assert shades["light"] > 700
    assert shades["dark"] < 100


def test_reduced_motion_is_respected(browser, served):
    came = Visitor(browser, served)
    page = came.go("/skills/restock")
    moves = "d => getComputedStyle(d).animationName !== 'none'"
    assert not page.evaluate(f"[...document.querySelectorAll('.disc')].some({moves})")
    came.context.close()
