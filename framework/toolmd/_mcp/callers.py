"""Who calls: the host says it, at the start or by its token; never a model's arguments."""

from typing import Any

from mcp.server.context import ServerRequestContext

from toolmd._auth import CALLER
from toolmd._types.call import Caller

RequestContext = ServerRequestContext[Any, Any]

MESSAGE = "toolmd/message"
"""Under a request's `_meta` a host may give the user's own words, in which intent is looked for."""

CONVERSATION = "toolmd/conversation"
"""And here its name for the conversation, whose calls Max Calls counts together; over HTTP the
header Toolmd-Conversation does as well."""


class FixedCaller:
    """One host on the other end of a pipe: the caller was named at the start."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, ctx: RequestContext) -> Caller:
        """Give the caller of a request."""
        return _told(self._caller, ctx)


def caller_by_token(ctx: RequestContext) -> Caller:
    """Give the caller of a request over HTTP, as the gate knew it; raises where it did not."""
    state = ctx.request.scope.get("state", {}) if ctx.request is not None else {}
    caller = state.get(CALLER)
    if not isinstance(caller, Caller):
        raise PermissionError("a request came in past the gate")
    return _told(caller, ctx)


def _told(caller: Caller, ctx: RequestContext) -> Caller:
    """Give the caller with what the host says of this one request."""
    meta = (ctx.params or {}).get("_meta")
    known = meta if isinstance(meta, dict) else {}
    said, conversation = known.get(MESSAGE), known.get(CONVERSATION)
    return caller._replace(
        message=said if isinstance(said, str) else "",
        conversation=conversation if isinstance(conversation, str) else caller.conversation,
    )
