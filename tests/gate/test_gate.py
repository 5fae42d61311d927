"""The gate answers only the right Host, Origin, token and content."""

import asyncio
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmark._gate import CALLER, Addresses, Gate, Tokens
from toolmark._model.call import Caller
from toolmark._model.settings import TokenSettings

TOKEN = "a-token-of-this-start"
OF_ANA = "the-token-of-ana-which-is-long"
GOOD = {"host": "127.0.0.1:8787", "authorization": f"Bearer {TOKEN}"}
ADDRESSES = Addresses.of("127.0.0.1", 8787)


def ask(
    headers: dict[str, str] | list[tuple[str, str]],
    *,
    method: str = "GET",
    own: str | None = TOKEN,
    addresses: Addresses = ADDRESSES,
    kind: str = "http",
) -> tuple[int, Any]:
    """Give the status, and the caller that came in or the problem that was told."""
    known = [TokenSettings(hashlib.sha256(OF_ANA.encode()).hexdigest(), "ana", ("p1", "p2"))]
    inside: list[Any] = []
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        inside.append(scope["state"][CALLER])

    async def send(message: Any) -> None:
        sent.append(message)

    tokens = Tokens(known, own=own, caller=Caller("op", "p9"))
    pairs = headers.items() if isinstance(headers, dict) else headers
    scope = {
        "type": kind,
        "method": method,
        "path": "/mcp",
        "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in pairs],
    }
    asyncio.run(Gate(app, addresses=addresses, tokens=tokens)(scope, None, send))  # type: ignore[arg-type]
    if inside:
        return 200, inside[0]
    if sent[0]["type"] == "websocket.close":
        return 0, sent[0]
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_the_token_of_the_start_is_who_started_it() -> None:
    assert ask(GOOD) == (200, Caller("op", "p9"))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8787.evil.example", "localhost:1",
     "user@127.0.0.1:8787", "127.0.0.1:8787@evil.example", "[::1]:8787", "", "0x7f000001:8787"],
)  # fmt: skip
def test_a_foreign_host_is_not_answered(host: str) -> None:
    assert ask({**GOOD, "host": host})[0] == 421


def test_a_request_without_a_host_is_not_answered() -> None:
    assert ask({"authorization": f"Bearer {TOKEN}"})[0] == 421


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "https://127.0.0.1:8787", "http://127.0.0.1",
     "http://127.0.0.1:87870", "http://127.0.0.1:8787/", "http://127.0.0.1:8787.evil.example",
     "file://", ""],
)  # fmt: skip
def test_a_foreign_origin_is_not_answered(origin: str) -> None:
    assert ask({**GOOD, "origin": origin})[0] == 403


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_no_host_or_origin_but_the_exact_ones_comes_in(text: str) -> None:
    if text.lower() not in ADDRESSES.hosts:
        assert ask({**GOOD, "host": text})[0] == 421
    if text.lower() not in ADDRESSES.origins:
        assert ask({**GOOD, "origin": text})[0] == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8787", "http://LOCALHOST:8787"])
def test_its_own_pages_may_ask(origin: str) -> None:
    assert ask({**GOOD, "origin": origin})[0] == 200


def test_a_proxy_may_stand_before_it_where_its_name_is_allowed() -> None:
    addresses = Addresses.of("127.0.0.1", 8787, ["Tools.example.org"])
    headers = {**GOOD, "host": "tools.example.org", "origin": "https://tools.example.org"}

    assert ask(headers, addresses=addresses)[0] == 200
    assert ask({**headers, "host": "x.tools.example.org"}, addresses=addresses)[0] == 421


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer wrong", TOKEN]
)
def test_without_the_token_nothing_is_answered(authorization: str | None) -> None:
    headers = {"host": GOOD["host"]}
    if authorization is not None:
        headers["authorization"] = authorization

    assert ask(headers)[0] == 401


def test_no_token_opens_where_none_is_known() -> None:
    assert ask(GOOD, own=None)[0] == 401


def test_a_token_names_its_user_and_no_patient_by_itself() -> None:
    assert ask({**GOOD, "authorization": f"bearer {OF_ANA}"}) == (200, Caller("ana", None))


def test_a_request_names_a_patient_only_where_its_token_allows_that_one() -> None:
    headers = {**GOOD, "authorization": f"Bearer {OF_ANA}"}

    assert ask({**headers, "toolmark-patient": "p2"}) == (200, Caller("ana", "p2"))
    assert ask({**headers, "toolmark-patient": "p9"})[0] == 403
    assert ask({**headers, "toolmark-patient": ""})[0] == 403
    assert ask({**GOOD, "toolmark-patient": "p1"})[0] == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_only_json_is_taken(kind: str) -> None:
    assert ask({**GOOD, "content-type": kind}, method="POST")[0] == 415
    json_ = {**GOOD, "content-type": "application/json; charset=utf-8"}
    assert ask(json_, method="POST")[0] == 200


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Toolmark-Patient"])
def test_a_header_that_stands_twice_is_refused(name: str) -> None:
    pairs = [*GOOD.items(), (name, "http://127.0.0.1:8787"), (name.lower(), "x")]

    assert ask(pairs)[0] == 400


def test_a_websocket_is_closed() -> None:
    assert ask(GOOD, kind="websocket") == (0, {"type": "websocket.close", "code": 1008})


def test_a_refusal_is_a_problem_document() -> None:
    status, problem = ask({**GOOD, "host": "evil.example"})

    assert problem["status"] == status
    assert set(problem) == {"type", "title", "status", "detail", "code"}
