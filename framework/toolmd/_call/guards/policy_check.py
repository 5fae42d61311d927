"""The type of a check of the policy."""

from collections.abc import Callable, Mapping
from typing import Any

from toolmd._types.call import Caller
from toolmd._types.verdict import Verdict

PolicyCheck = Callable[[float | None, Caller, Mapping[str, Any]], Verdict]
"""Checks a call by its confidence, its caller and its validated arguments."""
