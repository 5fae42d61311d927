"""Report what an exchange with a model came to."""

import sys
from typing import Any

from toolmd._cli.frame import ExitCode
from toolmd._cli.screen import counted, err, paint, printable

_STOPS = {
    "rounds": "the model called tools too many times without an answer",
    "calls": "the model asked for more calls than one exchange may make",
    "malformed": "the model's calls could not be read, even after error messages",
    "schema": "the model's answer did not follow the schema, even after error messages",
    "length": "the answer reached the model's token limit",
    "content_filter": "the model's provider filtered the answer",
    "max_tokens": "the conversation reached its max_tokens; raise it in [chat] of the settings",
    "max_cost": "the conversation reached its max_cost; raise it in [chat] of the settings",
    "unknown_cost": "the provider does not state what its answers cost, so max_cost can't be"
    " checked; write the model's prices into [chat.prices], or take max_cost out",
}
LIMITS = frozenset(("max_tokens", "max_cost", "unknown_cost"))
"""The limits of a conversation: after them nothing more is sent."""


def tell(exchange: Any, *, limited: bool) -> None:
    """Write to stderr what the answer does not show; `limited` where usage has a limit."""
    if used := _used(exchange.usage, limited=limited):
        err(f"{paint('usage', 'dim', sys.stderr)}: {used}")
    if exchange.crisis:
        words = "this conversation has a crisis flag: a person should read it"
        err(f"{paint('crisis', 'red', sys.stderr)}: {words}")
    for confirmation in exchange.pending:
        waits = "for review" if confirmation.kind == "review" else "for a confirmation"
        err(f"{paint('waits', 'cyan', sys.stderr)} {waits}: {printable(confirmation.prompt)}")
        err(f"help: toolmd confirm {confirmation.id}, or reject, or respond with a text")
    if exchange.stopped:
        err(f"{paint('stopped', 'yellow', sys.stderr)}: {_STOPS[exchange.stopped]}")


def exit_code(exchange: Any) -> ExitCode:
    """Return the exit code of a command with this exchange."""
    if exchange.stopped in LIMITS:
        return ExitCode.DENIED
    if exchange.pending:
        return ExitCode.UNCONFIRMED
    return ExitCode.FINDINGS if exchange.stopped else ExitCode.DONE


def _used(usage: Any, *, limited: bool) -> str:
    """Format what a conversation used; empty where the provider states nothing."""
    parts = []
    if usage.requests > usage.unreported:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        parts = [f"{usage.input_tokens:,} tokens in{cached}", f"{usage.output_tokens:,} out"]
    if usage.requests and usage.cost is not None:
        parts.append(f"${usage.cost:.6f}")
    if usage.unreported and (parts or limited):
        parts.append(f"nothing stated for {counted(usage.unreported, 'request')}")
    return ", ".join(parts)
