"""Keep what a crash says from clients: they get a reference, the log has the rest."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR
from pydantic import ValidationError

from toolmd.errors import logged


async def keep_crashes(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Serve one request; the SDK would hand a crash's own words to clients of the old era."""
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        raise  # What the protocol has words for.
    except Exception as error:
        reference = logged(error, "%s failed", ctx.method)
        message = f"The server failed; its operator finds the reason under {reference}."
        raise MCPError(INTERNAL_ERROR, message) from error
