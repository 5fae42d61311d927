"""The state and the use of an exchange, and when it reaches its limits."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from toolmd._types.exchange import Exchange, Stop
from toolmd._types.pending import PendingCall
from toolmd._types.result import Result
from toolmd._types.settings import ChatSettings, PriceSettings
from toolmd._types.usage import Usage

_MILLION = 1_000_000
_MOST = 10**12
"""The most tokens that one answer may state; more is no figure."""


def counted(so_far: Usage, told: Any, price: PriceSettings | None) -> Usage:
    """Return the usage after one more request; `told` is the `usage` of its answer, if any."""
    told = told if isinstance(told, dict) else {}
    given, written = _tokens(told, "prompt_tokens"), _tokens(told, "completion_tokens")
    cost = _stated_cost(told)
    if given is None or written is None:
        given = written = cached = 0
        unreported = 1
    else:
        unreported = 0
        cached = min(_tokens(told.get("prompt_tokens_details"), "cached_tokens") or 0, given)
        if cost is None and price is not None:
            of_cached = price.input if price.cached is None else price.cached
            parts = (given - cached) * price.input + cached * of_cached + written * price.output
            cost = parts / _MILLION
    return Usage(
        requests=so_far.requests + 1,
        unreported=so_far.unreported + unreported,
        input_tokens=so_far.input_tokens + given,
        cached_tokens=so_far.cached_tokens + cached,
        output_tokens=so_far.output_tokens + written,
        cost=None if cost is None or so_far.cost is None else so_far.cost + cost,
    )


def reached(usage: Usage, chat: ChatSettings) -> Stop:
    """Return the limit that forbids another request; empty if there is none."""
    if chat.max_tokens is not None and usage.tokens >= chat.max_tokens:
        return "max_tokens"
    if chat.max_cost is None:
        return ""
    if usage.cost is None:
        return "unknown_cost"
    return "max_cost" if usage.cost >= chat.max_cost else ""


def _tokens(told: Any, name: str) -> int | None:
    count = told.get(name) if isinstance(told, dict) else None
    return count if type(count) is int and 0 <= count <= _MOST else None


def _stated_cost(told: dict[str, Any]) -> float | None:
    """Return the provider's own figure, as OpenRouter states it.

    With a key of one's own there, the provider behind it charges its part separately.
    """
    cost = _dollars(told.get("cost"))
    if cost is None or told.get("is_byok") is not True:
        return cost
    details = told.get("cost_details")
    behind = details.get("upstream_inference_cost") if isinstance(details, dict) else None
    more = _dollars(behind)
    return None if more is None else cost + more


def _dollars(value: Any) -> float | None:
    if type(value) not in {int, float} or not 0 <= value <= _MOST or not isfinite(value):
        return None
    return float(value)


@dataclass(slots=True)
class Work:
    """The state of one exchange."""

    text: str = ""
    said: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    pending: list[PendingCall] = field(default_factory=list)
    rounds: int = 0
    value: Any = None

    def exchange(self, stopped: Stop, usage: Usage, *, crisis: bool) -> Exchange:
        """Return the exchange as it ended; `usage` is that of the conversation so far."""
        return Exchange(
            text=self.text,
            said=tuple(self.said),
            results=tuple(self.results),
            pending=tuple(self.pending),
            crisis=crisis,
            stopped=stopped,
            rounds=self.rounds,
            usage=usage,
            value=self.value,
        )
