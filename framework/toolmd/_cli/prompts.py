"""Ask a person on the terminal about a pending call: approve, reject, edit or respond."""

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from toolmd._cli.arguments import typed
from toolmd._cli.screen import err, printable, stdout
from toolmd._types.asked import fields_of
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Decision
from toolmd._types.schema import Parameter
from toolmd._validation import type_words

WAYS = "(or key=value, or respond TEXT)"
_YES = (
    "y|yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|perfect|approved?|confirm(?:ed)?"
    "|please do|go ahead|do (?:it|that)|(?:sounds|looks) good|that works|it is"
    "|that(?:'?s| is) (?:right|correct)|ja|genau|sí|si|claro|oui|d'accord|是|好"
)
_NO = (
    "n|no|nope|nah|not now|leave it|cancel(?: it)?|reject(?:ed)?|stop|don'?t(?: do it)?|do not"
    "|never ?mind|forget it|(?:that(?:'?s| is) )?wrong|incorrect|nein|non|不|不要"
)
_POLITE = "please|thanks|thank you|bitte|danke|gracias|merci|por favor"


def ask_decision(pending: Confirmation, parameters: Sequence[Parameter]) -> Decision | str | None:
    """Return a person's decision, or their words if these are none.

    Enter rejects, and None means that the input ended. Words answer what a server asks for.
    """
    stdout().flush()
    ways = WAYS if pending.form is None else _values_of(parameters)
    sys.stderr.write(f"{printable(pending.prompt)} [y/N] {ways} ")
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        err()
        return None
    said = line.strip()
    return decision_of(said, parameters) or (
        said if pending.form is None else Decision.respond(said)
    )


def decision_of(said: str, parameters: Sequence[Parameter]) -> Decision | None:
    """Parse a decision; return None for any other words."""
    if _says_only(said, _YES):
        return Decision.approve()
    if not said or _says_only(said, _NO):
        return Decision.reject()
    word, _, rest = said.partition(" ")
    if word.casefold() == "respond" and rest.strip():
        return Decision.respond(rest.strip())
    changed = changes(rest if word == "edit" else said, parameters)
    return Decision.edit(changed) if changed else None


def ask_values(prompt: str, form: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values of a form that a person types, field by field; None if the input ends."""
    err(printable(prompt))
    given: dict[str, Any] = {}
    for one in fields_of(form):
        default = f" [{printable(str(one.shape.default))}]" if one.shape.has_default else ""
        sys.stderr.write(f"{printable(one.name)} ({type_words(one.shape, '|')}){default}: ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            err()
            return None
        if line.strip():
            given[one.name] = typed(line.strip(), one.shape)
    return given


def _values_of(fields: Sequence[Parameter]) -> str:
    """Return how to write the values of a form: `(name=TEXT size=1|2)`."""
    told = (f"{one.name}={type_words(one.shape, '|')}" for one in fields)
    return f"({printable(' '.join(told))})"


def _says_only(said: str, words: str) -> bool:
    """Return whether words of one meaning are all that a person says: `Yes, that's correct!`."""
    plain = said.casefold().replace("\u2019", "'")
    between = r"[\s,.!;\u3002\uff0c]+"
    one = rf"(?:{words})"
    return (
        re.fullmatch(rf"{one}(?:{between}(?:{words}|{_POLITE}))*[\s.!\u3002]*", plain) is not None
    )


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
