"""Hostile text stays text in files, arguments and results; only the operator has access."""

import hashlib
import re

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect
from projects import HOSTILE
from served_project import ServedProject, Visitor

from toolmd._http.console.document import rendered
from toolmd._http.console.json_text import as_html
from toolmd._http.console.visible import visible
from toolmd._types.settings import TokenSettings

HOSTILE_PYTHON = '''\
"""Answer with hostile text."""


async def hostile(text: str) -> dict[str, str]:
    return {"<script>alert(1)</script>": text, "b": "</pre><img src=x onerror=alert(2)>\\u202e"}
'''


def test_hostile_files_arguments_and_results_are_shown_as_text(visitor, served):
    page = visitor.page
    served.write("tools_md/hostile.py", HOSTILE_PYTHON)
    served.write("tools_md/hostile.tool.md", HOSTILE)
    expect(page.locator("article", has_text="hostile")).to_be_visible()
    page = visitor.go("/tools/hostile")
    document = page.locator(".document")
    expect(document).to_contain_text("<script>alert(2)</script>")
    expect(document).to_contain_text("⟨U+202E⟩txt.exe")
    page.locator("[data-fill]").click()
    value = page.locator("[data-key='text'] > [data-input]").input_value()
    assert value == "</script><script>alert(10)</script>\u202eabc"
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.locator(".slip")).to_contain_text("⟨U+202E⟩abc")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.locator(".slip .result")).to_contain_text("<img src=x onerror=alert(2)>⟨U+202E⟩")
    for path in ("/", "/pending", "/audit", "/problems", "/tools/hostile"):
        page = visitor.go(path)
        assert page.locator("main :is(script, svg[onload], b, img)").count() == 0
        assert page.locator("[href^='javascript:']").count() == 0
        assert "77077" not in page.locator("main").inner_text()


def test_hostile_names_in_a_skills_steps_are_drawn_as_text(visitor, served):
    text = (served.folder / "skills_md/restock.skill.md").read_text(encoding="utf-8")
    text = text.replace("**Order the gauze**", "**</text><script>alert(1)</script>**")
    served.write("skills_md/restock.skill.md", text)
    page = visitor.go("/skills/restock")
    expect(page.locator("[data-graph]")).to_contain_text("</text><script>alert(1)</script>")
    assert page.locator("main script").count() == 0


@given(st.text())
def test_json_of_any_text_is_escaped_and_reads_as_it_is(text):
    html = str(as_html({text: [text, 1, None]}))
    bare = re.sub(r'<span class="j-(key|text|number|word)">|</span>', "", html)
    assert "<" not in bare
    assert ">" not in bare
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", bare)


@given(st.text(alphabet="<>&\"'`*_[]()!#-\n a:/jscript.onload=\u202e", max_size=200))
def test_markdown_of_any_text_contains_no_tag_of_its_author(text):
    html = str(rendered(text))
    tags = set(re.findall(r"<\s*/?\s*([a-zA-Z!?][^\s>/]*)", html))
    allowed = {"p", "ul", "ol", "li", "h3", "h4", "h5", "h6", "em", "strong", "code", "pre", "a"}
    assert tags <= allowed | {"blockquote", "hr", "br"}
    assert not re.search(r"<[^>]*\son\w+\s*=", html)
    assert all(re.match("(?i)https?://|mailto:", url) for url in re.findall('href="([^"]*)', html))


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:1",
        "data:text/html,x",
        "//x",
        "file:///x",
        "&#106;avascript:1",
    ],
)
def test_only_addresses_of_the_web_and_of_mail_are_links(link):
    assert "<a" not in str(rendered(f"[text]({link})"))


def test_hidden_characters_are_shown_by_their_code_points():
    assert visible("a\u202eb\u200b\x1b\n\t") == "a⟨U+202E⟩b⟨U+200B⟩⟨U+001B⟩\n\t"
    assert visible("Ärger 名前 👩‍🚀") == "Ärger 名前 👩‍🚀"


def test_every_page_forbids_all_scripts_and_styles_but_the_consoles_own(served):
    with httpx.Client(
        base_url=served.url, headers={"authorization": f"Bearer {served.token}"}
    ) as http:
        for path in ("/", "/tools/pay_invoice", "/skills/restock", "/pending", "/crises", "/runs",
                     "/audit", "/problems", "/enter", "/tools/none"):  # fmt: skip
            answer = http.get(path, headers={"accept": "text/html"})
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
            assert "unsafe" not in policy
            assert not re.search(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=", answer.text)
            assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in answer.text


def test_only_the_operator_may_use_the_console(tmp_path):
    token = "t" * 40
    passed = TokenSettings(hashlib.sha256(token.encode()).hexdigest(), "somebody")
    with ServedProject(tmp_path, (passed,)) as served:
        with httpx.Client(
            base_url=served.url, headers={"authorization": f"Bearer {token}"}
        ) as http:
            assert http.get("/api/tools").status_code == 200
            for path in ("/", "/tools/pay_invoice", "/audit", "/pending"):
                refused = http.get(path)
                assert refused.status_code == 403
                assert "invoice" not in refused.text
            tried = http.post("/view/tools/order_supplies/try", json={"arguments": "{}"})
            assert tried.status_code == 403
        assert served.called() == []


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b'{"arguments": 1}', b'{"confidence": "high"}', b'{"confidence": true}']
)
def test_an_unexpected_request_to_the_console_is_rejected(served, body):
    headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}
    answer = httpx.post(
        f"{served.url}/view/tools/order_supplies/try", headers=headers, content=body
    )
    assert answer.status_code == 400
    assert served.called() == []


@pytest.mark.parametrize(
    "action", ["changes/x", "crises/clear", "pending/x", "runs/run-1/cancel", "runs/run-1/resume"]
)
def test_every_action_of_the_console_rejects_a_body_that_is_no_object(served, action):
    headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}
    answer = httpx.post(f"{served.url}/view/{action}", headers=headers, content=b"[]")
    assert answer.status_code == 400
    assert "The request is not a JSON object." in answer.text


def test_a_request_that_is_too_large_is_rejected(served):
    headers = {"authorization": f"Bearer {served.token}", "content-type": "application/json"}
    answer = httpx.post(
        f"{served.url}/view/tools/order_supplies/try",
        headers=headers,
        content=b" " * 600_000,
    )
    assert answer.status_code in (400, 413)


def test_pages_load_nothing_from_other_servers(browser, served):
    asked = []
    came = Visitor(browser, served)
    came.page.on("request", lambda request: asked.append(request.url))
    for path in ("/", "/tools/order_supplies", "/skills/restock"):
        came.go(path)
    came.context.close()
    assert asked
    assert all(url.startswith(served.url) for url in asked)
