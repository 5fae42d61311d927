"""A JWT passes only as its issuer's settings say; a real issuer answers on 127.0.0.1."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests import warm_python
from tests.definitions import tool

from toolmd._auth.issuers import Issuers
from toolmd._auth.tokens import TokenError
from toolmd._types.settings import IdentitySettings, IssuerSettings
from toolmd.errors import ConfigError

AUDIENCE = "https://tools.example/mcp"
RSA = {name: rsa.generate_private_key(public_exponent=65537, key_size=2048) for name in "ab"}
CURVE = ec.generate_private_key(ec.SECP256R1())


def jwk(key: Any, kid: str, **more: str) -> dict[str, Any]:
    kind = jwt.algorithms.RSAAlgorithm if key is not CURVE else jwt.algorithms.ECAlgorithm
    return {**json.loads(kind.to_jwk(key.public_key())), "kid": kid, **more}


@dataclass
class Service:
    """An identity service: its address, what it publishes, and how often it was asked."""

    url: str = ""
    keys: list[dict[str, Any]] = field(default_factory=lambda: [jwk(RSA["a"], "a")])
    about: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    status: int = 200
    padding: str = ""
    delay_s: float = 0.0
    now: float = 0.0

    def claims(self, **more: Any) -> dict[str, Any]:
        now = time.time()
        claims = {"iss": self.url, "aud": AUDIENCE, "sub": "ana", "iat": now, "exp": now + 60}
        claims.update(more)
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, key: Any = None, alg: Any = "RS256", **claims: Any) -> str:
        headers = {"kid": "a", "typ": "JWT"}
        return jwt.encode(self.claims(**claims), key or RSA["a"], algorithm=alg, headers=headers)

    def settings(self, **more: Any) -> IssuerSettings:
        return IssuerSettings(self.url, (AUDIENCE,), **more)

    def issuers(self, **more: Any) -> Issuers:
        return Issuers(IdentitySettings((self.settings(**more),)), clock=lambda: self.now)


@pytest.fixture
def service() -> Iterator[Service]:
    known = Service()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(self.path)
            time.sleep(known.delay_s)
            about = {"issuer": known.url, "jwks_uri": f"{known.url}/keys", **known.about}
            body = {"keys": known.keys, "more": known.padding}
            content = json.dumps(body if self.path == "/keys" else about).encode()
            self.send_response(known.status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    known.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield known
    server.shutdown()
    thread.join()
    server.server_close()


def denied(issuers: Issuers, token: str) -> str:
    with pytest.raises(TokenError) as caught:
        asyncio.run(issuers.find(token))
    assert token not in str(caught.value)
    return str(caught.value)


def test_the_claims_name_user_roles_rights_and_facts(service: Service) -> None:
    issuers = service.issuers(
        roles="claims.realm_access.roles",
        rights="'toolmd:operate' in claims.scope.split(' ') ? ['call', 'operate'] : ['call']",
        context={
            "limit": "string(claims.limit)", "ward": "claims.ward",
            "tenant": "claims['https://shop.example/tenant']", "shift": "claims.shift",
        },
    )  # fmt: skip
    more: dict[str, Any] = {"https://shop.example/tenant": "north", "act": {"sub": "clinic"}}
    token = service.token(
        realm_access={"roles": ["support"]}, scope="a toolmd:operate", limit=200,
        ward="", **more,
    )  # fmt: skip
    found = asyncio.run(issuers.find(token))

    assert (found.user, found.roles, found.via) == ("ana", ("support",), "clinic")
    assert found.rights == {"call", "operate"}
    assert found.context == {"limit": "200", "tenant": "north"}


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": None}, "lacks the claim 'exp'"),
        ({"sub": None}, "lacks the claim 'sub'"),
        ({"aud": None}, "lacks the claim 'aud'"),
        ({"iss": None}, "its issuer is null"),
        ({"iss": "https://evil.example"}, 'its issuer is "https://evil.example"'),
        ({"aud": "https://other.example"}, f'is "https://other.example", and not "{AUDIENCE}"'),
        ({"exp": time.time() - 31}, "ExpiredSignatureError"),
        ({"nbf": time.time() + 600}, "ImmatureSignatureError"),
        ({"iat": time.time() + 600}, "ImmatureSignatureError"),
        ({"sub": 7}, "InvalidSubjectError"),
        ({"sub": ""}, "gives nothing"),
        ({"nonce": "n"}, "ID tokens"),
        ({"at_hash": "h"}, "ID tokens"),
        ({"roles": "support"}, "gives no list"),
        ({"roles": ["support", 7]}, "gives no list"),
        ({"ward": 7}, "gives no string"),
        ({"ward": ["a"]}, "gives no string"),
        ({"exp": float("inf")}, "DecodeError"),
    ],
)
def test_a_token_with_wrong_claims_does_not_pass(
    service: Service, claims: dict[str, Any], reason: str
) -> None:
    issuers = service.issuers(roles="claims.roles", context={"ward": "claims.ward"})

    assert reason in denied(issuers, service.token(**claims))


def test_clocks_may_differ_by_half_a_minute(service: Service) -> None:
    now = time.time()
    for ends in (now - 20, 10**400):
        token = service.token(exp=ends, nbf=now + 20, iat=now + 20)
        assert asyncio.run(service.issuers().find(token)).user == "ana"


def test_the_settings_choose_the_algorithm_and_never_the_token(service: Service) -> None:
    public = RSA["a"].public_key()
    secret = json.dumps(jwt.algorithms.RSAAlgorithm.to_jwk(public))
    for token, reason in (
        (service.token("x" * 32, alg="HS256"), "its algorithm is"),
        (service.token(secret.encode(), alg="HS256"), "its algorithm is"),
        (service.token(alg="RS512"), "its algorithm is"),
        (jwt.encode(service.claims(), "", algorithm="none", headers={"typ": "JWT"}), "algorithm"),
        (service.token(RSA["b"]), "InvalidSignatureError"),
        (service.token().rpartition(".")[0] + ".", "InvalidSignatureError"),
        (f"{service.token()[:-6]}AAAAAA", "InvalidSignatureError"),
        ("a.b.c", "can't be read"),
        ("x" * 20_000, "more than"),
    ):
        assert reason in denied(service.issuers(), token)


def test_the_type_of_a_token_is_that_of_an_access_token(service: Service) -> None:
    for kind, passes in ((None, False), ("at+jwt", True), ("logout+jwt", False), ("JWT", True)):
        headers = {"kid": "a", "typ": kind}
        token = jwt.encode(service.claims(), RSA["a"], algorithm="RS256", headers=headers)
        if passes:
            assert asyncio.run(service.issuers().find(token)).user == "ana"
        else:
            assert "its type (typ)" in denied(service.issuers(), token)


def test_keys_named_in_the_header_are_never_read(service: Service) -> None:
    for more in ({"jku": f"{service.url}/evil"}, {"jwk": jwk(RSA["b"], "b")}, {"crit": ["b64"]}):
        headers = {"kid": "a", "typ": "JWT", **more}
        token = jwt.encode(service.claims(), RSA["b"], algorithm="RS256", headers=headers)
        denied(service.issuers(), token)
    assert "/evil" not in service.asked


def test_a_key_is_used_for_its_own_algorithm_only(service: Service) -> None:
    service.keys = [jwk(CURVE, "a", alg="ES256"), {"kty": "oct", "k": "eHg", "kid": "c"}]
    token = service.token(CURVE, alg="ES256")
    assert asyncio.run(service.issuers().find(token)).user == "ana"

    assert "is for ES256" in denied(service.issuers(), service.token())
    service.keys = [jwk(RSA["a"], "a", use="enc")]
    assert "has no key" in denied(service.issuers(), service.token())


def test_a_new_key_is_read_once_and_made_up_ones_are_not_asked_for(service: Service) -> None:
    issuers = service.issuers()
    asyncio.run(issuers.find(service.token()))
    service.keys.append(jwk(RSA["b"], "b"))
    rotated = jwt.encode(service.claims(), RSA["b"], algorithm="RS256",
                         headers={"kid": "b", "typ": "JWT"})  # fmt: skip
    service.now = 40.0
    asyncio.run(issuers.find(rotated))
    for kid in "xyz":
        headers = {"kid": kid, "typ": "JWT"}
        denied(issuers, jwt.encode(service.claims(), RSA["b"], algorithm="RS256", headers=headers))

    assert service.asked.count("/keys") == 2


def test_an_outage_leaves_the_last_keys_for_a_day(service: Service) -> None:
    issuers = service.issuers()
    asyncio.run(issuers.find(service.token()))
    service.status = 503
    service.now = 80_000.0
    assert asyncio.run(issuers.find(service.token())).user == "ana"

    service.now = 90_000.0
    assert "answers 503" in denied(issuers, service.token())


def test_metadata_and_keys_are_bounded_and_exact(service: Service) -> None:
    service.about = {"issuer": "https://evil.example"}
    assert "names the issuer" in denied(service.issuers(), service.token())
    service.about = {"jwks_uri": "http://keys.example/keys"}
    assert "names the keys" in denied(service.issuers(), service.token())
    service.about, service.padding = {}, "x" * 300_000
    assert "256 KiB" in denied(service.issuers(), service.token())
    service.padding, service.status = "", 302
    assert "answers 302" in denied(service.issuers(), service.token())
    service.status, service.delay_s = 200, 4.0
    assert "can't be read" in denied(service.issuers(), service.token())


def test_a_public_key_in_a_file_needs_no_service(service: Service, tmp_path: Path) -> None:
    pem = RSA["a"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "shop.pem").write_bytes(pem)
    issuers = Issuers(IdentitySettings((service.settings(key="shop.pem"),)), root=tmp_path)

    assert asyncio.run(issuers.find(service.token())).user == "ana"
    assert service.asked == []


def test_users_of_two_issuers_never_meet(service: Service) -> None:
    other = service.settings(name="other")._replace(issuer="https://other.example")
    issuers = Issuers(IdentitySettings((service.settings(name="shop"), other)))

    assert asyncio.run(issuers.find(service.token())).user == "shop:ana"


def test_an_expression_that_cannot_be_read_ends_the_start(service: Service) -> None:
    for key, value in (("roles", "claims.("), ("user", "sub"), ("key", "missing.pem")):
        more: dict[str, Any] = {key: value}
        with pytest.raises(ConfigError, match=r"identity\.issuers"):
            service.issuers(**more)


def test_a_mapping_that_fails_denies(service: Service) -> None:
    issuers = service.issuers(rights="claims.scope.split(' ')")
    assert "rights" in denied(issuers, service.token(scope=7))
    assert asyncio.run(issuers.find(service.token(scope="call fly"))).rights == {"call"}
    assert asyncio.run(issuers.find(service.token())).rights == frozenset()


TOOL = tool("greet", metadata="- **Requires Context**: customer\n", returns="string")
PYTHON = """
def greet(*, context):
    return f"{context.user} of {context.facts['customer']}"
