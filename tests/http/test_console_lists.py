"""Lists of the console in a large project: pages, filters, and what they say about the rest."""

import re
from typing import Any

import httpx
from test_api_crises import escalating

from toolmd._http.console.audit_view import SHOWN
from toolmd._http.console.confirmations import PAGE
from toolmd._http.console.pages import LISTED


def keys(page: str) -> list[str]:
    return re.findall(r'<tr data-key="([^"]+)"', page)


def link(page: str, words: str) -> str:
    found = re.search(rf'<a href="([^"]+)">{words}</a>', page)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_a_full_page_of_pending_calls_without_more_has_no_link_to_newer_ones(
    kiosk: Any, api: httpx.Client
) -> None:
    for _ in range(PAGE):
        last = kiosk.workspace.call_sync("order", {"dish": "soup"})
    page = api.get("/pending").text
    assert f"{PAGE} calls to decide." in page
    assert "Newer calls" not in page
    beyond = api.get("/pending", params={"after": last.confirmation.id}).text
    assert "No newer call is pending." in beyond
    assert link(beyond, "Oldest calls") == "/pending"


def test_runs_have_pages_and_each_says_what_it_shows(kiosk: Any, api: httpx.Client) -> None:
    assert "The stored runs of skills, the latest first." in api.get("/runs").text
    for _ in range(LISTED + 1):
        kiosk.workspace.run_sync("greet_guest", {})
    first = api.get("/runs").text
    assert f"The latest {LISTED} of the stored runs of skills." in first
    second = api.get(link(first, "Older runs")).text
    assert "1 older run of skills" in second
    assert "Older runs" not in second
    assert len({*keys(first), *keys(second)}) == LISTED + 1
    assert keys(api.get("/runs", params={"after": "gone"}).text) == keys(first)


def test_the_audit_shows_the_records_of_a_tool_a_user_or_a_decision(
    kiosk: Any, api: httpx.Client
) -> None:
    for _ in range(SHOWN + 1):
        kiosk.workspace.call_sync("echo", {"value": {}}, user="ana")
    kiosk.workspace.call_sync("order", {"dish": "soup"}, user="ben")
    first = api.get("/audit", params={"tool": "echo", "user": "ana"}).text
    assert f"{SHOWN + 2} records: all unchanged." in first
    assert f"{SHOWN} newest records that fit;" in first
    assert 'name="tool" list="names" autocomplete="off" value="echo"' in first
    second = api.get(link(first, "Older records")).text
    assert "1 older record that fits;" in second
    assert len({*keys(first), *keys(second)}) == SHOWN + 1
    assert len(keys(api.get("/audit", params={"outcome": "confirm"}).text)) == 1
    assert "No record fits" in api.get("/audit", params={"user": "nobody"}).text
    assert "can't be read" in api.get("/audit", params={"before": "gone"}).text


def test_the_crises_beyond_a_page_are_counted(kiosk: Any, api: httpx.Client) -> None:
    escalating(kiosk, "dish == 'help'")
    for number in range(LISTED + 1):
        kiosk.workspace.call_sync("order", {"dish": "help"}, conversation=f"c{number}-")
    page = api.get("/crises").text
    assert f"The oldest {LISTED} of {LISTED + 1} are listed" in page
    assert f"c{LISTED - 1}-" in page
    assert f"c{LISTED}-" not in page
