"""Authentication in front of every interface on HTTP: Host, Origin, token and content type."""

from toolmd._auth.addresses import Addresses
from toolmd._auth.authentication import CALLER, RIGHTS, Authentication
from toolmd._auth.headers import PAGE_POLICY
from toolmd._auth.sessions import Sessions
from toolmd._auth.tokens import ALL_RIGHTS, Tokens, fresh_token

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
]
