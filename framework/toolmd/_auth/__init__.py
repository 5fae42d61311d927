"""Authentication in front of every interface on HTTP: Host, Origin, token and content type."""

from collections.abc import Awaitable, Callable

from toolmd._auth.authentication import (
    CALLER,
    PAGE_POLICY,
    RIGHTS,
    Addresses,
    Authentication,
    problem,
)
from toolmd._auth.tokens import ALL_RIGHTS, Pass, Sessions, Tokens, fresh_token
from toolmd._types.settings import Settings
from toolmd.errors import ConfigError


def verifier(settings: Settings) -> Callable[[str], Awaitable[Pass]] | None:
    """Return what verifies JWTs; None if the settings name no issuer.

    Raises:
        ConfigError: PyJWT is not installed, or the table `[identity]` can't be used.
    """
    if not settings.identity.issuers:
        return None
    try:
        from toolmd._auth.issuers import Issuers
    except ModuleNotFoundError as error:
        remedy = "pip install 'toolmd[jwt]'"
        raise ConfigError(f"identity.issuers needs the extra `jwt`: {remedy}") from error
    return Issuers(settings.identity, root=settings.root).find


__all__ = [
    "ALL_RIGHTS",
    "CALLER",
    "PAGE_POLICY",
    "RIGHTS",
    "Addresses",
    "Authentication",
    "Sessions",
    "Tokens",
    "fresh_token",
    "problem",
    "verifier",
]
