"""The operations on replies and confirmations: handle a model's reply, decide on calls."""

from typing import Any, Literal

from pydantic import Field

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Number, Operation, Text
from toolmd._http.api.rights import allows, not_permitted
from toolmd._http.api.tools import answered
from toolmd._types.result import Result
from toolmd._workspace import Workspace
from toolmd._workspace.runs import PAGE
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
            Operation("GET", "/api/pending", "listPending",
                      "List the pending calls, the oldest first.", self._pending, "Confirmations",
                      problems=(400, 404), query=(LIMIT, AFTER)),
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
        confirmations, after = self._workspace.confirmations, asked.text(AFTER.name)
        try:
            pending = await confirmations.pending(
                user=asked.theirs,
                limit=asked.numbers[LIMIT.name],
                after=after,
            )
        except NotFoundError as error:
            raise ApiError(404, "confirmation_not_found", str(error)) from None
        return [one.to_dict() for one in pending]

    async def _decide(self, asked: ApiRequest) -> Any:
        return answered(await self._decided(asked, asked.body))

    async def _decided(self, asked: ApiRequest, body: DecisionBody) -> Result:
        confirmations, user = self._workspace.confirmations, await self._deciding(asked)
        by = asked.caller.user
        for decision, key, given in (("edit", "edit", body.edit), ("respond", "text", body.text)):
            if given is not None and body.decision != decision:
                detail = f"{body.decision} takes no `{key}`: leave it out, or decide otherwise"
                raise ApiError(400, "malformed_request", detail)
        match body.decision:
            case "reject":
                return await confirmations.reject(asked.name, user=user, by=by)
            case "respond":
                if not body.text:
                    raise ApiError(400, "malformed_request", "respond needs a text")
                return await confirmations.respond(asked.name, body.text, user=user, by=by)
            case "edit":
                if not body.edit:
                    raise ApiError(400, "malformed_request", "edit needs the changed arguments")
                return await confirmations.approve(asked.name, body.edit, user=user, by=by)
            case _:
                return await confirmations.approve(asked.name, user=user, by=by)

    async def _deciding(self, asked: ApiRequest) -> str | None:
        """Return the user who decides; None for an operator, who decides on the calls of others.

        Raises ApiError if the token may not. Nobody approves a review of their own call.
        """
        user, rights = asked.caller.user, asked.rights
        try:
            confirmation = await self._workspace.confirmations.get(asked.name)
        except UnreachableError:
            return user  # the decision itself is denied then
        if confirmation is not None and confirmation.call.caller.user == user:
            # Without a user, the core would take them for an operator.
            operates = user is None and confirmation.kind == "review"
            if not allows(needs := "decide and operate" if operates else "decide", rights):
                raise not_permitted(needs, rights)
            return user
        if "operate" not in rights:
            raise ApiError(404, "confirmation_not_found", "no such call is pending for you")
        return None


LIMIT = Number("limit", "The most calls to list; a shorter list is the last page.", PAGE, 1, 1000)
AFTER = Text("after", "The id of the last call of the previous page.")
DECIDE = (
    "A pending call is decided once: a second decision returns `confirmation_used`. An edit"
    " counts as approval, except for critical tools, which need another confirmation. If the tool"
    " has changed, the result is `confirmation_stale`, with a new prompt."
)
