"""The console lists flagged conversations, and shows what a model reads of a result."""

from collections.abc import Callable
from typing import Any

import httpx
from test_api_crises import HERE, escalating

Guest = Callable[..., httpx.Client]
HELP = {"arguments": {"dish": "help"}}


def test_an_operator_clears_a_crisis_in_the_console(
    kiosk: Any, guest: Guest, api: httpx.Client
) -> None:
    assert "No conversation has a crisis flag." in api.get("/crises").text
    assert "badge" not in api.get("/").text
    escalating(kiosk, "dish == 'help'")
    ana = guest("ana")
    ana.post("/api/tools/order/call", json=HELP, headers=HERE)

    page = api.get("/crises").text
    assert "<code>c1</code>" in page
    assert '<td dir="auto">ana</td>' in page
    assert 'Crises <span class="badge is-danger">1</span>' in api.get("/").text

    clear = {"conversation": "c1", "user": "ana"}
    assert ana.get("/crises").status_code == 403
    assert ana.post("/view/crises/clear", json=clear).status_code == 403
    assert api.post("/view/crises/clear", json={"conversation": "c1"}).status_code == 409
    foreign = {"origin": "https://elsewhere.example"}
    assert api.post("/view/crises/clear", json=clear, headers=foreign).status_code == 403
    assert "c1: the crisis flag is cleared." in api.post("/view/crises/clear", json=clear).text
    assert "No conversation has a crisis flag." in api.get("/crises").text


def test_a_tried_call_shows_what_a_model_reads_and_what_is_kept(
    kiosk: Any, api: httpx.Client
) -> None:
    whole = {"arguments": '{"value": {"name": "stew", "text": "plain"}}', "user": "ana"}
    assert "A model reads" not in api.post("/view/tools/echo/try", json=whole).text
    definition = kiosk.folder / "tools_md" / "echo.tool.md"
    text = definition.read_text("utf-8")
    definition.write_text(text + "- **To Model**: name\n", "utf-8")
    kiosk.workspace.reload()

    shown = api.post("/view/tools/echo/try", json=whole).text

    (kept,) = kiosk.workspace.results.handles(user="ana")
    assert "A model reads" in shown
    assert "of at most 32,768 bytes" in shown
    assert "30 bytes until" in shown
    assert f"<code>{kept.handle}</code>" in shown
    assert kiosk.workspace.results.read_sync(kept.handle, user="ana")["text"] == "plain"


def test_pending_calls_have_pages_in_the_console(api: httpx.Client) -> None:
    made = [
        api.post("/api/tools/order/call", json={"arguments": {"dish": "soup"}}).json()
        for _ in range(51)
    ]
    ids = [one["confirmation"]["id"] for one in made]

    first = api.get("/pending").text
    second = api.get("/pending", params={"after": ids[49]}).text

    assert 'Pending <span class="badge is-guard">50+</span>' in first
    assert [one in first for one in ids] == [True] * 50 + [False]
    assert f'href="/pending?after={ids[49]}"' in first
    assert [one for one in ids if one in second] == [ids[50]]
    assert ids[0] in api.get("/pending", params={"after": "gone"}).text
