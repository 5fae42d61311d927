"""Replies and decisions over HTTP."""

import hashlib
import threading
from collections.abc import Callable
from typing import Any

import httpx
from kiosk import GUESTS
from test_api_calls import call, problem

from toolmd._types.settings import ActAsSettings, TokenSettings

Guest = Callable[..., httpx.Client]
REPLY = 'Of course. [TOOL_CALL:{"tool": "order", "parameters": {"dish": "soup"}}] Just a moment.'


def decide(client: httpx.Client, held: str, decision: str, **more: Any) -> httpx.Response:
    return client.post(f"/api/pending/{held}", json={"decision": decision, **more})


def pending_by(client: httpx.Client, **arguments: Any) -> str:
    result = call(client, "order", {"dish": "soup", **arguments}).json()
    return str(result["confirmation"]["id"])


def test_a_reply_is_handled_whole(api: httpx.Client, kiosk: Any) -> None:
    turn = api.post("/api/handle", json={"reply": REPLY, "dialect": "inline"}).json()

    assert turn["clean_message"].split() == "Of course. Just a moment.".split()
    assert [result["outcome"] for result in turn["results"]] == ["confirm"]
    (held,) = turn["pending"]
    assert api.get("/api/pending").json()[0]["id"] == held["id"]
    assert decide(api, held["id"], "approve").json()["outcome"] == "ok"
    assert kiosk.orders() == [{"dish": "soup", "count": 1}]


def test_a_reply_may_be_a_providers_message(api: httpx.Client) -> None:
    reply = {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function",
             "function": {"name": "who_asks", "arguments": "{}"}},
        ],
    }  # fmt: skip

    turn = api.post("/api/handle", json={"reply": reply, "message": "hi"}).json()

    assert (turn["dialect"], turn["messages"][0]["tool_call_id"]) == ("openai", "c1")
    unread = api.post("/api/handle", json={"reply": "[TOOL_CALL:{", "dialect": "inline"})
    assert unread.json()["results"][0]["error"]["code"] == "malformed_call"
    assert problem(api.post("/api/handle", json={"reply": "x", "dialect": "klingon"})) == (
        404, "unknown_dialect",
    )  # fmt: skip
    assert problem(api.post("/api/handle", json={"message": "x"})) == (400, "malformed_request")


def test_a_decision_with_the_key_of_another_decides_nothing(api: httpx.Client, kiosk: Any) -> None:
    held = pending_by(api)

    for decision in ("approve", "confirm", "reject", "respond"):
        assert problem(decide(api, held, decision, edit={"count": 3})) == (400, "malformed_request")
    for decision in ("approve", "confirm", "reject", "edit"):
        assert problem(decide(api, held, decision, text="Eaten.")) == (400, "malformed_request")
    assert decide(api, held, "approve").json()["outcome"] == "ok"
    assert kiosk.orders() == [{"dish": "soup", "count": 1}]


def test_pending_calls_are_listed_in_pages_the_oldest_first(api: httpx.Client) -> None:
    ids = [pending_by(api, dish=dish) for dish in ("soup", "stew", "cake")]

    def page(**query: Any) -> list[str]:
        return [one["id"] for one in api.get("/api/pending", params=query).json()]

    assert page() == ids
    assert page(limit=2) == ids[:2]
    assert page(limit=2, after=ids[1]) == ids[2:]
    assert problem(api.get("/api/pending", params={"after": "gone"})) == (
        404, "confirmation_not_found",
    )  # fmt: skip
    assert problem(api.get("/api/pending", params={"limit": 0})) == (400, "malformed_request")


def test_each_decision_has_its_effect(api: httpx.Client, kiosk: Any) -> None:
    approved = decide(api, pending_by(api), "confirm").json()
    edited = decide(api, pending_by(api), "edit", edit={"count": 3}).json()
    rejected = decide(api, pending_by(api), "reject").json()
    told = decide(api, pending_by(api), "respond", text="We are closed.").json()

    assert (approved["outcome"], edited["data"]["count"]) == ("ok", 3)
    assert (rejected["outcome"], rejected["error"]["code"]) == ("denied", "rejected")
    assert (told["outcome"], "closed" in str(told)) == ("ok", True)
    assert [order["count"] for order in kiosk.orders()] == [1, 3]
    assert api.get("/api/pending").json() == []


def test_an_edit_is_checked_again(api: httpx.Client, kiosk: Any) -> None:
    held = pending_by(api)

    refused = decide(api, held, "edit", edit={"count": 10}).json()

    assert refused["error"]["code"] == "invalid_arguments"
    assert kiosk.orders() == []


