"""The parts of authentication: addresses, tokens, and the headers of every answer."""

import asyncio
import hashlib
from typing import Any

import pytest
from requests_to_app import ADDRESSES, OF_ANA, TOKEN, knock, tokens

from toolmd._auth import ALL_RIGHTS, Addresses, Authentication, Tokens, fresh_token
from toolmd._auth.authentication import PAGE_POLICY, with_port
from toolmd._auth.tokens import SHORTEST, Pass, digest_of
from toolmd._types.call import Caller
from toolmd._types.settings import TokenSettings


@pytest.mark.parametrize(
    ("host", "hosts"),
    [
        ("127.0.0.1", {"127.0.0.1:8787", "localhost:8787"}),
        ("localhost", {"127.0.0.1:8787", "localhost:8787"}),
        ("::1", {"[::1]:8787"}),
        ("tools.example", {"tools.example:8787"}),
        ("fd00::5", {"[fd00::5]:8787"}),
    ],
)
def test_a_server_answers_to_the_names_that_it_is_bound_to(host: str, hosts: set[str]) -> None:
    addresses = Addresses.of(host, 8787)

    assert addresses.hosts == hosts
    assert addresses.origins == {f"http://{name}" for name in hosts}


def test_on_port_80_the_host_may_omit_the_port() -> None:
    addresses = Addresses.of("127.0.0.1", 80)

    assert addresses.hosts == {"127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"}
    assert addresses.origins >= {"http://127.0.0.1", "http://localhost"}
    assert Addresses.of("::1", 80).hosts == {"[::1]:80", "[::1]"}


def test_the_name_of_a_proxy_is_accepted_in_any_case() -> None:
    addresses = Addresses.of("tools.example", 1, ["Tools.example.org", "b:8443"])

    assert addresses.hosts == {"tools.example:1", "tools.example.org", "b:8443"}
    assert addresses.origins == {
        "http://tools.example:1",
        "http://tools.example.org",
        "https://tools.example.org",
        "http://b:8443",
        "https://b:8443",
    }
    assert addresses.host_fits("TOOLS.example.org")
    assert addresses.origin_fits("HTTPS://b:8443")
    assert addresses.origin_fits(None)
    assert not addresses.host_fits(None)


def test_an_ipv6_address_has_brackets() -> None:
    assert with_port("::1", 8787) == "[::1]:8787"
    assert with_port("127.0.0.1", 8787) == "127.0.0.1:8787"


def test_only_the_printed_token_is_the_operators() -> None:
    assert tokens().of(TOKEN) == Pass(
        "op", {"patient": ("p9",)}, {"patient": "p9"}, frozenset(ALL_RIGHTS), digest_of(TOKEN),
        act_as=None,
    )  # fmt: skip
    assert tokens().of(OF_ANA) == Pass("ana", {"patient": ("p1", "p2")}, digest=digest_of(OF_ANA))
    assert tokens().of("") is None
    assert tokens().of(TOKEN.upper()) is None
    assert tokens(own=None).of(TOKEN) is None


def test_a_token_allows_only_its_own_context_values() -> None:
    passed = Pass("op", {"patient": ("p1", "p2")}, {"patient": "p1"})

    assert passed.caller({}) == Caller("op", {"patient": "p1"})
    assert passed.caller({"patient": "p2"}, "c") == Caller(
        "op", {"patient": "p2"}, conversation="c"
    )
    assert passed.caller({"patient": "p3"}) is None
    assert passed.caller({"tenant": "p1"}) is None
    assert Pass("ana").caller({}) == Caller("ana")
    assert Pass("ana") == Pass("ana", {}, {}, frozenset(("call",)))


def test_only_the_hash_of_a_token_is_stored() -> None:
    assert digest_of("é") == hashlib.sha256("é".encode()).hexdigest()
    assert digest_of("\udcff") == hashlib.sha256(b"\xff").hexdigest()


def test_a_generated_token_is_random() -> None:
    made = {fresh_token() for _ in range(20)}

    assert len(made) == 20
    assert {len(one) for one in made} == {43}
    assert SHORTEST == 16


