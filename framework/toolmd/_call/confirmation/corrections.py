"""Replace the pending calls that a new call corrects."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._call.result.outcome import REPLACES
from toolmd._store.confirmations import ConfirmationStore
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import Confirmation
from toolmd._types.schema import Schema


def add_replacing(
    store: ConfirmationStore, call_spec: ToolCallSpec, confirmation: Confirmation
) -> tuple[str, ...]:
    """Store a confirmation, and end the one whose call it corrects; return the ended id, if any."""
    call = confirmation.call
    replaced: tuple[str, ...] = ()
    if call.caller.conversation is not None and not call.is_of_a_run and call.asked is None:
        old = _corrected(call_spec, call, store.pending(confirmation.created, call.tool))
        if old is not None and store.claim(old.id, "superseded", confirmation.created):
            replaced = (old.id,)
    notes = (*confirmation.notes, *map(REPLACES.format, replaced))
    store.add(confirmation._replace(notes=notes))
    return replaced


def _corrected(
    call_spec: ToolCallSpec, call: Call, pending: Iterable[Confirmation]
) -> Confirmation | None:
    """Return the pending call that this call corrects, or None.

    A correction has the same tool, user and conversation, comes later in it, keeps what the call
    is about and changes something else. What a call is about are its required texts, such as a
    title or a list of names; a call of a tool without any keeps some other required argument.
    Of several, the most similar one is meant; where two are as similar, none is.
    """
    arguments = call.arguments
    assert isinstance(arguments, Mapping)
    required = [parameter for parameter in call_spec.parameters if parameter.required]
    names = {p.name for p in required if _names_something(p.shape)} or {p.name for p in required}
    kept = [
        (_kept(arguments, one.call.arguments, names), one)
        for one in pending
        if _comes_before(one, call)
    ]
    most = max((count for count, _ in kept), default=0)
    similar = [one for count, one in kept if count == most]
    return similar[0] if most and len(similar) == 1 else None


def _comes_before(one: Confirmation, call: Call) -> bool:
    """Return whether a pending call is of an earlier message of the same conversation."""
    before = one.call
    return (
        one.kind == "confirm"
        and one.state == "pending"
        and not before.is_of_a_run
        and before.asked is None
        and (before.tool, before.caller.user) == (call.tool, call.caller.user)
        and before.caller.conversation == call.caller.conversation
        # The calls of one reply or message belong together.
        and (before.reply is None or before.reply != call.reply)
        and not (call.caller.message and before.caller.message == call.caller.message)
    )


def _kept(new: Mapping[str, Any], old: Any, names: set[str]) -> int:
    """Return how many arguments a correction keeps; 0 if it is none."""
    every = new.keys() | old.keys()
    equal = {name for name in every if _text(new, name) == _text(old, name)}
    return len(equal) if equal & names and equal < every else 0


def _text(arguments: Mapping[str, Any], name: str) -> str:
    # As JSON text, where true is not 1.
    return json.dumps(arguments[name], sort_keys=True) if name in arguments else ""


def _names_something(shape: Schema) -> bool:
    if shape.items is not None:
        return _names_something(shape.items)
    return shape.types == ("string",) and shape.enum is None and shape.format is None
