"""The gate in front of every door on HTTP: who may come in, and as whom."""

from toolmark._gate.addresses import Addresses
from toolmark._gate.gate import CALLER, OPERATOR, Gate
from toolmark._gate.headers import PAGE_POLICY, SafeHeaders
from toolmark._gate.sessions import Sessions
from toolmark._gate.tokens import Tokens, fresh_token

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
