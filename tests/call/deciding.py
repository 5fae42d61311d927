"""Decide on pending calls, as a person does."""

from collections.abc import Awaitable, Mapping
from typing import Any

from toolmd._call.confirmations import Confirmations
from toolmd._types.decision import Approver, Decision
from toolmd._types.result import EventListener, Result


def approve(
    calls: Confirmations,
    confirmation_id: str,
    *,
    edit: Mapping[str, Any] | None = None,
    user: str | None = None,
    by: str | None = None,
    on_event: EventListener | None = None,
) -> Awaitable[Result]:
    decision = Decision.edit(edit) if edit else Decision.approve()
    return calls.decide(confirmation_id, decision, Approver(user, by), on_event)


def reject(calls: Confirmations, confirmation_id: str, **who: Any) -> Awaitable[Result]:
    return calls.decide(confirmation_id, Decision.reject(), Approver(**who))


def respond(calls: Confirmations, confirmation_id: str, text: str, **who: Any) -> Awaitable[Result]:
    return calls.decide(confirmation_id, Decision.respond(text), Approver(**who))
