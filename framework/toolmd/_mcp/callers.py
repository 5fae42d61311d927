"""Find the caller of a request: set at the start or by the token, never by a model."""

from typing import Any

from mcp.server.context import ServerRequestContext

from toolmd._auth import CALLER
from toolmd._types.call import Caller

RequestContext = ServerRequestContext[Any, Any]

MESSAGE = "toolmd/message"
"""The key of a request's `_meta` for the user's own words, which the intent check reads."""

CONVERSATION = "toolmd/conversation"
"""The key of `_meta` for the conversation's name; Max Calls counts its calls together. Over HTTP,
the header Toolmd-Conversation works as well."""


class FixedCaller:
    """The caller of a host on stdio, set at the start."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request."""
        return _told(self._caller, ctx)


def caller_by_token(ctx: RequestContext) -> Caller:
    """Return the authenticated caller of a request over HTTP; raise PermissionError if none."""
    state = ctx.request.scope.get("state", {}) if ctx.request is not None else {}
    caller = state.get(CALLER)
    if not isinstance(caller, Caller):
        raise PermissionError("the request was not authenticated")
    return _told(caller, ctx)


def _told(caller: Caller, ctx: RequestContext) -> Caller:
    """Return the caller with the host's statements about this request."""
    meta = (ctx.params or {}).get("_meta")
    known = meta if isinstance(meta, dict) else {}
    said, conversation = known.get(MESSAGE), known.get(CONVERSATION)
    return caller._replace(
        message=said if isinstance(said, str) else "",
        conversation=conversation if isinstance(conversation, str) else caller.conversation,
    )
