"""Authentication in front of every interface on HTTP: Host, Origin, token and content type."""

from toolmd._auth.authentication import (
    CALLER,
    PAGE_POLICY,
    RIGHTS,
    Addresses,
    Authentication,
    problem,
)
from toolmd._auth.tokens import ALL_RIGHTS, Sessions, Tokens, fresh_token

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
]
