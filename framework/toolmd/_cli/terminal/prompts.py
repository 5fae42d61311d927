"""Ask a person on the terminal about a pending call: approve, reject, edit or respond."""

import re
import sys
from collections.abc import Sequence
from typing import Any

from toolmd._cli.terminal.arguments import typed
from toolmd._cli.terminal.screen import err, printable, stdout
from toolmd._types.exchange import Decision
from toolmd._types.pending import PendingCall
from toolmd._types.schema import Parameter

WAYS = "(or key=value, or respond TEXT)"
_YES = {"y", "yes", "approve"}
_NO = {"", "n", "no", "reject"}


def ask_decision(pending: PendingCall, parameters: Sequence[Parameter]) -> Decision | None:
    """Return a person's decision; Enter rejects, and None means that the input ended."""
    while True:
        stdout().flush()
        sys.stderr.write(f"{printable(pending.prompt)} [y/N] {WAYS} ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            err()
            return None
        if (decision := decision_of(line.strip(), parameters)) is not None:
            return decision
        known = ", ".join(f"{parameter.name}=…" for parameter in parameters)
        err(f"help: y, n, respond TEXT{', or ' if known else ''}{known}")


def decision_of(said: str, parameters: Sequence[Parameter]) -> Decision | None:
    """Parse a decision; return None for any other words."""
    word, _, rest = said.partition(" ")
    match word.casefold():
        case yes if said.casefold() in _YES and yes:
            return Decision.approve()
        case no if said.casefold() in _NO and no == said.casefold():
            return Decision.reject()
        case "respond" if rest.strip():
            return Decision.respond(rest.strip())
        case _:
            changed = changes(rest if word == "edit" else said, parameters)
            return Decision.edit(changed) if changed else None


def changes(said: str, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Parse `key=value …` by the tool's parameters; a value extends up to the next key.

    Returns:
        The changed arguments; empty if the words have another form.
    """
    shapes = {parameter.name: parameter.shape for parameter in parameters}
    keys = "|".join(map(re.escape, sorted(shapes, key=len, reverse=True)))
    found = list(re.finditer(rf"(?:^|(?<=\s))({keys})=", said)) if keys else []
    if not found or found[0].start() != 0:
        return {}
    ends = [*(match.start() for match in found[1:]), len(said)]
    given: dict[str, Any] = {}
    for match, end in zip(found, ends, strict=True):
        if match[1] in given:
            return {}
        value = said[match.end() : end].strip()
        given[match[1]] = typed(_unquoted(value), shapes[match[1]])
    return given


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value
