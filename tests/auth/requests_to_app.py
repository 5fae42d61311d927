"""Send requests to the authentication as a server would, and record the answers."""

import asyncio
import hashlib
import json
from typing import Any, NamedTuple

from toolmd._auth import ALL_RIGHTS, Addresses, Authentication, Tokens
from toolmd._types.call import Caller
from toolmd._types.settings import ActAsSettings, TokenSettings

TOKEN = "a-token-of-this-start"
OF_ANA = "the-token-of-ana-which-is-long"
OF_THE_BACKEND = "the-token-of-the-backend-of-an-app"
GOOD = {"host": "127.0.0.1:8787", "authorization": f"Bearer {TOKEN}"}
ADDRESSES = Addresses.of("127.0.0.1", 8787)


class Answer(NamedTuple):
    """The answer of the authentication."""

    inside: list[dict[str, Any]]
    """The scope of each request that passed."""
    sent: list[dict[str, Any]]
    """The authentication's own answer."""

    @property
    def status(self) -> int:
        return 200 if self.inside else self.sent[0]["status"]

    @property
    def headers(self) -> dict[bytes, bytes]:
        return dict(self.sent[0]["headers"])

    @property
    def problem(self) -> dict[str, Any]:
        return json.loads(self.sent[1]["body"])


def tokens(own: str | None = TOKEN) -> Tokens:
    known = [
        TokenSettings(
            hashlib.sha256(OF_ANA.encode()).hexdigest(), "ana", context={"patient": ("p1", "p2")}
        ),
        TokenSettings(
            hashlib.sha256(OF_THE_BACKEND.encode()).hexdigest(),
            "shop",
            ("call", "act_as"),
            context={"branch": ("north",)},
            roles=("service",),
            act_as=ActAsSettings(("customer", "guest"), ("customer",)),
        ),
    ]
    caller = Caller("op", {"patient": "p9"})
    return Tokens(lambda: known, own=own, caller=caller, may=ALL_RIGHTS)


def knock(
    headers: dict[str, str] | list[tuple[str, str]],
    *,
    scope: dict[str, Any] | None = None,
    own: str | None = TOKEN,
    addresses: Addresses = ADDRESSES,
    **behind: Any,
) -> Answer:
    """Ask with these headers; `scope` is what else is asked, `behind` what the gate is given."""
    answer = Answer([], [])

    async def app(scope: Any, receive: Any, send: Any) -> None:
        del receive, send
        answer.inside.append(scope)

    async def send(message: Any) -> None:
        answer.sent.append(message)

    pairs = headers.items() if isinstance(headers, dict) else headers
    whole: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": "/mcp",
        "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in pairs],
        **(scope or {}),
    }
    gate = Authentication(app, addresses=addresses, tokens=tokens(own), **behind)
    asyncio.run(gate(whole, None, send))  # type: ignore[arg-type]
    return answer
