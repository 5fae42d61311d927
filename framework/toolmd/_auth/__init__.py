"""Authentication in front of every interface on HTTP: Host, Origin, token and content type."""

from toolmd._auth.addresses import Addresses
from toolmd._auth.authentication import CALLER, OPERATOR, Authentication
from toolmd._auth.headers import PAGE_POLICY, SafeHeaders
from toolmd._auth.sessions import Sessions
from toolmd._auth.tokens import Tokens, fresh_token

__all__ = [
    "CALLER",
    "OPERATOR",
    "PAGE_POLICY",
    "Addresses",
    "Authentication",
    "SafeHeaders",
    "Sessions",
    "Tokens",
    "fresh_token",
]
