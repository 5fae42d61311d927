"""Who calls: the host says it, at the start or by its token; never a model's arguments."""

from typing import Any

from mcp.server.context import ServerRequestContext

from toolmark._gate import CALLER
from toolmark._model.call import Caller

MESSAGE = "toolmark/message"
"""Under a request's `_meta` a host may give the user's own words, in which intent is looked for."""


class FixedCaller:
    """One host on the other end of a pipe: the caller was named at the start."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __call__(self, ctx: ServerRequestContext[Any, Any]) -> Caller:
        """Give the caller of a request."""
        return self._caller._replace(message=_message(ctx))


def caller_by_token(ctx: ServerRequestContext[Any, Any]) -> Caller:
    """Give the caller of a request over HTTP, as the gate knew it; raises where it did not."""
    state = ctx.request.scope.get("state", {}) if ctx.request is not None else {}
    caller = state.get(CALLER)
    if not isinstance(caller, Caller):
        raise PermissionError("a request came in past the gate")
    return caller._replace(message=_message(ctx))


def _message(ctx: ServerRequestContext[Any, Any]) -> str:
    meta = (ctx.params or {}).get("_meta")
    said = meta.get(MESSAGE) if isinstance(meta, dict) else None
    return said if isinstance(said, str) else ""
