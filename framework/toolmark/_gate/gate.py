"""Stand before an ASGI app: the right Host, Origin, token and content, or no answer from it."""

import json
from collections.abc import Awaitable, Callable, Collection, MutableMapping
from typing import Any

from toolmark._gate.addresses import Addresses
from toolmark._gate.tokens import Pass, Tokens

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CALLER = "toolmark.caller"
"""Under this key of `scope["state"]` stands the Caller that the token names."""
PATIENT = "toolmark-patient"
"""The header by which a host names a patient."""
BODIES = frozenset(("POST", "PUT", "PATCH"))


class Refusal(Exception):  # noqa: N818 - the answer that it becomes, not a mistake of ours
    """A request that does not come in."""

    def __init__(self, status: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.problem = {"type": "about:blank", "title": title, "status": status, "detail": detail}


class Gate:
    """An ASGI app that lets requests through to another."""

    def __init__(
        self, app: App, *, addresses: Addresses, tokens: Tokens, open_paths: Collection[str] = ()
    ) -> None:
        """Guard `app`; `open_paths` need no token (a page that holds none of its secrets)."""
        self._app = app
        self._addresses = addresses
        self._tokens = tokens
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or hand it on with its caller."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # A websocket would carry its pages' Origin past the rules below.
            await send({"type": "websocket.close", "code": 1008})
            return
        try:
            headers = _headers(scope)
            self._check_place(headers)
            passed = self._tokens.find(headers.get("authorization"))
            if scope["path"] not in self._open_paths:
                _check_caller(scope, passed, headers.get(PATIENT))
            _check_body(scope["method"], headers)
        except Refusal as refusal:
            await _answer(refusal, send)
            return
        await self._app(scope, receive, send)

    def _check_place(self, headers: dict[str, str]) -> None:
        if not self._addresses.host_fits(headers.get("host")):
            raise Refusal(421, "Misdirected Request", "This server has no such Host.")
        if not self._addresses.origin_fits(headers.get("origin")):
            raise Refusal(403, "Forbidden", "No page of this Origin may ask.")


def _headers(scope: Scope) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in {"host", "origin", "authorization", "content-type", PATIENT} and key in found:
            # Two readers could take different ones.
            raise Refusal(400, "Bad Request", f"The header {key} stands twice.")
        found[key] = value.decode("latin-1")
    return found


def _check_caller(scope: Scope, passed: Pass | None, patient: str | None) -> None:
    if passed is None:
        raise Refusal(401, "Unauthorized", "Give the token: Authorization: Bearer TOKEN.")
    caller = passed.caller(patient)
    if caller is None:
        raise Refusal(403, "Forbidden", "The token does not allow this patient.")
    scope["state"] = {**scope.get("state", {}), CALLER: caller}


def _check_body(method: str, headers: dict[str, str]) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in BODIES and kind != "application/json":
        raise Refusal(415, "Unsupported Media Type", "Send application/json.")


async def _answer(refusal: Refusal, send: Send) -> None:
    body = json.dumps(refusal.problem).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    if refusal.status == 401:  # noqa: PLR2004 - the status that asks for a token
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
