"""Report a call's progress to a client: the items of a streaming tool, and its messages."""

import json
from typing import Any

from mcp.server.context import ServerRequestContext

from toolmd._types.result import Event

LONGEST = 1000
"""The most characters of one message; a whole item may be large."""


class Progress:
    """The progress of one request, which only grows; the client gets it only if it asked."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self._last = -1.0

    async def __call__(self, event: Event) -> None:
        """Report an event to the client."""
        data = event.data if isinstance(event.data, dict) else {}
        told = event.kind == "progress"
        fraction = data.get("fraction") if told else None
        text = data.get("text") if told else json.dumps(event.data, ensure_ascii=False)
        total = None if fraction is None else 1.0
        now = int(self._last) + 1.0 if fraction is None else float(fraction)
        # The protocol does not allow it to shrink; a smaller value is left out.
        if now > self._last:
            self._last = now
            await self._ctx.session.report_progress(now, total, str(text or "")[:LONGEST])