"""
GUARD = """
from toolmd import Action, Verdict, hookimpl

@hookimpl
def toolmd_guards(spec):
    return [only_staff]

def only_staff(call, arguments):
    if "staff" not in call.caller.roles:
        return Verdict(Action.DENY, "not_staff", "Only staff greets.")
"""


def test_a_server_lets_the_users_of_an_issuer_call(service: Service, tmp_path: Path) -> None:
    (tmp_path / "tools_md").mkdir()
    for name, text in (("greet.tool.md", TOOL), ("greet.py", PYTHON), ("plugin.py", GUARD)):
        (tmp_path / "tools_md" / name).write_text(text, "utf-8")
    (tmp_path / "toolmd.toml").write_text(
        f"[[identity.issuers]]\nissuer = {service.url!r}\naudience = {AUDIENCE!r}\n"
        "roles = 'claims.roles'\ncontext = { customer = 'claims.customer' }\n"
    )
    command = (sys.executable, "-m", "toolmd", "serve", "--transport", "http", "--port", "0")
    server = warm_python.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": ""},
    )  # fmt: skip
    assert server.stderr is not None
    url = re.search(r"http://[\w.:]+", server.stderr.readline())
    assert url is not None

    def call(**claims: Any) -> Any:
        token = service.token(**claims)
        headers = {"authorization": f"Bearer {token}"}
        sent.append(token)
        return httpx.post(f"{url[0]}/api/tools/greet/call", json={}, headers=headers)

    sent: list[str] = []
    staff = {"roles": ["staff"], "customer": "C-17"}
    try:
        first = call(**staff).json()
        assert first.get("data") == "ana of C-17"
        assert call(roles=["guest"], customer="C-17").json()["error"]["code"] == "not_staff"
        assert call(roles=["staff"]).json()["error"]["code"] == "context_required"
        assert call(**staff, aud="https://other.example").status_code == 401
        assert call(**staff, iss="https://evil.example").status_code == 401
    finally:
        server.send_signal(signal.SIGINT)
        _, log = server.communicate(timeout=30)
    assert 'its audience is "https://other.example"' in log
    assert not [token for token in sent if token in log]
