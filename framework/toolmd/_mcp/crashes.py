"""Keep the details of crashes from clients: they get a reference, the log has the rest."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from pydantic import ValidationError

from toolmd.errors import logged


async def keep_crashes(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one request; the SDK would send a crash's details to clients of the old protocol."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise  # The protocol has its own answer for these.
    except Exception as error:
        reference = logged(error, "%s failed", ctx.method)
        message = f"The server failed; its log has the reason under {reference}."
        raise MCPError(INTERNAL_ERROR, message) from error
