"""The gate in front of every door on HTTP: who may come in, and as whom."""

from toolmd._gate.addresses import Addresses
from toolmd._gate.gate import CALLER, OPERATOR, Gate
from toolmd._gate.headers import PAGE_POLICY, SafeHeaders
from toolmd._gate.sessions import Sessions
from toolmd._gate.tokens import Tokens, fresh_token

__all__ = [
    "CALLER",
    "OPERATOR",
    "PAGE_POLICY",
    "Addresses",
    "Gate",
    "SafeHeaders",
    "Sessions",
    "Tokens",
    "fresh_token",
]
