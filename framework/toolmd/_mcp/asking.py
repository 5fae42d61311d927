"""Ask the user for confirmations by the client's protocol; without a way to ask, deny."""

import json
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolmd._mcp.callers import Callers
from toolmd._types.call import Caller
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.result import EventListener, Failure, Result
from toolmd._types.schema import KEYWORDS, UPPER, Parameter, Schema
from toolmd._workspace import Workspace
from toolmd._workspace.results import changed, decide_for_model
from toolmd.errors import UnreachableError

FORMATS = frozenset(("email", "uri", "date", "date-time"))
"""The formats that the protocol's forms know."""
MULTI_SELECT_SINCE = "2025-11-25"
"""The first revision with forms that accept several values of an enum."""
_KINDS = ("string", "number", "integer", "boolean")
_BOUNDS = (*UPPER, *UPPER.values())
"""The keywords that the protocol's forms know."""


def form(
    parameters: tuple[Parameter, ...], arguments: Mapping[str, Any], version: str
) -> dict[str, Any]:
    """Return the form's schema, with the call's flat arguments as defaults.

    Sensitive values are only in the question: the protocol forbids them in a form. No field is
    required: an empty answer is a plain yes, and clients validate what their users answer.
    """
    fields = {
        parameter.name: field
        for parameter in parameters
        if parameter.name in arguments
        and (field := _field(parameter, arguments[parameter.name], version)) is not None
    }
    return {"type": "object", "properties": fields}


def form_for_words(name: str) -> dict[str, Any]:
    """Return the form for a skill's question; an empty answer is a plain yes."""
    return {"type": "object", "properties": {name: {"type": "string", "title": _title(name)}}}


def _field(parameter: Parameter, value: Any, version: str) -> dict[str, Any] | None:
    shape = parameter.shape
    if shape.sensitive or len(shape.types) != 1:
        return None
    texts = {"title": _title(parameter.name)}
    if shape.description:
        texts["description"] = shape.description
    if (kind := shape.types[0]) == "array":
        choices = _choices(shape.items) if shape.items is not None else None
        if choices is None or version < MULTI_SELECT_SINCE:
            return None
        items = {"type": "string", "enum": choices}
        return {"type": "array", **texts, "items": items, "default": value}
    if kind not in _KINDS:
        return None
    bounds = {
        KEYWORDS[name].word: bound
        for name in _BOUNDS
        if kind in KEYWORDS[name].fits and (bound := getattr(shape, name)) is not None
    }
    field = {"type": kind, **texts, **bounds, "default": value}
    if kind == "string" and (choices := _choices(shape)):
        field["enum"] = choices
    elif shape.format in FORMATS:
        field["format"] = shape.format
    return field


