"""Hostile text stays text in files, arguments and results; the API decides who sees what."""

import hashlib
import re
from importlib.resources import files

import httpx
from playwright.sync_api import expect
from projects import HOSTILE
from served_project import ServedProject, Visitor

from toolmd._types.settings import TokenSettings

HOSTILE_PYTHON = '''\
"""Answer with hostile text."""


async def hostile(text: str) -> dict[str, str]:
    return {"<script>alert(1)</script>": text, "b": "</pre><img src=x onerror=alert(2)>\\u202e"}
'''


def test_hostile_files_arguments_and_results_are_shown_as_text(visitor, served):
    served.write("tools_md/hostile.py", HOSTILE_PYTHON)
    served.write("tools_md/hostile.tool.md", HOSTILE)
    served.workspace.reload()
    page = visitor.go("/tools/hostile")
    document = page.locator(".source-text")
    expect(document).to_contain_text("<script>alert(2)</script>")
    expect(document).to_contain_text("<U+202E>txt.exe")
    page.locator(".fill button").click()
    value = page.locator("[data-key='text'] > input").input_value()
    assert value == "</script><script>alert(10)</script>\u202eabc"
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".slip .json").first).to_contain_text("<U+202E>abc")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".slip .result")).to_contain_text("<img src=x onerror=alert(2)><U+202E>")
    for path in ("/", "/pending", "/audit", "/problems", "/tools/hostile"):
        page = visitor.go(path)
        expect(page.locator("main h1")).to_be_visible()
        assert page.locator("main :is(script, svg[onload], img)").count() == 0
        assert page.locator("[href^='javascript:']").count() == 0


def test_hostile_names_in_a_skills_steps_are_drawn_as_text(visitor, served):
    text = (served.folder / "skills_md/restock.skill.md").read_text(encoding="utf-8")
    text = text.replace("**Order the gauze**", "**</text><script>alert(1)</script>**")
    served.write("skills_md/restock.skill.md", text)
    served.workspace.reload()
    page = visitor.go("/skills/restock")
    expect(page.locator(".drawing")).to_contain_text("</text><script>alert(1)</script>")
    assert page.locator("main script").count() == 0


def test_no_script_of_the_console_reads_text_as_html():
    assets = files("toolmd._http.console").joinpath("assets")
    scripts = [one.read_text("utf-8") for one in assets.iterdir() if one.name.endswith(".js")]
    assert len(scripts) > 3
    for script in scripts:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script
        )


def test_every_page_forbids_all_scripts_and_styles_but_the_consoles_own(served):
    headers = {"authorization": f"Bearer {served.token}", "accept": "text/html"}
    with httpx.Client(base_url=served.url, headers=headers) as http:
        for path in ("/", "/tools/pay_invoice", "/runs", "/audit", "/problems", "/enter"):
            answer = http.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
            assert "unsafe" not in policy
            assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", answer.text)
            assert "://" not in answer.text


def test_only_the_operator_may_use_the_console(browser, tmp_path):
    token = "t" * 40
    passed = TokenSettings(hashlib.sha256(token.encode()).hexdigest(), "somebody")
    with ServedProject(tmp_path, (passed,)) as served:
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=served.url, headers=headers) as http:
            assert http.get("/api/tools").status_code == 200
            assert "invoice" not in http.get("/tools/pay_invoice").text
            assert "text" not in http.get("/api/tools/pay_invoice").json()
            acting = {"toolmd-user": "ana"}
            refused = http.post("/api/tools/order_supplies/call", json={}, headers=acting)
            assert refused.status_code == 403
        page = browser.new_page()
        page.goto(f"{served.url}/enter#token={token}")
        expect(page.locator("main")).to_contain_text("This needs a token that may operate")
        page.context.close()
        assert served.called() == []


def test_a_request_for_another_user_only_calls(served):
    headers = {"authorization": f"Bearer {served.token}", "toolmd-user": "ana"}
    with httpx.Client(base_url=served.url, headers=headers) as http:
        given = {"arguments": {"invoice": "A", "euros": 1}, "confidence": 1}
        held = http.post("/api/tools/pay_invoice/call", json=given).json()
        decided = http.post(
            f"/api/pending/{held['confirmation']['id']}", json={"decision": "approve"}
        )
        assert decided.status_code == 403
        assert http.get("/api/audit").status_code == 403


def test_pages_load_nothing_from_other_servers(browser, served):
    requests = []
    came = Visitor(browser, served)
    came.page.on("request", lambda request: requests.append(request.url))
    for path in ("/", "/tools/order_supplies", "/skills/restock"):
        came.go(path)
    came.context.close()
    assert requests
    assert all(url.startswith(served.url) for url in requests)
