"""The gate in front of every door on HTTP: who may come in, and as whom."""

from toolmark._gate.addresses import Addresses
from toolmark._gate.gate import CALLER, Gate
from toolmark._gate.tokens import Tokens, fresh_token

__all__ = ["CALLER", "Addresses", "Gate", "Tokens", "fresh_token"]