def _title(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").capitalize()


def _choices(shape: Schema) -> list[str] | None:
    if shape.types == ("string",) and shape.enum and all(isinstance(v, str) for v in shape.enum):
        return [str(value) for value in shape.enum]
    return None


KEY = "confirm"
"""The name of a result's input request; a skill's question uses its own name instead."""
ANSWER_S = 600.0
"""The time for a person's answer, in seconds: as long as a pending call may be approved."""
MAX_ROUNDS = 8
"""The most questions of one request in the old protocol, against forms that never fit."""

MAY_NOT = (
    "This host's token may not decide. A person decides with a token that may, or with"
    " `toolmd confirm {0}`."
)
CANNOT_ASK = (
    "This client can't show its user a form. Ask the user to decide by `toolmd confirm {0}` or in"
    " the console, and do not call the tool again."
)


class Asking:
    """The dialogue about pending calls; the workspace decides on the answers."""

    def __init__(self, workspace: Workspace, who: Callers) -> None:
        self._workspace = workspace
        self._who = who

    async def through(
        self,
        ctx: ServerRequestContext[Any, Any],
        result: Result,
        caller: Caller,
        on_event: EventListener,
    ) -> Result | InputRequiredResult:
        """Ask as long as the result waits for the user, if the client can ask them.

        Args:
            ctx: The request.
            result: The call's result.
            caller: The caller of the request.
            on_event: Receives the events of a call that the user approves.
        """
        for _ in range(MAX_ROUNDS):
            pending = await self._pending(result)
            if pending is None:
                break
            if not can_ask(ctx):
                return result._replace(notes=(*result.notes, CANNOT_ASK.format(pending.id)))
            if not self._who.may_decide(ctx):
                return result._replace(notes=(*result.notes, MAY_NOT.format(pending.id)))
            error = result.error
            message = pending.prompt if error is None else f"{error.message}\n\n{pending.prompt}"
            if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return self._required(ctx, pending, message)
            answer = await self._elicited(ctx, pending, message)
            if answer is None or answer.action == "cancel":
                # What was wrong in the form is no fault of the model's call.
                return result if error is None else _unanswered(pending)
            result = await self.decide(pending, answer, caller, on_event)
        return result

    async def resume(
        self,
        ctx: ServerRequestContext[Any, Any],
        state: str,
        responses: Mapping[str, object],
        caller: Caller,
        on_event: EventListener,
    ) -> Result | InputRequiredResult:
        """Continue when the client returns with an answer, or without one.

        Args:
            ctx: The request.
            state: The state that was sent with the question.
            responses: The answers by question.
            caller: The caller of the request.
            on_event: Receives the events of a call that the user approves.
        """
        confirmation_id = str(json.loads(state)["confirmation"])
        pending = await self._waiting(confirmation_id)
        if pending is None:
            return _gone(confirmation_id)
        response = responses.get(_key(pending))
        if not self._who.may_decide(ctx):
            return _unanswered(pending)
        if not isinstance(response, ElicitResult):
            return self._required(ctx, pending, pending.prompt)
        if response.action == "cancel":
            return _unanswered(pending)
        result = await self.decide(pending, response, caller, on_event)
        return await self.through(ctx, result, caller, on_event)

    async def decide(
        self, pending: Confirmation, answer: ElicitResult, caller: Caller, on_event: EventListener
    ) -> Result:
        """Apply the user's answer, and return what the model reads; an edit is checked again.

        Args:
            pending: The call that waits.
            answer: The user's answer.
            caller: The caller of the request.
            on_event: Receives the events of the call if the user approves it.
        """
        if answer.action != "accept":
            decision = Decision.reject()
        elif words := _words(pending, answer):
            decision = Decision.respond(words)
        else:  # An empty answer is a plain yes.
            edit = changed({} if pending.form else pending.parameters, answer.content or {})
            decision = Decision.edit(edit) if edit else Decision.approve()
        confirmations, results = self._workspace.confirmations, self._workspace.results
        return await decide_for_model(
            confirmations, results, pending, decision, Approver.of(caller), on_event
        )  # fmt: skip

    async def _pending(self, result: Result) -> Confirmation | None:
        if result.outcome != "confirm" or result.confirmation is None:
            return None
        return await self._waiting(result.confirmation.id)

    async def _waiting(self, confirmation_id: str) -> Confirmation | None:
        """Return a pending call as its caller sees it, whose dialogue this is."""
        try:
            confirmation = await self._workspace.confirmations.get(confirmation_id)
        except UnreachableError:
            return None  # the store can't be read: do not ask, the call stays pending
        if confirmation is None or confirmation.state != "pending":
            return None
        return confirmation.opened()

    def _form(self, ctx: ServerRequestContext[Any, Any], pending: Confirmation) -> dict[str, Any]:
        if pending.saves is not None:
            return form_for_words(pending.saves)
        if pending.form is not None:
            return dict(pending.form)
        bound = self._workspace.tools.get(pending.tool)
        parameters = () if bound is None else bound.spec.parameters
        return form(parameters, pending.parameters, ctx.protocol_version)

    def _required(
        self, ctx: ServerRequestContext[Any, Any], pending: Confirmation, message: str
    ) -> InputRequiredResult:
        params = ElicitRequestFormParams(message=message, requested_schema=self._form(ctx, pending))
        # The SDK's boundary seals the state, and binds it to this call and caller.
        state = json.dumps({"confirmation": pending.id})
        return InputRequiredResult(
            input_requests={_key(pending): ElicitRequest(params=params)}, request_state=state
        )

    async def _elicited(
        self, ctx: ServerRequestContext[Any, Any], pending: Confirmation, message: str
    ) -> ElicitResult | None:
        try:
            with anyio.fail_after(ANSWER_S):
                return await ctx.session.elicit_form(
                    message, self._form(ctx, pending), related_request_id=ctx.request_id
                )
        except (MCPError, ValidationError, TimeoutError):
            # No answer, or one that is not valid, is not a confirmation.
            return None


def can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Check whether the client can show its user a form."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False
    # In the first revisions, an empty object stands for forms.
    return elicitation.form is not None or elicitation.url is None


def _key(pending: Confirmation) -> str:
    return pending.saves or KEY


def _words(pending: Confirmation, answer: ElicitResult) -> str | None:
    """Return the text that a run stores; None if the person only agreed."""
    if pending.saves is None:
        return None
    text = (answer.content or {}).get(pending.saves)
    return text if isinstance(text, str) and text.strip() else None


def _gone(confirmation_id: str) -> Result:
    message = "This call is not pending any more: call the tool again."
    failure = Failure("confirmation_not_found", message)
    return _denied(confirmation_id, failure, None)


def _unanswered(pending: Confirmation) -> Result:
    return _denied(pending.tool, None, pending)


def _denied(tool: str, failure: Failure | None, confirmation: Confirmation | None) -> Result:
    return Result(
        success=False,
        tool=tool,
        outcome="denied" if confirmation is None else "confirm",
        error=failure,
        confirmation=confirmation,
    )
