"""Find the caller of a request: set at the start or by the token, never by a model."""

from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from toolmd._auth import CALLER, RIGHTS
from toolmd._types.call import Caller

RequestContext = ServerRequestContext[Any, Any]

MESSAGE = "toolmd/message"
"""The key of a request's `_meta` for the user's own words, which the intent check reads."""

CONVERSATION = "toolmd/conversation"
"""The key of `_meta` for the conversation's name, for a Quota per conversation. Over HTTP, the
header Toolmd-Conversation works as well."""


class Callers:
    """What is known about the callers of requests."""

    def __init__(self, fixed: Caller | None = None) -> None:
        """Use one caller for every request of this process; None uses that of each token."""
        self._fixed = fixed

    def __call__(self, ctx: RequestContext) -> Caller:
        """Return the caller of a request; raise PermissionError if it was not authenticated."""
        return self.find(scope_of(ctx), ctx.params)

    def find(self, scope: Mapping[str, Any], params: Mapping[str, Any] | None) -> Caller:
        """Return the caller of a request by its ASGI scope, with the host's statements about it."""
        caller = self._fixed or scope.get("state", {}).get(CALLER)
        if not isinstance(caller, Caller):
            raise PermissionError("the request was not authenticated")
        meta = (params or {}).get("_meta")
        known = meta if isinstance(meta, dict) else {}
        message, conversation = known.get(MESSAGE), known.get(CONVERSATION)
        return caller._replace(
            message=message if isinstance(message, str) else "",
            conversation=conversation if isinstance(conversation, str) else caller.conversation,
        )

    def may_decide(self, ctx: RequestContext) -> bool:
        """Return whether an answer of this client decides on a pending call.

        The user of a host on stdio started this process. Over HTTP a model that reads its host's
        token could answer as well as a person, so the token must have the right.
        """
        return self._fixed is not None or "decide" in scope_of(ctx)["state"].get(RIGHTS, ())


def scope_of(ctx: RequestContext) -> Mapping[str, Any]:
    """Return the ASGI scope of a request over HTTP; an empty one over stdio."""
    return {} if ctx.request is None else ctx.request.scope