def sealed(headers: list[tuple[bytes, bytes]] | None) -> list[Any]:
    """Return the messages of an app's answer behind the authentication."""
    start = {"type": "http.response.start", "status": 200}
    said = [start if headers is None else {**start, "headers": headers},
            {"type": "http.response.body", "body": b""}]  # fmt: skip
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert (scope["path"], receive) == ("/", "receive")
        for message in said:
            await send(message)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    open_to_all = Authentication(app, addresses=ADDRESSES, tokens=tokens(), probes=["/"])
    asyncio.run(open_to_all(scope, "receive", send))  # type: ignore[arg-type]
    assert sent[1] == said[1]
    return sent


def test_every_answer_has_the_safe_headers() -> None:
    safe = {
        b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
        b"x-content-type-options": b"nosniff",
        b"referrer-policy": b"no-referrer",
        b"cross-origin-resource-policy": b"same-origin",
        b"cross-origin-opener-policy": b"same-origin",
        b"cache-control": b"no-store",
    }

    assert dict(sealed(None)[0]["headers"]) == safe
    assert dict(sealed([(b"a", b"b")])[0]["headers"]) == {b"a": b"b", **safe}
    assert sealed([])[0]["status"] == 200


def test_a_page_keeps_its_own_policy() -> None:
    own = (b"Content-Security-Policy", PAGE_POLICY.encode())

    given = sealed([own])[0]["headers"]

    assert [pair for pair in given if pair[0].lower() == own[0].lower()] == [own]
    assert len(given) == 6


def test_tokens_are_those_of_the_settings_now() -> None:
    other = "another-token-which-is-long"
    listed = {"now": [token_of(OF_ANA, "ana")]}
    known = Tokens(lambda: listed["now"], own=TOKEN, caller=Caller("op"))

    assert known.of(OF_ANA) is not None
    listed["now"] = [token_of(other, "ben", "decide")]
    assert known.of(OF_ANA) is None
    found = known.of(other)
    assert found is not None
    assert (found.user, found.rights) == ("ben", {"decide"})
    assert known.of(TOKEN) is not None
    listed["now"] = []
    assert known.of(other) is None


def test_a_token_has_the_right_to_call_if_nothing_else_is_said() -> None:
    found = Tokens(own=TOKEN, caller=Caller("op")).of(TOKEN)

    assert found is not None
    assert found.rights == {"call"}


@pytest.mark.parametrize(("begins", "statuses"), [(False, [500]), (True, [204])])
def test_an_app_that_raises_is_answered_once_with_the_safe_headers(
    begins: bool, statuses: list[int]
) -> None:
    sent: list[Any] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        if begins:
            await send({"type": "http.response.start", "status": 204, "headers": []})
        raise ZeroDivisionError("inside")

    async def send(message: Any) -> None:
        sent.append(message)

    gate = Authentication(app, addresses=ADDRESSES, tokens=tokens())
    headers = [(b"host", b"127.0.0.1:8787"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": headers}
    with pytest.raises(ZeroDivisionError, match="inside"):
        asyncio.run(gate(scope, None, send))  # type: ignore[arg-type]

    starts = [one for one in sent if one["type"] == "http.response.start"]
    bodies = [one["body"] for one in sent if one["type"] == "http.response.body"]
    assert [one["status"] for one in starts] == statuses
    assert bodies == ([] if begins else [b"Internal Server Error"])
    given = dict(starts[0]["headers"])
    assert given[b"x-content-type-options"] == b"nosniff"
    if not begins:
        assert given[b"content-type"] == b"text/plain; charset=utf-8"
        assert given[b"content-length"] == b"%d" % len(bodies[0])


@pytest.mark.parametrize(("method", "passes"), [("GET", True), ("HEAD", True), ("POST", False)])
def test_a_probe_may_look_under_any_host(method: str, passes: bool) -> None:
    answer = knock(
        {"host": "10.0.0.7", "authorization": f"Bearer {TOKEN}"},
        scope={"method": method, "path": "/healthz"}, probes={"/healthz"},
    )  # fmt: skip

    assert bool(answer.inside) is passes
    assert answer.status == (200 if passes else 421)


def token_of(token: str, user: str, *may: Any) -> TokenSettings:
    digest = hashlib.sha256(token.encode()).hexdigest()
    return TokenSettings(digest, user, may or ("call",))
