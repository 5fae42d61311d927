"""Ask a person on the terminal about a pending call: approve, reject, edit or respond."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._cli.arguments import convert, convert_arguments
from toolmd._cli.screen import err, printable, stdout
from toolmd._types.asked import fields_of
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Decision
from toolmd._types.schema import Parameter
from toolmd._validation import type_words


def ask_decision(pending: Confirmation, parameters: Sequence[Parameter]) -> Decision | str | None:
    """Return a person's decision, or their words if these are none.

    Enter rejects, and None means that the input ended. Words answer what a server asks for.
    """
    ways = "(or key=value, or respond TEXT)"
    if pending.form is not None:
        fields = (f"{one.name}={type_words(one.shape, '|')}" for one in parameters)
        ways = f"({printable(' '.join(fields))})"
    words = _answer(f"{printable(pending.prompt)} [y/N] {ways} ")
    if words is None:
        return None
    return _decision(words, parameters, pending.prompt) or (
        words if pending.form is None else Decision.respond(words)
    )


def _decision(words: str, parameters: Sequence[Parameter], question: str) -> Decision | None:
    """Return the decision of a person's words; None for any other words."""
    plain = Decision.from_words(words, question) if words else Decision.reject()
    if plain is not None:
        return plain
    first, _, rest = words.partition(" ")
    if first.casefold() == "respond" and rest.strip():
        return Decision.respond(rest.strip())
    try:
        # As on the command line: a value with a space stands in quotation marks.
        changes = convert_arguments(shlex.split(rest if first == "edit" else words), parameters)
    except ValueError:
        return None
    known = {parameter.name for parameter in parameters}
    return Decision.edit(changes) if changes and changes.keys() <= known else None


def ask_values(prompt: str, form: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values of a form that a person types, field by field; None if the input ends."""
    err(printable(prompt))
    given: dict[str, Any] = {}
    for one in fields_of(form):
        default = f" [{printable(str(one.shape.default))}]" if one.shape.has_default else ""
        line = _answer(f"{printable(one.name)} ({type_words(one.shape, '|')}){default}: ")
        if line is None:
            return None
        if line:
            given[one.name] = convert(line, one.shape)
    return given


def _answer(question: str) -> str | None:
    """Return the line that a person types; None if the input ends."""
    stdout().flush()
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        err()
        return None
    return line.strip()
