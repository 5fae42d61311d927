"""The operations on replies and confirmations: handle a model's reply, decide on calls."""

from typing import Any, Literal

from pydantic import Field

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Operation
from toolmd._http.api.tools import answered
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd.errors import NotFoundError, UnreachableError


class ReplyBody(Body):
    """A model's reply."""

    reply: Any = Field(description="Text, or the provider's message as JSON.")
    dialect: str = Field("auto", description="`auto` detects it from the reply.")
    message: str = Field("", description="The user's own words, for the intent check.")
    dry_run: bool = Field(default=False, description="Run all checks, but not the tools.")


class DecisionBody(Body):
    """A person's decision on a pending call."""

    decision: Literal["approve", "confirm", "edit", "reject", "respond"] = Field(
        description="`approve`, `edit`, `reject` or `respond`; `confirm` means `approve`, as on the"
        " command line."
    )
    edit: dict[str, Any] | None = Field(
        None, description="The changed arguments, for `edit`; they are checked again."
    )
    text: str | None = Field(None, description="The answer in place of the tool, for `respond`.")


class Replies:
    """The operations on replies and decisions."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("POST", "/api/handle", "handleReply", "Run the calls of a model's reply.",
                      self._handle, "Turn", ReplyBody, (400, 404, 408, 413)),
            Operation("GET", "/api/pending", "listPending", "List the pending calls.",
                      self._pending, "Confirmations"),
            Operation("POST", "/api/pending/{id}", "decide", "Decide on a pending call.",
                      self._decide, "Result", DecisionBody, (400, 404, 408, 413),
                      details=DECIDE),
        )  # fmt: skip

    async def _handle(self, asked: ApiRequest) -> Any:
        body, caller = asked.body, asked.caller
        try:
            turn = await self._workspace.handle(
                body.reply,
                body.dialect,
                message=body.message,
                user=caller.user,
                context=caller.context,
                conversation=caller.conversation,
                dry_run=body.dry_run,
            )
        except NotFoundError as error:
            raise ApiError(404, "unknown_dialect", str(error)) from None
        return turn.to_dict()

    async def _pending(self, asked: ApiRequest) -> Any:
        confirmation = await self._workspace.confirmations.pending(user=asked.theirs)
        return [one.to_dict() for one in confirmation]

    async def _decide(self, asked: ApiRequest) -> Any:
        return answered(await self._decided(asked, asked.body))

    async def _decided(self, asked: ApiRequest, body: DecisionBody) -> Result:
        confirmations, user = self._workspace.confirmations, asked.theirs
        if user is not None and await self._is_anothers_review(asked.name, user):
            raise ApiError(404, "confirmation_not_found", "no such call is pending for you")
        match body.decision:
            case "reject":
                return await confirmations.reject(asked.name, user=user)
            case "respond":
                if not body.text:
                    raise ApiError(400, "malformed_request", "respond needs a text")
                return await confirmations.respond(asked.name, body.text, user=user)
            case "edit":
                if not body.edit:
                    raise ApiError(400, "malformed_request", "edit needs the changed arguments")
                return await confirmations.approve(asked.name, body.edit, user=user)
            case _:
                return await confirmations.approve(asked.name, body.edit, user=user)

    async def _is_anothers_review(self, confirmation_id: str, user: str) -> bool:
        """Check whether a call waits for an operator's review, and is not this user's own."""
        try:
            confirmation = await self._workspace.confirmations.get(confirmation_id)
        except UnreachableError:
            return False  # the decision itself is denied then
        if confirmation is None or confirmation.kind != "review":
            return False
        return confirmation.call.caller.user != user


DECIDE = (
    "A pending call is decided once: a second decision returns `confirmation_used`. An edit"
    " counts as approval, except for critical tools, which need another confirmation. If the tool"
    " has changed, the result is `confirmation_stale`, with a new prompt."
)
