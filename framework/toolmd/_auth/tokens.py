"""Bearer tokens: each stands for a user, and for the facts that its requests may state."""

import hashlib
import hmac
import secrets
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from toolmd._types.call import NO_CONTEXT, Caller
from toolmd._types.settings import TokenSettings

SCHEME = "bearer "
SHORTEST = 16
"""Characters; a shorter token could be guessed."""


class Pass(NamedTuple):
    """Whom a token stands for."""

    user: str | None
    allowed: Mapping[str, tuple[str, ...]] = {}
    """The values that a request may state, by fact."""
    context: Mapping[str, str] = NO_CONTEXT
    """The facts of a request that states none."""
    operator: bool = False
    """Whether it is whoever started the server, who looks after all that is in it."""

    def caller(self, stated: Mapping[str, str], conversation: str | None = None) -> Caller | None:
        """Return the caller of a request that states these facts; None where it may not."""
        if any(value not in self.allowed.get(fact, ()) for fact, value in stated.items()):
            return None
        return Caller(self.user, {**self.context, **stated}, conversation=conversation)


class Tokens:
    """The tokens that open the gate; compared by their hashes, in one and the same time."""

    def __init__(
        self, known: Sequence[TokenSettings] = (), *, own: str | None = None, caller: Caller
    ) -> None:
        """Take those of the settings, and `own`, which stands for `caller`."""
        self._passes = {token.sha256: Pass(token.user, token.context) for token in known}
        if own is not None:
            allowed = {fact: (value,) for fact, value in caller.context.items()}
            whole = Pass(caller.user, allowed, caller.context, operator=True)
            self._passes[digest_of(own)] = whole

    def find(self, authorization: str | None) -> Pass | None:
        """Give whom the header `Authorization` stands for; None for nobody."""
        if authorization is None or not authorization.lower().startswith(SCHEME):
            return None
        return self.of(authorization[len(SCHEME) :].strip())

    def of(self, token: str) -> Pass | None:
        """Give whom a token stands for; None for nobody."""
        given = digest_of(token)
        found = None
        for digest, known in self._passes.items():
            if hmac.compare_digest(digest, given):
                found = known
        return found


def fresh_token() -> str:
    """Make a token for one start."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Give the hex SHA-256 of a token, which is all that is kept of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
