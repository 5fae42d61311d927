"""Bearer tokens, and sessions of browsers: each names a user, its rights and its context."""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, get_args

from toolmd._types.call import NO_CONTEXT, Caller
from toolmd._types.settings import Right, TokenSettings

SCHEME = "bearer "
SHORTEST = 16
"""The fewest characters of a token; a shorter one could be guessed."""
ALL_RIGHTS: tuple[Right, ...] = get_args(Right)
LONGEST_S = 30 * 86_400
"""The longest session, in seconds; it ends earlier with its token or with the key."""
SAME = frozenset(("same-origin", "none"))
"""The Sec-Fetch-Site values of requests from our own pages or from the address bar."""


class Pass(NamedTuple):
    """What a token allows: a user, the rights and the context."""

    user: str | None
    allowed: Mapping[str, tuple[str, ...]] = {}
    """The values that a request may state, by fact."""
    context: Mapping[str, str] = NO_CONTEXT
    """The facts of a request that states none."""
    rights: frozenset[Right] = frozenset(("call",))
    digest: str = ""
    """The hash of the token."""

    def caller(self, stated: Mapping[str, str], conversation: str | None = None) -> Caller | None:
        """Return the caller of a request that states these facts; None if they aren't allowed."""
        if any(value not in self.allowed.get(fact, ()) for fact, value in stated.items()):
            return None
        return Caller(self.user, {**self.context, **stated}, conversation=conversation)


class Tokens:
    """The accepted tokens, compared by their hashes in constant time."""

    def __init__(
        self,
        known: Callable[[], Sequence[TokenSettings]] = tuple,
        *,
        own: str | None = None,
        caller: Caller,
        may: Sequence[Right] = ("call",),
    ) -> None:
        """Accept the tokens that `known` returns now, and `own`, with the rights `may`.

        Args:
            known: Asked at each request, so that a token counts until it is revoked there.
            own: The token of this process, if it has one.
            caller: The caller of `own`.
            may: The rights of `own`.
        """
        self._known = known
        self._listed: Sequence[TokenSettings] = ()
        self._passes: dict[str, Pass] = {}
        self._own: Pass | None = None
        if own is not None:
            allowed = {fact: (value,) for fact, value in caller.context.items()}
            self._own = Pass(caller.user, allowed, caller.context, frozenset(may), digest_of(own))

    def find(self, authorization: str | None) -> Pass | None:
        """Return the pass of an `Authorization` header; None if it has no valid token."""
        if authorization is None or not authorization.lower().startswith(SCHEME):
            return None
        return self.of(authorization[len(SCHEME) :].strip())

    def of(self, token: str) -> Pass | None:
        """Return the pass of a token; None if it isn't valid."""
        return self.by_digest(digest_of(token))

    def by_digest(self, given: str) -> Pass | None:
        """Return the pass of the token with this hash; None if it isn't valid any more."""
        found = None
        for digest, known in self._current().items():
            if hmac.compare_digest(digest, given):
                found = known
        return found

    def _current(self) -> Mapping[str, Pass]:
        listed = self._known()
        if listed is not self._listed or not self._passes:
            passes = {
                one.sha256: Pass(
                    one.user, one.context, rights=frozenset(one.may), digest=one.sha256
                )
                for one in listed
            }
            if self._own is not None:
                passes[self._own.digest] = self._own
            self._listed, self._passes = listed, passes
        return self._passes


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
