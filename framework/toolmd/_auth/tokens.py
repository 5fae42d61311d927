"""Bearer tokens: each one names a user, its rights, and the context that its requests may state."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, get_args

from toolmd._types.call import NO_CONTEXT, Caller
from toolmd._types.settings import Right, TokenSettings

SCHEME = "bearer "
SHORTEST = 16
"""The fewest characters of a token; a shorter one could be guessed."""
ALL_RIGHTS: tuple[Right, ...] = get_args(Right)


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


def fresh_token() -> str:
    """Return a new random token."""
    return secrets.token_urlsafe(32)


def digest_of(token: str) -> str:
    """Return the hex SHA-256 of a token; only this hash is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
