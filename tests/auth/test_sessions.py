"""A session's cookie authenticates a browser, but not the requests of other sites."""

import re

import pytest
from requests_to_app import GOOD, OF_ANA, TOKEN, knock, tokens

from toolmd._auth import CALLER, PAGE_POLICY, Sessions
from toolmd._auth.authentication import SAFE
from toolmd._auth.tokens import Pass
from toolmd._types.call import Caller

ANA = tokens().of(OF_ANA) or Pass(None)
OWN = "http://127.0.0.1:8787"
HTML = {"accept": "text/html,*/*;q=0.8"}


def begun(passed: Pass = ANA) -> tuple[Sessions, str]:
    """Start a session; return the sessions and the browser's cookie."""
    sessions = Sessions(8787)
    return sessions, sessions.begin(passed).partition(";")[0]


def test_the_cookie_is_http_only_and_same_site() -> None:
    said = Sessions(8787).begin(ANA)

    cookie = re.fullmatch(r"toolmd-8787=([\w.-]+); Path=/; HttpOnly; SameSite=Strict", said)
    assert cookie is not None


@pytest.mark.parametrize("place", range(0, 140, 7))
def test_a_changed_cookie_has_no_pass(place: int) -> None:
    sessions, cookie = begun()
    place += len("toolmd-8787=")
    other = "1" if cookie[place] == "0" else "0"

    changed = f"{cookie[:place]}{other}{cookie[place + 1 :]}"

    assert sessions.find("GET", {"cookie": changed}) is None


def test_servers_with_the_same_key_accept_each_other_s_cookies() -> None:
    one, other, foreign = (
        Sessions(port, key * 16) for port, key in ((1, b"ab"), (2, b"ab"), (3, b"cd"))
    )
    cookie = one.begin(ANA).partition(";")[0]

    assert other.find("GET", {"cookie": cookie}) == ANA.digest
    assert foreign.find("GET", {"cookie": cookie.replace(one.name, foreign.name)}) is None
    assert foreign.name != one.name


def test_a_session_ends_after_thirty_days() -> None:
    now = [1_000_000.0]
    sessions = Sessions(8787, epoch=lambda: now[0])
    cookie = sessions.begin(ANA).partition(";")[0]

    now[0] += 30 * 86_400 - 1
    assert sessions.find("GET", {"cookie": cookie}) == ANA.digest
    now[0] += 1
    assert sessions.find("GET", {"cookie": cookie}) is None


def test_the_cookie_has_the_pass_of_the_token() -> None:
    sessions, cookie = begun()

    assert sessions.find("GET", {"cookie": cookie}) == ANA.digest
    assert sessions.find("GET", {"cookie": f"theme=dark; {cookie}; a=b"}) == ANA.digest
    assert Sessions(8787).find("GET", {"cookie": cookie}) is None
    assert sessions.find("GET", {"cookie": cookie.replace("8787", "8788")}) is None


@pytest.mark.parametrize(
    "cookie", ["", "toolmd-8787", "toolmd-8787=", "toolmd-8787=x", "=", ";;", "a/b=c"]
)
def test_another_cookie_has_no_pass(cookie: str) -> None:
    sessions, _ = begun()

    assert sessions.find("GET", {"cookie": cookie}) is None
    assert sessions.find("GET", {}) is None


@pytest.mark.parametrize("beside", ["a/b=c", "{}", "toolmd-8787=of-a-start-before", "=", '"'])
def test_cookies_of_other_servers_are_ignored(beside: str) -> None:
    sessions, cookie = begun()

    assert sessions.find("GET", {"cookie": f"{beside}; {cookie}"}) == ANA.digest
    assert sessions.find("GET", {"cookie": f"{cookie}; {beside}"}) == ANA.digest


@pytest.mark.parametrize(
    ("site", "comes"),
    [("same-origin", True), ("None", True), ("same-site", False), ("cross-site", False),
     ("", False)],
)  # fmt: skip
def test_a_request_of_another_site_is_denied(site: str, comes: bool) -> None:
    sessions, cookie = begun()

    found = sessions.find("GET", {"cookie": cookie, "sec-fetch-site": site})

    assert found == (ANA.digest if comes else None)


def test_a_changing_request_needs_an_origin() -> None:
    sessions, cookie = begun()

    assert sessions.find("HEAD", {"cookie": cookie}) == ANA.digest
    for method in ("POST", "PUT", "PATCH", "DELETE", "get"):
        assert sessions.find(method, {"cookie": cookie}) is None
        assert sessions.find(method, {"cookie": cookie, "origin": OWN}) == ANA.digest


def test_a_session_has_the_caller_of_its_token() -> None:
    passed = tokens().of(OF_ANA)
    assert passed is not None
    sessions, cookie = begun(passed)
    headers = {"host": GOOD["host"], "cookie": cookie}

    came = knock({**headers, "toolmd-context-patient": "p2"}, sessions=sessions).inside[0]

    assert came["state"][CALLER] == Caller("ana", {"patient": "p2"})
    assert knock(headers).status == 401
    assert knock({**headers, "toolmd-context-patient": "p3"}, sessions=sessions).status == 403
    assert knock({"host": GOOD["host"]}, sessions=sessions).status == 401
    assert knock({**headers, "host": "evil"}, sessions=sessions).status == 421


def test_a_token_takes_precedence_over_the_cookie() -> None:
    sessions, cookie = begun()
    headers = {"host": GOOD["host"], "cookie": cookie}

    wrong = {**headers, "authorization": "Bearer wrong"}
    right = {**headers, "authorization": f"Bearer {TOKEN}"}

    assert knock(wrong, sessions=sessions).status == 401
    assert knock(right, sessions=sessions).inside[0]["state"][CALLER] == Caller(
        "op", {"patient": "p9"}
    )


def test_a_browser_without_a_token_gets_a_page() -> None:
    answer = knock({"host": GOOD["host"], **HTML}, stranger=lambda: b"<p>Hello")

    assert (answer.status, answer.sent[1]["body"]) == (401, b"<p>Hello")
    assert answer.headers == {
        b"content-type": b"text/html; charset=utf-8",
        b"content-length": b"8",
        **SAFE,
        b"content-security-policy": PAGE_POLICY.encode(),
        b"www-authenticate": b"Bearer",
    }


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ({"host": GOOD["host"], "accept": "application/json"}, "GET"),
        ({"host": GOOD["host"], "x-accept": "text/html"}, "GET"),
        ({"host": GOOD["host"]}, "GET"),
        ({"host": GOOD["host"], **HTML}, "POST"),
        ({"host": "evil", **HTML}, "GET"),
        ({**GOOD, "toolmd-context-patient": "p1", **HTML}, "GET"),
    ],
)
def test_other_clients_get_the_problem_document(headers: dict[str, str], method: str) -> None:
    answer = knock(headers, scope={"method": method}, stranger=lambda: b"<p>Hello")

    assert answer.headers[b"content-type"] == b"application/problem+json"
    assert answer.headers[b"content-security-policy"] == SAFE[b"content-security-policy"]


def test_without_such_a_page_a_browser_gets_the_problem() -> None:
    answer = knock({"host": GOOD["host"], **HTML})

    assert answer.problem["code"] == "unauthorized"
