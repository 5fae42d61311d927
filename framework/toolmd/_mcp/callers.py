"""Find the caller of a request: set at the start or by the token, never by a model."""

from collections.abc import Mapping
from typing import Any, Protocol

from mcp.server.context import ServerRequestContext

from toolmd._auth import CALLER, RIGHTS
from toolmd._types.call import Caller

RequestContext = ServerRequestContext[Any, Any]

MESSAGE = "toolmd/message"
"""The key of a request's `_meta` for the user's own words, which the intent check reads."""

CONVERSATION = "toolmd/conversation"
"""The key of `_meta` for the conversation's name, for a Quota per conversation. Over HTTP, the
header Toolmd-Conversation works as well."""


class Callers(Protocol):
    """What is known about the caller of a request."""

    def __call__(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request."""

    def may_decide(self, ctx: RequestContext) -> bool:
        """Return whether an answer to a question decides on a pending call."""


class FixedCaller:
    """The caller of a host on stdio, set at the start."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request."""
        return _told(self._caller, ctx)

    def may_decide(self, ctx: RequestContext) -> bool:
        """Return whether an answer of this client decides: its user started this process."""
        del ctx
        return True


class TokenCaller:
    """The caller that the token of a request over HTTP names."""

    def __call__(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request; raise PermissionError if it was not authenticated."""
        caller = _state(ctx).get(CALLER)
        if not isinstance(caller, Caller):
            raise PermissionError("the request was not authenticated")
        return _told(caller, ctx)

    def may_decide(self, ctx: RequestContext) -> bool:
        """Return whether an answer of this client decides.

        A model that reads its host's token could answer as well as a person, so the token must
        have the right.
        """
        return "decide" in _state(ctx).get(RIGHTS, ())


def _state(ctx: RequestContext) -> Mapping[str, Any]:
    return ctx.request.scope.get("state", {}) if ctx.request is not None else {}


def _told(caller: Caller, ctx: RequestContext) -> Caller:
    """Return the caller with the host's statements about this request."""
    meta = (ctx.params or {}).get("_meta")
    known = meta if isinstance(meta, dict) else {}
    said, conversation = known.get(MESSAGE), known.get(CONVERSATION)
    return caller._replace(
        message=said if isinstance(said, str) else "",
        conversation=conversation if isinstance(conversation, str) else caller.conversation,
    )
