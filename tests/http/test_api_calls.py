"""Calls of tools over HTTP."""

import json
import os
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from toolmd._http.operations import MAX_BODY

Guest = Callable[..., httpx.Client]


def call(client: httpx.Client, tool: str, arguments: Any = None, **more: Any) -> httpx.Response:
    return client.post(f"/api/tools/{tool}/call", json={"arguments": arguments or {}, **more})


def problem(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert {"type", "title", "status", "detail", "code"} <= told.keys()
    assert told["status"] == answer.status_code
    return answer.status_code, told["code"]


def test_tools_and_skills_are_listed_and_shown_whole(api: httpx.Client, kiosk: Any) -> None:
    tools, skills = api.get("/api/tools").json(), api.get("/api/skills").json()
    order = api.get("/api/tools/order").json()

    assert {tool["name"] for tool in tools} == kiosk.workspace.tools.keys()
    assert [skill["name"] for skill in skills] == ["dine", "greet_guest"]
    assert {one["kind"] for one in tools} == {"tool"}
    assert order["input_schema"]["properties"]["count"]["maximum"] == 9
    assert (order["hash"], order["stale"], order["diagnostics"]) == (
        kiosk.workspace.tools["order"].spec.hash, False, [],
    )  # fmt: skip
    assert api.get("/api/skills/greet-guest").json()["name"] == "greet_guest"
    assert problem(api.get("/api/tools/ordr")) == (404, "unknown_tool")
    assert "order" in api.get("/api/tools/ordr").json()["detail"]
    assert problem(api.get("/api/skills/order")) == (404, "unknown_skill")
    assert "toolmd call order" in api.get("/api/skills/order").json()["detail"]
    assert "toolmd run dine" in api.get("/api/tools/dine").json()["detail"]


def test_a_result_of_any_outcome_is_a_200(api: httpx.Client, kiosk: Any) -> None:
    outcomes = {
        "ok": call(api, "echo", {"value": {"a": "ü"}}, call_id="c1"),
        "denied": call(api, "order", {"count": "2"}),
        "confirm": call(api, "order", {"dish": "soup"}),
        "failed": call(api, "burn"),
        "allowed": call(api, "echo", dry_run=True),
    }

    for outcome, answer in outcomes.items():
        assert (answer.status_code, answer.json()["outcome"]) == (200, outcome)
    ok, denied = outcomes["ok"].json(), outcomes["denied"].json()
    assert (ok["data"], ok["tool_call_id"]) == ({"a": "ü"}, "c1")
    assert {fault["path"] for fault in denied["error"]["details"]} == {"dish", "count"}
    assert outcomes["confirm"].json()["confirmation"]["id"]
    assert "recipe" not in outcomes["failed"].text
    assert kiosk.orders() == []


def test_arguments_may_be_json_text_and_names_may_have_dashes(api: httpx.Client) -> None:
    answer = call(api, "echo", '{"value": {"n": 1}}')

    assert answer.json()["data"] == {"n": 1}
    assert call(api, "who-asks").status_code == 200
    assert call(api, "who_asks").json()["data"] == {"user": "op", "patient": "p-op"}


def test_a_skill_that_is_called_as_a_tool_is_a_404_that_names_run(api: httpx.Client) -> None:
    answer = call(api, "greet-guest", {})

    assert problem(answer) == (404, "unknown_tool")
    assert "is a skill: run it with `toolmd run greet_guest`" in answer.json()["detail"]


def test_a_tool_that_is_run_as_a_skill_is_a_404_that_names_call(api: httpx.Client) -> None:
    answer = api.post("/api/skills/order/run", json={})

    assert problem(answer) == (404, "unknown_skill")
    assert "is a tool: call it with `toolmd call order`" in answer.json()["detail"]


def test_an_unknown_tool_is_a_404_with_its_result(api: httpx.Client) -> None:
    answer = call(api, "ech", {"value": {}})

    assert problem(answer) == (404, "unknown_tool")
    assert answer.json()["result"]["outcome"] == "denied"
    assert "echo" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "malformed_request"),
        (b"", 400, "malformed_request"),
        (b"[]", 400, "malformed_request"),
        (b"\xff", 400, "malformed_request"),
        (b'{"arguments": {}, "arguments": {}}', 400, "malformed_request"),
        (b'{"arguments": {"value": NaN}}', 400, "malformed_request"),
        (b'{"arguments": ' + b"[" * 100_000, 400, "malformed_request"),
        (b'{"argumnets": {}}', 400, "malformed_request"),
        (b'{"user": "eve"}', 400, "malformed_request"),
        (b'{"patient": "p-eve"}', 400, "malformed_request"),
        (b'{"dry_run": "yes"}', 400, "malformed_request"),
        (b'{"confidence": 2}', 400, "malformed_request"),
        (b'{"confidence": true}', 400, "malformed_request"),
        (b'{"x": "' + b"y" * MAX_BODY + b'"}', 413, "too_large"),
        (b'{"x": ' + b"9" * 5000 + b"}", 400, "malformed_request"),
    ],
)
def test_a_body_that_does_not_fit_is_a_problem(
    api: httpx.Client, body: bytes, status: int, code: str
) -> None:
    sent = {"content-type": "application/json"}
    answer = api.post("/api/tools/echo/call", content=body, headers=sent)

    assert problem(answer) == (status, code)


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        ("tools/echo/call", [], "Input should be a JSON object"),
        (
            "tools/echo/call",
            {"args": {}},
            "args: is an unknown key; known keys: arguments, confidence, message, call_id, dry_run",
        ),
        (
            "tools/echo/call",
            {"arguments": 3},
            "arguments: Input should be an object or Input should be a valid string",
        ),
        ("handle", {}, "reply: is missing"),
    ],
)
def test_a_wrong_body_lists_the_expected_keys(
    api: httpx.Client, path: str, body: object, detail: str
) -> None:
    assert api.post(f"/api/{path}", json=body).json()["detail"] == f"The body: {detail}"


