"""Report what an exchange with a model came to."""

import sys
from typing import Any

from toolmd._cli.terminal.exits import ExitCode
from toolmd._cli.terminal.screen import err, paint, printable

_STOPS = {
    "rounds": "the model called tools too many times without an answer",
    "calls": "the model asked for more calls than one exchange may make",
    "malformed": "the model's calls could not be read, even after error messages",
    "length": "the answer reached the model's token limit",
    "content_filter": "the model's provider filtered the answer",
}


def tell(exchange: Any) -> None:
    """Write to stderr what the answer does not show."""
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
    if exchange.pending:
        return ExitCode.UNCONFIRMED
    return ExitCode.FINDINGS if exchange.stopped else ExitCode.DONE
