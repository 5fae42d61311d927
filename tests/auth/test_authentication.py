"""Only requests with the right Host, Origin, token and content type pass."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests_to_app import ADDRESSES, GOOD, OF_ANA, OF_THE_BACKEND, TOKEN, knock

from toolmd._auth import ALL_RIGHTS, CALLER, RIGHTS, Addresses
from toolmd._auth.authentication import SAFE
from toolmd._types.call import Caller

OF_ANA_ = {**GOOD, "authorization": f"Bearer {OF_ANA}"}


def test_the_printed_token_is_the_operators() -> None:
    came = knock(GOOD).inside[0]

    assert came["state"] == {CALLER: Caller("op", {"patient": "p9"}), RIGHTS: {*ALL_RIGHTS}}


def test_the_state_of_a_request_is_kept_next_to_the_caller() -> None:
    came = knock(GOOD, scope={"state": {"pool": 1}}).inside[0]

    assert came["state"] == {
        "pool": 1,
        "toolmd.caller": Caller("op", {"patient": "p9"}),
        "toolmd.rights": {*ALL_RIGHTS},
    }


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8787.evil.example", "localhost:1",
     "user@127.0.0.1:8787", "127.0.0.1:8787@evil.example", "[::1]:8787", "", "0x7f000001:8787"],
)  # fmt: skip
def test_a_foreign_host_is_denied(host: str) -> None:
    assert knock({**GOOD, "host": host}).status == 421


def test_a_request_without_a_host_is_denied() -> None:
    assert knock({"authorization": f"Bearer {TOKEN}"}).status == 421


@pytest.mark.parametrize(
    "origin",
    ["null", "http://evil.example", "https://127.0.0.1:8787", "http://127.0.0.1",
     "http://127.0.0.1:87870", "http://127.0.0.1:8787/", "http://127.0.0.1:8787.evil.example",
     "file://", ""],
)  # fmt: skip
def test_a_foreign_origin_is_denied(origin: str) -> None:
    assert knock({**GOOD, "origin": origin}).status == 403


@given(st.text(st.characters(max_codepoint=255), max_size=40))
def test_only_exact_hosts_and_origins_pass(text: str) -> None:
    if text.lower() not in ADDRESSES.hosts:
        assert knock({**GOOD, "host": text}).status == 421
    if text.lower() not in ADDRESSES.origins:
        assert knock({**GOOD, "origin": text}).status == 403


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8787", "http://LOCALHOST:8787"])
def test_its_own_pages_may_send_requests(origin: str) -> None:
    assert knock({**GOOD, "origin": origin}).status == 200


def test_the_allowed_name_of_a_proxy_passes() -> None:
    addresses = Addresses.of("127.0.0.1", 8787, ["Tools.example.org"])
    headers = {**GOOD, "host": "tools.example.org", "origin": "https://tools.example.org"}

    assert knock(headers, addresses=addresses).status == 200
    assert knock({**headers, "host": "x.tools.example.org"}, addresses=addresses).status == 421


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Basic YTpi", "Bearer wrong", TOKEN, f"Secret {TOKEN}"],
)
def test_a_request_without_the_token_is_denied(authorization: str | None) -> None:
    headers = {"host": GOOD["host"]}
    if authorization is not None:
        headers["authorization"] = authorization

    assert knock(headers).status == 401


def test_every_token_is_denied_if_none_is_known() -> None:
    assert knock(GOOD, own=None).status == 401


def test_an_open_path_needs_the_right_host_but_no_token() -> None:
    host = {"host": GOOD["host"]}

    assert "state" not in knock(host, scope={"path": "/enter"}, open_paths=["/enter"]).inside[0]
    assert knock(host, scope={"path": "/enter/"}, open_paths=["/enter"]).status == 401
    elsewhere = knock({"host": "evil"}, scope={"path": "/enter"}, open_paths=["/enter"])
    assert elsewhere.status == 421


def test_a_token_sets_its_user_but_no_context() -> None:
    came = knock({**GOOD, "authorization": f"bearer  {OF_ANA} "}).inside[0]

    assert came["state"] == {CALLER: Caller("ana"), RIGHTS: {"call"}}


def test_a_request_may_state_only_the_context_that_its_token_allows() -> None:
    allowed = knock({**OF_ANA_, "toolmd-context-patient": "p2"}).inside[0]

    assert allowed["state"][CALLER] == Caller("ana", {"patient": "p2"})
    assert knock({**OF_ANA_, "toolmd-context-patient": "p9"}).status == 403
    empty = knock({**OF_ANA_, "toolmd-context-patient": ""}).inside[0]
    assert empty["state"][CALLER] == Caller("ana")
    assert knock({**GOOD, "toolmd-context-patient": "p1"}).status == 403
    assert knock({**GOOD, "toolmd-context-patient": "p9"}).status == 200


def test_two_spellings_of_one_fact_are_denied() -> None:
    twice = {"toolmd-context-patient-id": "p2", "toolmd-context-patient_id": "p2"}

    for headers in (twice, {"toolmd-context-": "p2"}, {"toolmd-context-a.b": "p2"}):
        answer = knock({**OF_ANA_, **headers})
        assert (answer.status, answer.problem["code"]) == (400, "malformed_request")


def test_a_request_may_name_its_conversation() -> None:
    for name in ("c", "a/b:c~!", "x" * 128):
        came = knock({**OF_ANA_, "toolmd-conversation": name}).inside[0]
        assert came["state"][CALLER] == Caller("ana", conversation=name)


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "a\tb", "é", "\x7f"])
def test_a_conversation_with_an_invalid_name_is_denied(name: str) -> None:
    answer = knock({**GOOD, "toolmd-conversation": name})

    assert (answer.status, answer.problem["code"]) == (400, "malformed_request")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "json"])
def test_only_json_is_accepted(kind: str, method: str) -> None:
    scope = {"method": method}

    assert knock({**GOOD, "content-type": kind}, scope=scope).status == 415
    assert knock(GOOD, scope=scope).status == 415
    for right in ("application/json; charset=utf-8", "Application/JSON ;x"):
        assert knock({**GOOD, "content-type": right}, scope=scope).status == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
def test_a_request_without_a_body_needs_no_content_type(method: str) -> None:
    assert knock({**GOOD, "content-type": "text/plain"}, scope={"method": method}).status == 200


@pytest.mark.parametrize(
    "name",
    ["Host", "Origin", "Authorization", "Content-Type", "Cookie", "Sec-Fetch-Site",
     "Toolmd-Context-Patient", "Toolmd-Conversation"],
)  # fmt: skip
def test_a_duplicate_header_is_denied(name: str) -> None:
    right = {**GOOD, "origin": "http://127.0.0.1:8787", "content-type": "application/json",
             "toolmd-context-patient": "p9", "toolmd-conversation": "c", "cookie": "a=b",
             "sec-fetch-site": "none"}  # fmt: skip
    assert knock(right).status == 200

    twice = knock([*right.items(), (name, right[name.lower()])])

    assert (twice.status, twice.problem["code"]) == (400, "malformed_request")


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_fact_is_absent(value: str) -> None:
    assert knock({**GOOD, "toolmd-context-patient": value}).status == 200


def test_another_header_may_be_repeated() -> None:
    assert knock([*GOOD.items(), ("accept", "text/html"), ("accept", "*/*")]).status == 200


def test_a_websocket_is_closed() -> None:
    answer = knock(GOOD, scope={"type": "websocket"})

    assert answer == ([], [{"type": "websocket.close", "code": 1008}])


def test_the_app_receives_the_servers_start_and_end() -> None:
    answer = knock({}, scope={"type": "lifespan"})

    assert [came["type"] for came in answer.inside] == ["lifespan"]


@pytest.mark.parametrize(
    ("headers", "status", "title", "code"),
    [
        ({**GOOD, "host": "evil.example"}, 421, "Misdirected Request", "foreign_host"),
        ({**GOOD, "origin": "null"}, 403, "Forbidden", "foreign_origin"),
        ({"host": GOOD["host"]}, 401, "Unauthorized", "unauthorized"),
        ({**GOOD, "toolmd-context-patient": "p1"}, 403, "Forbidden", "context_not_allowed"),
        ({**GOOD, "toolmd-conversation": ""}, 400, "Bad Request", "malformed_request"),
        ([*GOOD.items(), *GOOD.items()], 400, "Bad Request", "malformed_request"),
        (GOOD, 415, "Unsupported Media Type", "unsupported_media_type"),
    ],
)
def test_a_denial_is_a_problem_document(headers, status, title, code) -> None:
    answer = knock(headers, scope={"method": "POST"})

    told = answer.problem.pop("detail")
    assert told.endswith(".")
    assert answer.problem == {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": told,
        "code": code,
    }
    assert answer.status == status
    kinds = [message["type"] for message in answer.sent]
    assert kinds == ["http.response.start", "http.response.body"]
    length = str(len(answer.sent[1]["body"])).encode()
    asks = {b"www-authenticate": b"Bearer"} if status == 401 else {}
    assert answer.headers == {
        b"content-type": b"application/problem+json",
        b"content-length": length,
        **SAFE,
        **asks,
    }


OF_BACKEND = {**GOOD, "authorization": f"Bearer {OF_THE_BACKEND}"}


def test_a_backend_calls_for_the_user_that_it_names() -> None:
    stated = {
        "toolmd-user": "ana", "toolmd-roles": "customer, guest", "toolmd-context-customer": "c1",
        "toolmd-conversation": "talk",
    }  # fmt: skip
    state = knock({**OF_BACKEND, **stated}).inside[0]["state"]

    whose = Caller(
        "ana", {"customer": "c1"}, conversation="talk", roles=("customer", "guest"), via="shop"
    )
    assert state == {CALLER: whose, RIGHTS: {"call"}}


def test_a_backend_without_headers_is_itself_with_its_only_facts() -> None:
    state = knock(OF_BACKEND).inside[0]["state"]

    assert state[CALLER] == Caller("shop", {"branch": "north"}, roles=("service",))
    assert state[RIGHTS] == {"call", "act_as"}


@pytest.mark.parametrize(
    "stated",
    [
        {"toolmd-user": "ana", "toolmd-roles": "manager"},
        {"toolmd-user": "ana", "toolmd-roles": "customer,manager"},
        {"toolmd-user": "ana", "toolmd-roles": "Customer"},
        {"toolmd-user": "ana", "toolmd-context-branch": "north"},
        {"toolmd-user": "ana", "toolmd-context-user": "bob"},
        {"toolmd-roles": "customer"},
        {"toolmd-user": "", "toolmd-roles": "customer"},
    ],
)
def test_a_backend_states_only_what_its_token_lists(stated: dict[str, str]) -> None:
    assert knock({**OF_BACKEND, **stated}).status == 403


def test_a_token_without_the_right_names_no_other_user() -> None:
    for stated in ({"toolmd-user": "bob"}, {"toolmd-user": ""}, {"toolmd-roles": "customer"}):
        assert knock({**OF_ANA_, **stated}).status == 403
    twice = [*OF_BACKEND.items(), ("toolmd-roles", "customer"), ("toolmd-roles", "guest")]
    assert knock([*twice, ("toolmd-user", "ana")]).status == 400