def test_an_invalid_decision_is_a_problem(api: httpx.Client) -> None:
    held = pending_by(api)

    assert problem(decide(api, held, "maybe")) == (400, "malformed_request")
    assert problem(decide(api, held, "edit")) == (400, "malformed_request")
    assert problem(decide(api, held, "respond")) == (400, "malformed_request")
    assert problem(decide(api, "nothing", "approve")) == (404, "confirmation_not_found")
    assert problem(decide(api, "no/such:key", "approve"))[0] == 404
    assert decide(api, held, "reject").status_code == 200
    again = decide(api, held, "approve")
    assert (again.status_code, again.json()["error"]["code"]) == (200, "confirmation_used")


def test_racing_approvals_run_it_once(kiosk: Any, api: httpx.Client) -> None:
    held = pending_by(api)
    answers: list[str] = []

    def approve() -> None:
        with kiosk.client() as client:
            answers.append(decide(client, held, "approve").json()["outcome"])

    threads = [threading.Thread(target=approve) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == ["denied"] * 15 + ["ok"]
    assert len(kiosk.orders()) == 1


def test_a_guest_sees_and_decides_their_own_alone(guest: Guest, api: httpx.Client) -> None:
    ana, eve = guest("ana"), guest("eve")
    held = pending_by(ana)

    assert [one["id"] for one in ana.get("/api/pending").json()] == [held]
    assert eve.get("/api/pending").json() == []
    assert problem(decide(eve, held, "approve")) == (404, "confirmation_not_found")
    assert [one["user"] for one in api.get("/api/pending").json()] == ["ana"]
    assert decide(api, held, "reject").json()["error"]["code"] == "rejected"


def test_only_the_operator_decides_a_review(kiosk: Any, guest: Guest) -> None:
    definition = kiosk.folder / "tools_md" / "order.tool.md"
    text = definition.read_text("utf-8")
    definition.write_text(text.replace("## Safety\n", "## Safety\n\n- **Crisis When**: true\n", 1))
    kiosk.workspace.reload()
    ana, eve = guest("ana"), guest("eve")
    held = pending_by(ana)

    for decision, more in (("approve", {}), ("respond", {"text": "Looked at."})):
        assert problem(decide(eve, held, decision, **more)) == (404, "confirmation_not_found")
        told = decide(ana, held, decision, **more).json()
        assert (told["outcome"], told["error"]["code"]) == ("denied", "review_required")
    assert kiosk.orders() == []
    with kiosk.client() as operator:
        assert decide(operator, held, "approve").json()["outcome"] == "confirm"
    assert kiosk.orders() == []
    assert decide(ana, held, "approve").json()["outcome"] == "ok"


def test_a_guest_may_not_use_the_operators_routes(guest: Guest) -> None:
    for path in ("/api/diagnostics", "/api/changes", "/api/audit", "/api/audit/verify"):
        assert problem(guest("ana").get(path)) == (403, "not_permitted")
    accept = guest("ana").post("/api/changes/order/accept", json={})
    assert problem(accept) == (403, "not_permitted")


def test_the_record_names_the_backend_and_the_user_for_whom_it_acts(kiosk: Any) -> None:
    token = "the-token-of-the-till-which-is-long"
    till = TokenSettings(
        hashlib.sha256(token.encode()).hexdigest(), "till", ("call", "decide", "act_as"), {},
        act_as=ActAsSettings(roles=("guest",), context=("patient",)),
    )  # fmt: skip
    kiosk.known.append(till)
    (kiosk.folder / "tools_md" / "tip.tool.md").write_text(TIP, encoding="utf-8")
    (kiosk.folder / "tools_md" / "tip.py").write_text("async def tip():\n    return {}\n")
    kiosk.workspace.reload()
    with kiosk.client(token, **{"toolmd-user": "ana"}) as by_till, kiosk.client() as operator:
        with kiosk.client(GUESTS["ana"]) as ana:
            assert call(ana, "tip", {}).json()["error"]["code"] == "not_allowed"
        held = call(by_till, "tip", {}).json()["confirmation"]["id"]
        turn = by_till.post("/api/handle", json={"reply": '[TOOL_CALL:{"tool": "tip"}]'}).json()
        assert decide(by_till, held, "approve").json()["outcome"] == "ok"
        ran, asked, again, denied = operator.get("/api/audit", params={"limit": 4}).json()

    assert [one["outcome"] for one in turn["results"]] == ["confirm"]
    for one in (asked, again):
        assert (one["decision"], one["user"], one["via"]) == ("confirm", "ana", "till")
    assert (ran["user"], ran["via"], ran["by"], ran["by_via"]) == ("ana", "till", "ana", "till")
    assert (denied["decision"], denied["user"], "via" in denied) == ("deny", "ana", False)


TIP = """\
# Tip

Tip the kitchen.

## Metadata

- **Name**: tip
- **Version**: 1.0.0
- **Category**: orders

## Parameters

None

## Rules

- `caller.via == "till"`: Tips come from the till.

## Safety

- **Requires Confirmation**: true

## Returns

- **Type**: object
- **Description**: Nothing
"""
