"""Bearer tokens, and sessions of browsers: each names a user, its rights and its context."""

import asyncio
import hashlib
import hmac
import logging
import math
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from toolmd._types.call import NO_CONTEXT, Caller
from toolmd._types.settings import ActAsSettings, Right, TokenSettings
from toolmd.errors import ToolmdError, logged

_log = logging.getLogger(__name__)

SCHEME = "bearer"
SHORTEST = 16
"""The fewest characters of a token; a shorter one could be guessed."""
ALL_RIGHTS: tuple[Right, ...] = get_args(Right)
LONGEST_S = 30 * 86_400
"""The longest session, in seconds; it ends earlier with its token or with the key."""
ASK_S, ASKED_S = 10.0, 3600.0
"""Seconds that a plugin may take to say who calls, and that its answer counts for a browser."""
SAME = frozenset(("same-origin", "none"))
"""The Sec-Fetch-Site values of requests from our own pages or from the address bar."""


class TokenError(ToolmdError):
    """The reason why a token does not pass; for the log, as it quotes the settings."""


class Pass(NamedTuple):
    """What a token allows: a user, the rights, the roles and the context."""

    user: str | None
    allowed: Mapping[str, tuple[str, ...]] = {}
    """The values that a request may state, by fact."""
    context: Mapping[str, Any] = NO_CONTEXT
    """The facts of a request that states none."""
    rights: frozenset[Right] = frozenset(("call",))
    digest: str = ""
    """The hash of the token."""
    roles: tuple[str, ...] = ()
    """The roles of the user."""
    via: str | None = None
    """Who acts for the user, if not she herself."""
    act_as: ActAsSettings | None = ActAsSettings()
    """What it may state about others, with the right `act_as`; None for anything."""
    ends: float = math.inf
    """When it ends, in seconds since the epoch."""

    def caller(self, stated: Mapping[str, str], conversation: str | None = None) -> Caller | None:
        """Return the caller of a request that states these facts; None if they aren't allowed."""
        if stated and any(stated[fact] not in self.allowed.get(fact, ()) for fact in stated):
            return None
        context = {**self.context, **stated}
        return Caller(self.user, context, conversation=conversation, roles=self.roles, via=self.via)

    def caller_for(
        self, user: str | None, roles: Sequence[str], stated: Mapping[str, str],
        conversation: str | None = None,
    ) -> Caller | None:  # fmt: skip
        """Return the caller of a request for another user; None if the token may not state it."""
        if "act_as" not in self.rights or (roles and user is None):
            return None
        if (limits := self.act_as) is not None and not (
            {*roles} <= {*limits.roles} and {*stated} <= {*limits.context}
        ):
            return None
        return Caller(user, stated, conversation=conversation, roles=tuple(roles), via=self.user)


class Tokens:
    """The accepted tokens, compared by their hashes in constant time, and those of issuers."""

    def __init__(
        self,
        known: Callable[[], Sequence[TokenSettings]] = tuple,
        *,
        own: str | None = None,
        caller: Caller,
        may: Sequence[Right] = ("call",),
        verify: Callable[[str], Awaitable[Pass]] | None = None,
        ask: Callable[[Mapping[str, str]], Awaitable[Any]] | None = None,
    ) -> None:
        """Accept the tokens that `known` returns now, and `own`, with the rights `may`.

        Args:
            known: Asked at each request, so that a token counts until it is revoked there.
            own: The token of this process, if it has one.
            caller: The caller of `own`.
            may: The rights of `own`.
            verify: A function that returns the pass of a JWT, or raises TokenError.
            ask: A function that asks the plugins who sent a request with these headers.
        """
        self._known = known
        self._listed: Sequence[TokenSettings] = ()
        self._passes: dict[str, Pass] = {}
        self._verify = verify
        self._ask = ask
        self._sessions: dict[str, Pass] = {}
        self._own: Pass | None = None
        if own is not None:
            allowed = {fact: (str(value),) for fact, value in caller.context.items()}
            # The person who started the process may name any user, and calls as they would.
            self._own = Pass(
                caller.user, allowed, caller.context, frozenset(may), digest_of(own),
                caller.roles, act_as=None,
            )  # fmt: skip

    async def find(self, headers: Mapping[str, str]) -> Pass | None:
        """Return the pass of a request, by its token or by a plugin; None if it has none.

        Raises:
            TokenError: A plugin failed.
        """
        token = _token_of(headers)
        found = None if token is None else self.of(token) or await self._verified(token)
        return found or await self.ask(headers)

    async def ask(self, headers: Mapping[str, str]) -> Pass | None:
        """Return the pass of a request that the plugins know; None if none does.

        Raises:
            TokenError: A plugin failed; the message has the reference of the log entry.
        """
        if self._ask is None:
            return None
        from toolmd._call.threads import is_from_outside

        try:
            async with asyncio.timeout(ASK_S):
                answer = await self._ask(headers)
            return None if answer is None else _pass_of_plugin(answer, _token_of(headers))
        except BaseException as error:
            if is_from_outside(error):
                raise
            reference = logged(error, "the hook toolmd_authenticate failed")
            message = f"A plugin could not say who calls (reference {reference})."
            raise TokenError(message) from None

    def of(self, token: str) -> Pass | None:
        """Return the pass of a token that needs no verification; None if it isn't valid."""
        return self._of_settings(digest_of(token))

    async def _verified(self, token: str) -> Pass | None:
        """Return the pass of a JWT; None if it isn't valid."""
        if self._verify is None or token.count(".") != _DOTS:
            return None
        try:
            return await self._verify(token)
        except TokenError as error:
            _log.warning("a token does not pass: %s", error)
            return None

    def remember(self, passed: Pass) -> None:
        """Keep the pass of a JWT for the session of a browser, until the token ends."""
        if passed.ends < math.inf:
            while len(self._sessions) >= _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[passed.digest] = passed

    def by_digest(self, given: str) -> Pass | None:
        """Return the pass of a session's token, by its hash; None if it isn't valid any more."""
        found = self._of_settings(given) or self._sessions.get(given)
        return found if found is not None and time.time() < found.ends else None

    def _of_settings(self, given: str) -> Pass | None:
        found = None
        for digest, known in self._current().items():
            if hmac.compare_digest(digest, given):
                found = known
        return found

    def _current(self) -> Mapping[str, Pass]:
        listed = self._known()
        if listed is not self._listed or not self._passes:
            passes = {one.sha256: _pass_of(one) for one in listed}
            if self._own is not None:
                passes[self._own.digest] = self._own
            self._listed, self._passes = listed, passes
        return self._passes


