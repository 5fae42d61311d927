"""Find the pending call that a later one repeats or corrects, and end it."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from toolmd._store.confirmations import ConfirmationStore
from toolmd._types.approval import OPERATOR_GROUP
from toolmd._types.call import Call
from toolmd._types.call_spec import ToolCallSpec
from toolmd._types.confirmation import Confirmation
from toolmd._types.schema import Parameter, Schema, plain_numbers

REPLACES = "It replaces the pending call {}, which it corrects."


def add_replacing(
    store: ConfirmationStore, call_spec: ToolCallSpec, one: Confirmation
) -> Confirmation:
    """Store a confirmation, and end the one whose call it corrects; return it as it is stored.

    A repeated call waits for the confirmation that is there already, with the newest words.
    """
    call = one.call
    same = identity_of(one)
    if same is not None and (known := store.find_same(same, one.created)) is not None:
        # The same call, asked with the user's newest words.
        asked = known.call._replace(caller=call.caller)
        newest = known._replace(call=asked, prompt=one.prompt, plain=one.plain, words=one.words,
                                code=one.code, reason=one.reason)  # fmt: skip
        if known.kind == one.kind and newest != known and store.advance(newest, known, one.created):
            known = newest
        return known._replace(call=known.call._replace(id=call.id))
    if same is not None and call.caller.conversation is not None:
        old = find_corrected(
            call_spec, call, store.pending(one.created, call.tool, user=call.caller.user)
        )
        if old is not None and store.claim(old.id, "superseded", one.created):
            notes = (*one.notes, REPLACES.format(old.id))
            one = one._replace(replaces=(old.id,), notes=notes)
    stored = store.add(one, same)
    return stored._replace(call=stored.call._replace(id=call.id))


def end_corrected(
    store: ConfirmationStore, call_spec: ToolCallSpec, call: Call, now: float
) -> str | None:
    """End the pending call that a call which ran corrects or repeats; return its id.

    An Approval that one of several approvers gave ends only if the call is about the same.
    """
    waiting = [*store.pending(now, call.tool, user=call.caller.user)]
    old = find_corrected(call_spec, call, waiting, repeats=True)
    if old is None or (old.approved and not is_about_the_same(call_spec, call, old)):
        return None
    return old.id if store.claim(old.id, "superseded", now) else None


def identity_of(one: Confirmation) -> str | None:
    """Return what identical calls have in common: one decision is for all of them.

    None for a call of a run, and for one whose server asks: they wait for themselves.
    """
    call, caller = one.call, one.call.caller
    if call.is_of_a_run or call.asked is not None:
        return None
    # The arguments, the tool and its policy are in `bound_to`.
    whose = [caller.user, caller.roles, caller.via, caller.conversation, caller.crisis]
    said = json.dumps([one.kind, one.bound_to, whose, sorted(caller.context.items())])
    return hashlib.sha256(said.encode()).hexdigest()


def find_corrected(
    call_spec: ToolCallSpec, call: Call, pending: Iterable[Confirmation], *, repeats: bool = False
) -> Confirmation | None:
    """Return the pending call that this call corrects, or with `repeats` repeats; else None.

    A correction has the same tool, user and conversation, comes later in it, keeps what the call
    is about and changes something else. What a call is about are its required texts, such as a
    title or a list of names; a call of a tool without any keeps some other required argument, and
    where none is required, any that is no default. Of several, the most similar one is meant;
    where two are as similar, none is.
    """
    arguments, names = call.arguments, _identifying(call_spec, call)
    assert isinstance(arguments, Mapping)
    kept = [
        (_count_kept(arguments, one.call.arguments, names, repeats=repeats), one)
        for one in pending
        if _comes_before(one, call)
    ]
    most = max((count for count, _ in kept), default=0)
    similar = [one for count, one in kept if count == most]
    return similar[0] if most and len(similar) == 1 else None


def is_about_the_same(call_spec: ToolCallSpec, call: Call, one: Confirmation) -> bool:
    """Return whether a call has all identifying arguments of a pending one."""
    new, old = call.arguments, one.call.arguments
    return all(text_of(new, n) == text_of(old, n) for n in _identifying(call_spec, call))


def _identifying(call_spec: ToolCallSpec, call: Call) -> set[str]:
    """Return the names of the arguments that say what a call is about."""
    every = call_spec.parameters
    required = [parameter for parameter in every if parameter.required]
    texts = {p.name for p in required if _names_something(p.shape)}
    return texts or {p.name for p in required or every if not _is_default(call.arguments, p)}


def _comes_before(one: Confirmation, call: Call) -> bool:
    """Return whether a pending call is of an earlier message of the same conversation."""
    before = one.call
    return (
        # The review of a crisis or a guard is an operator's to end.
        (one.kind == "confirm" or is_approval(one))
        and one.state == "pending"
        and not before.is_of_a_run
        and before.asked is None
        and (before.tool, before.caller.user) == (call.tool, call.caller.user)
        and before.caller.conversation == call.caller.conversation
        # The calls of one reply or message belong together.
        and (before.reply is None or before.reply != call.reply)
        and not (call.caller.message and before.caller.message == call.caller.message)
    )


def _count_kept(new: Mapping[str, Any], old: Any, names: set[str], *, repeats: bool) -> int:
    """Return how many arguments a correction keeps; 0 if it is none."""
    every = new.keys() | old.keys()
    equal = {name for name in every if text_of(new, name) == text_of(old, name)}
    if equal == every:
        return len(equal) + repeats if repeats else 0
    return len(equal) if equal & names else 0


def text_of(arguments: Any, name: str) -> str:
    # As JSON text, where true is not 1, and 2.0 is 2.
    if name not in arguments:
        return ""
    try:
        return json.dumps(plain_numbers(arguments[name]), sort_keys=True)
    except (TypeError, ValueError):
        return repr(arguments[name])  # A run's Python may pass anything; the checks deny it.


def is_approval(one: Confirmation) -> bool:
    """Return whether a call waits for nothing but the approvals of its file."""
    numbers = [each.number for each in one.approvals]
    return bool(numbers) and OPERATOR_GROUP not in numbers


def _is_default(arguments: Any, parameter: Parameter) -> bool:
    name, shape = parameter.name, parameter.shape
    default = {name: shape.default} if shape.has_default else {}
    return text_of(arguments, name) == text_of(default, name)


def _names_something(shape: Schema) -> bool:
    if shape.items is not None:
        return _names_something(shape.items)
    return shape.types == ("string",) and shape.enum is None and shape.format is None