def test_a_half_of_a_character_comes_back_as_it_was_escaped(api: httpx.Client) -> None:
    sent = {"content-type": "application/json"}
    body = b'{"arguments": {"value": {"x": "\\ud800"}}}'

    answer = api.post("/api/tools/echo/call", content=body, headers=sent)

    assert answer.status_code == 200
    assert json.loads(answer.content)["outcome"] in {"ok", "denied", "failed"}


def test_an_unknown_route_is_a_problem(api: httpx.Client) -> None:
    assert problem(api.get("/api/nothing")) == (404, "no_such_route")
    assert "/openapi.json names" in api.get("/api").json()["detail"]
    assert problem(api.put("/api/tools", json={})) == (405, "method_not_allowed")
    assert problem(api.get("/api/tools/")) == (404, "no_such_route")
    assert problem(api.post("/api/tools/echo/call", data={"a": "b"})) == (
        415, "unsupported_media_type",
    )  # fmt: skip
    preflight = api.options("/api/tools/echo/call", headers={"origin": str(api.base_url)[:-1]})
    assert not [name for name in preflight.headers if name.startswith("access-control")]


def test_the_token_sets_the_user_and_the_context(guest: Guest, api: httpx.Client) -> None:
    def who(client: httpx.Client) -> Any:
        return call(client, "who_asks").json()["data"]

    # The only value that the token allows needs no header.
    for stated in ({}, {"toolmd-context-patient": "p-ana"}):
        assert who(guest("ana", **stated)) == {"user": "ana", "patient": "p-ana"}
    foreign = call(guest("ana", **{"toolmd-context-patient": "p-eve"}), "who_asks")
    assert problem(foreign) == (403, "context_not_allowed")
    with httpx.Client(base_url=api.base_url) as nobody:
        assert problem(nobody.get("/api/tools")) == (401, "unauthorized")
        assert nobody.get("/health").json()["status"] == "ok"


def test_a_conversation_is_counted_by_itself(guest: Guest) -> None:
    def taste(conversation: str) -> str:
        client = guest("ana", **{"toolmd-conversation": conversation})
        return str(call(client, "taste", {"dish": "soup"}).json()["outcome"])

    assert [taste("one") for _ in range(3)] == ["ok", "ok", "denied"]
    assert taste("two") == "ok"
    odd = call(guest("ana", **{"toolmd-conversation": "a b"}), "taste", {"dish": "soup"})
    assert problem(odd) == (400, "malformed_request")


def test_calls_run_side_by_side(kiosk: Any) -> None:
    pipes = [kiosk.folder / f"pipe-{number}" for number in range(4)]
    results: list[Any] = []

    def wait(pipe: Any) -> None:
        with kiosk.client() as client:
            results.append(call(client, "wait", {"pipe": str(pipe)}).json())

    for pipe in pipes:
        os.mkfifo(pipe)
    threads = [threading.Thread(target=wait, args=(pipe,)) for pipe in pipes]
    for thread in threads:
        thread.start()
    # Opening to write waits for the reader: all four must be at it at one time.
    writers = [pipe.open("w") for pipe in pipes]
    with kiosk.client() as client:
        assert call(client, "who_asks").json()["outcome"] == "ok"
    for writer in writers:
        writer.write("done")
        writer.close()
    for thread in threads:
        thread.join()

    assert [result["data"] for result in results] == ["done"] * 4