_DOTS = 2
_MOST_SESSIONS = 1000
"""The JWTs whose browsers have a session in this process."""


def _pass_of(token: TokenSettings) -> Pass:
    only = {fact: values[0] for fact, values in token.context.items() if len(values) == 1}
    return Pass(
        token.user, token.context, only, frozenset(token.may), token.sha256, token.roles,
        act_as=token.act_as,
    )  # fmt: skip


def _token_of(headers: Mapping[str, str]) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == SCHEME else None


def _pass_of_plugin(answer: Any, token: str | None) -> Pass:
    """Return the pass of a Caller, or of one with its rights; raises TypeError for others."""
    caller, rights = (answer, ("call",)) if isinstance(answer, Caller) else answer
    may: frozenset[Any] = frozenset(rights)
    if not isinstance(caller, Caller) or not may <= {"call", "decide", "operate"}:
        raise TypeError("toolmd_authenticate returned no Caller and no pair of Caller and rights")
    if not all(isinstance(one, str) and one for one in (*caller.roles, caller.user)):
        raise TypeError("toolmd_authenticate returned a user or a role that is no text")
    return Pass(
        caller.user, context=caller.context, rights=may, roles=tuple(caller.roles),
        digest=digest_of(token or ""), via=caller.via, ends=time.time() + ASKED_S,
    )  # fmt: skip


class Sessions:
    """The sessions of a server, or of all servers that have the same key."""

    def __init__(
        self, port: int, key: bytes | None = None, *, epoch: Callable[[], float] = time.time
    ) -> None:
        """Keep the key that signs cookies; by default, one that ends with this process.

        The cookie is named after the port, or after a shared key: browsers share cookies among
        ports. `epoch` returns seconds since the epoch.
        """
        self._key = secrets.token_bytes(32) if key is None else key
        self._epoch = epoch
        self.name = f"toolmd-{port if key is None else self._mac('name')[:8]}"

    def begin(self, passed: Pass) -> str:
        """Start a session and return the value of `Set-Cookie`."""
        claim = f"{self._epoch() + LONGEST_S:.0f}.{passed.digest}"
        return f"{self.name}={claim}.{self._mac(claim)}; Path=/; HttpOnly; SameSite=Strict"

    def find(self, method: str, headers: Mapping[str, str]) -> str | None:
        """Return the hash of the token that a request's cookie stands for.

        None if there is none, or if another site may have sent the request. The header may contain
        cookies of other servers on the same host, in any form.
        """
        site = headers.get("sec-fetch-site")
        if site is not None and site.lower() not in SAME:
            return None
        if method not in {"GET", "HEAD"} and "origin" not in headers:
            return None
        for cookie in headers.get("cookie", "").split(";"):
            name, _, value = cookie.strip().partition("=")
            if name == self.name and (digest := self._digest(value)):
                return digest
        return None

    def _digest(self, value: str) -> str | None:
        claim, _, mac = value.rpartition(".")
        if not hmac.compare_digest(self._mac(claim).encode(), mac.encode()):
            return None
        until, _, digest = claim.partition(".")
        return digest if self._epoch() < int(until) else None

    def _mac(self, claim: str) -> str:
        return hmac.new(self._key, f"session:{claim}".encode(), "sha256").hexdigest()


def fresh_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return the hex SHA-256 of a token; only this hash is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
