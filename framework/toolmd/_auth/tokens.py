"""Bearer tokens: each one names a user, and the context that its requests may state."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolmd._types.call import NO_CONTEXT, Caller
from toolmd._types.settings import TokenSettings

SCHEME = "bearer "
SHORTEST = 16
"""The fewest characters of a token; a shorter one could be guessed."""


class Pass(NamedTuple):
    """The user and the context that a token allows."""

    user: str | None
    allowed: Mapping[str, tuple[str, ...]] = {}
    """The values that a request may state, by fact."""
    context: Mapping[str, str] = NO_CONTEXT
    """The facts of a request that states none."""
    operator: bool = False
    """Whether the token belongs to the person who started the server."""

    def caller(self, stated: Mapping[str, str], conversation: str | None = None) -> Caller | None:
        """Return the caller of a request that states these facts; None if they aren't allowed."""
        if any(value not in self.allowed.get(fact, ()) for fact, value in stated.items()):
            return None
        return Caller(self.user, {**self.context, **stated}, conversation=conversation)


class Tokens:
    """The accepted tokens, compared by their hashes in constant time."""

    def __init__(
        self, known: Sequence[TokenSettings] = (), *, own: str | None = None, caller: Caller
    ) -> None:
        """Load the tokens of the settings, and `own`, the token of `caller`, if there is one."""
        self._passes = {token.sha256: Pass(token.user, token.context) for token in known}
        if own is not None:
            allowed = {fact: (value,) for fact, value in caller.context.items()}
            whole = Pass(caller.user, allowed, caller.context, operator=True)
            self._passes[digest_of(own)] = whole

    def find(self, authorization: str | None) -> Pass | None:
        """Return the pass of an `Authorization` header; None if it has no valid token."""
        if authorization is None or not authorization.lower().startswith(SCHEME):
            return None
        return self.of(authorization[len(SCHEME) :].strip())

    def of(self, token: str) -> Pass | None:
        """Return the pass of a token; None if it isn't valid."""
        given = digest_of(token)
        found = None
        for digest, known in self._passes.items():
            if hmac.compare_digest(digest, given):
                found = known
        return found


def fresh_token() -> str:
    """Return a new random token for one server process."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return the hex SHA-256 of a token; only this hash is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
