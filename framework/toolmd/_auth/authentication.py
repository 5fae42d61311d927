"""Check Host, Origin, token and content type of a request before it reaches an ASGI app.

Every answer gets headers that keep pages of other sites from using its content.
"""

import json
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self
from urllib.parse import urlsplit

from toolmd._auth.tokens import Pass, Sessions, TokenError, Tokens
from toolmd._types.call import fact_name
from toolmd._types.settings import IssuerSettings

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
App = Callable[[AsgiScope, Receive, Send], Awaitable[None]]

_LOOKS = frozenset(("GET", "HEAD"))
CALLER = "toolmd.caller"
"""The key of `scope["state"]` for the Caller that the token names."""
RIGHTS = "toolmd.rights"
"""The key of `scope["state"]` for what the token may do, a set."""
USER = "toolmd-user"
"""The header that names another user, for whom a token that may `act_as` others calls."""
ROLES = "toolmd-roles"
"""The header that lists the roles of that user, separated by commas."""
CONTEXT = "toolmd-context-"
"""The prefix of headers that state a fact of the context: `Toolmd-Context-Patient`."""
CONVERSATION = "toolmd-conversation"
"""The header that names the conversation, for a Quota per conversation."""
BODIES = frozenset(("POST", "PUT", "PATCH"))
ONCE = frozenset(
    ("host", "origin", "authorization", "content-type", "cookie", "sec-fetch-site", CONVERSATION,
     USER, ROLES)
)  # fmt: skip
"""Headers that decide over access: two readers could pick different ones of two."""
_NAME = re.compile(r"[\x21-\x7e]{1,128}")
_CRASHED_BODY = b"Internal Server Error"
_CRASHED: Mapping[str, Any] = {
    "type": "http.response.start",
    "status": HTTPStatus.INTERNAL_SERVER_ERROR,
    "headers": [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(_CRASHED_BODY)),
    ],
}
HTTP_PORT = 80
LOCAL = ("127.0.0.1", "localhost")
"""Names of this machine for itself; clients use either."""
NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that are not pages: a browser that shows one runs and loads nothing."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The policy of the console's pages: nothing inline, nothing from other sites."""
SAFE: dict[bytes, bytes] = {
    b"content-security-policy": NOTHING.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""An app's own headers win: a page names its own policy, a file its own caching."""
_ALL = tuple(SAFE.items())


@dataclass(frozen=True, slots=True)
class Addresses:
    """The accepted values of the Host and Origin headers."""

    hosts: frozenset[str]
    """Such as `127.0.0.1:8787`; on port 80 also without the port, as clients write it."""
    origins: frozenset[str]
    """Such as `http://127.0.0.1:8787`."""

    @classmethod
    def of(cls, host: str, port: int, allowed: Iterable[str] = ()) -> Self:
        """Return the addresses of a server that is bound to `host` and `port`.

        Args:
            host: The host that the server is bound to.
            port: The port that the server is bound to.
            allowed: Names that a proxy in front of the server uses, such as `tools.example.org` or
                one with a port; their pages may be served over TLS.
        """
        own = LOCAL if host in LOCAL else (host,)
        hosts = {with_port(name, port) for name in own}
        if port == HTTP_PORT:
            hosts |= {host.removesuffix(f":{port}") for host in hosts}
        origins = {f"http://{name}" for name in hosts}
        for name in allowed:
            hosts.add(name.lower())
            origins |= {f"http://{name.lower()}", f"https://{name.lower()}"}
        return cls(frozenset(hosts), frozenset(origins))

    def host_fits(self, host: str | None) -> bool:
        """Check the Host header; a request without one does not pass."""
        return host is not None and host.lower() in self.hosts

    def origin_fits(self, origin: str | None) -> bool:
        """Check the Origin header; clients that are not browsers send none."""
        return origin is None or origin.lower() in self.origins


def with_port(host: str, port: int) -> str:
    """Return a host and its port in the form of a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def problem(status: HTTPStatus, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """Return problem details (RFC 9457) with a stable code; `more` are additional members."""
    return {
        "type": "about:blank", "title": status.phrase, "status": status, "detail": detail,
        "code": code, **more,
    }  # fmt: skip


class RequestDenied(Exception):  # noqa: N818 - an answer to the client, not an error of the server
    """A request that is not passed on."""

    def __init__(self, status: HTTPStatus, code: str, detail: str) -> None:
        self.status = status
        self.problem = problem(status, code, detail)


class Authentication:
    """An ASGI app that passes authenticated requests on to another app."""

    def __init__(  # noqa: PLR0913 - what a server gives it, by keyword
        self,
        app: App,
        *,
        addresses: Addresses,
        tokens: Tokens,
        open_paths: Collection[str] = (),
        probes: Collection[str] = (),
        sessions: Sessions | None = None,
        stranger: Callable[[], bytes] | None = None,
        challenge: Callable[[str], str] = lambda _: "Bearer",
    ) -> None:
        """Guard an app.

        Args:
            app: The app that receives the requests that pass.
            addresses: The accepted values of Host and Origin.
            tokens: The accepted bearer tokens.
            open_paths: Paths that need no token, for pages without secrets.
            probes: Paths without a token that also answer to any Host, as balancers have their own.
            sessions: The sessions of browsers, if the app serves any.
            stranger: A function that returns the HTML page for a browser without a session.
            challenge: Returns the header WWW-Authenticate of a 401 for a Host.
        """
        self._challenge = challenge
        self._app = app
        self._addresses = addresses
        self._tokens = tokens
        self._open_paths = frozenset(open_paths) | frozenset(probes)
        self._probes = frozenset(probes)
        self._sessions = sessions
        self._stranger = stranger

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answer a denied request, or pass it on with its caller; add the safe headers."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            # Browsers let a page of any Origin open a websocket.
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def send_safely(message: Mapping[str, Any]) -> None:
            nonlocal begun
            if not begun:
                begun, message = True, with_safe_headers(message)
            await send(message)

        try:
            headers = _headers(scope)
            if scope["path"] not in self._probes or scope["method"] not in _LOOKS:
                self._check_place(headers)
            if scope["path"] not in self._open_paths:
                passed = await self._passed(scope["method"], headers)
                _check_caller(scope, passed, headers)
            _check_body(scope["method"], headers)
        except RequestDenied as denial:
            page = self._page(denial, scope)
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            await _answer(denial, page, self._challenge(host), send_safely)
            return
        try:
            await self._app(scope, receive, send_safely)
        except Exception:
            if not begun:
                # The server logs the exception, but would answer without the safe headers.
                await send_safely(_CRASHED)
                await send_safely({"type": "http.response.body", "body": _CRASHED_BODY})
            raise

    def _check_place(self, headers: dict[str, str]) -> None:
        if not self._addresses.host_fits(headers.get("host")):
            detail = "This server does not answer to this Host; --allow-host adds a name."
            raise RequestDenied(HTTPStatus.MISDIRECTED_REQUEST, "foreign_host", detail)
        if not self._addresses.origin_fits(headers.get("origin")):
            detail = "Pages of this Origin may not send requests to this server."
            raise RequestDenied(HTTPStatus.FORBIDDEN, "foreign_origin", detail)

    async def _passed(self, method: str, headers: dict[str, str]) -> Pass | None:
        if "authorization" not in headers and self._sessions is not None:
            digest = self._sessions.find(method, headers)
            # It ends with its token.
            found = None if digest is None else self._tokens.by_digest(digest)
            if found is not None:
                return found
        try:
            return await self._tokens.find(headers)
        except TokenError as error:
            raise RequestDenied(HTTPStatus.UNAUTHORIZED, "unauthorized", str(error)) from None

    def _page(self, denial: RequestDenied, scope: AsgiScope) -> bytes | None:
        """Return the page for a browser without a token; None for other denials and clients."""
        if denial.status != HTTPStatus.UNAUTHORIZED:
            return None
        if self._stranger is None or scope["method"] != "GET":
            return None
        accepts = (value for name, value in scope["headers"] if name == b"accept")
        return self._stranger() if any(b"text/html" in value for value in accepts) else None


def _headers(scope: AsgiScope) -> dict[str, str]:
    pairs = scope["headers"]
    found = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in pairs}
    if len(found) < len(pairs):
        keys = [key.decode("latin-1").lower() for key, _ in pairs]
        for key in [key for key in found if keys.count(key) > 1]:
            if key in ONCE or key.startswith(CONTEXT):
                detail = f"The header {key} appears twice."
                raise RequestDenied(HTTPStatus.BAD_REQUEST, "malformed_request", detail)
            del found[key]  # A plugin must not read another one of two than a proxy.
    return found


def _check_caller(scope: AsgiScope, passed: Pass | None, headers: dict[str, str]) -> None:
    if passed is None:
        detail = "Send a valid token: Authorization: Bearer TOKEN."
        raise RequestDenied(HTTPStatus.UNAUTHORIZED, "unauthorized", detail)
    conversation = headers.get(CONVERSATION)
    if conversation is not None and not _NAME.fullmatch(conversation):
        detail = f"The header {CONVERSATION} needs 1 to 128 visible ASCII characters."
        raise RequestDenied(HTTPStatus.BAD_REQUEST, "malformed_request", detail)
    facts, rights = _facts(headers), passed.rights
    if USER in headers or ROLES in headers:
        listed = (role.strip() for role in headers.get(ROLES, "").split(","))
        roles = [role for role in listed if role]
        caller = passed.caller_for(headers.get(USER) or None, roles, facts, conversation)
        # As somebody else it does not operate: that stays with its own name. The token of the
        # process belongs to a person, who would decide in another's name.
        decides = passed.act_as is not None and "decide" in rights
        rights = frozenset(("call", "decide")) if decides else frozenset(("call",))
    else:
        caller = passed.caller(facts, conversation)
    if caller is None:
        detail = "The token does not allow this context, or to name this user or these roles."
        raise RequestDenied(HTTPStatus.FORBIDDEN, "context_not_allowed", detail)
    scope["state"] = {**scope.get("state", {}), CALLER: caller, RIGHTS: rights}


def _facts(headers: dict[str, str]) -> dict[str, str]:
    """Return the facts of the context that a request states, by name, without empty ones."""
    facts: dict[str, str] = {}
    for key, value in headers.items():
        if key.startswith(CONTEXT):
            fact = fact_name(key.removeprefix(CONTEXT))
            if fact is None or fact in facts:
                detail = f"The header {key} does not name one fact, as Toolmd-Context-Patient does."
                raise RequestDenied(HTTPStatus.BAD_REQUEST, "malformed_request", detail)
            facts[fact] = value
    return facts and {fact: value for fact, value in facts.items() if value.strip()}


def _check_body(method: str, headers: dict[str, str]) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method in BODIES and kind != "application/json":
        detail = "Send the body as application/json."
        raise RequestDenied(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", detail)


async def _answer(denial: RequestDenied, page: bytes | None, challenge: str, send: Send) -> None:
    body = json.dumps(denial.problem).encode() if page is None else page
    kind = b"application/problem+json" if page is None else b"text/html; charset=utf-8"
    headers = [
        (b"content-type", kind),
        (b"content-length", str(len(body)).encode()),
    ]
    if page is not None:
        headers.append((b"content-security-policy", PAGE_POLICY.encode()))
    if denial.status == HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", challenge.encode("latin-1")))
    await send({"type": "http.response.start", "status": denial.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def with_safe_headers(start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first message of an answer with `SAFE` added to its headers."""
    given = list(start.get("headers", ()))
    names = {name.lower() for name, _ in given}
    lacking = _ALL if names.isdisjoint(SAFE) else [pair for pair in _ALL if pair[0] not in names]
    return {**start, "headers": [*given, *lacking]}


METADATA = "/.well-known/oauth-protected-resource"
"""Where clients of MCP learn which service signs their users in (RFC 9728)."""


def metadata_of(issuers: Iterable[IssuerSettings], host: str) -> dict[str, Any] | None:
    """Return the metadata of the protected resource; None where no service signs users in.

    An issuer with a key in a file signs for itself, so no client can ask it.
    """
    services = [one for one in issuers if not one.key]
    if not services:
        return None
    names = [name for one in services for name in one.audience if "://" in name]
    own = [name for name in names if urlsplit(name).netloc.lower() == host.lower()]
    return {
        "resource": next(iter((*own, *names)), f"http://{host}/mcp"),
        "authorization_servers": [one.issuer for one in services],
        "bearer_methods_supported": ["header"],
    }


def challenge(issuers: Iterable[IssuerSettings], host: str) -> str:
    """Return the header WWW-Authenticate of a request without a valid token."""
    metadata = metadata_of(issuers, host)
    if metadata is None:
        return "Bearer"
    at = urlsplit(metadata["resource"])
    path = at.path.rstrip("/")
    return f'Bearer resource_metadata="{at.scheme}://{at.netloc}{METADATA}{path}"'
