"""Tell a client how far a call is: the items of a streaming tool, and what it says of itself."""

import json
from typing import Any

from mcp.server.context import ServerRequestContext

from toolmd._types.result import Event

LONGEST = 1000
"""Characters of one message; a whole item may be large."""


class Progress:
    """The progress of one request, which only grows; silent where the client did not ask."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self._last = -1.0

    async def __call__(self, event: Event) -> None:
        """Hear of an event and tell it."""
        data = event.data if isinstance(event.data, dict) else {}
        told = event.kind == "progress"
        fraction = data.get("fraction") if told else None
        text = data.get("text") if told else json.dumps(event.data, ensure_ascii=False)
        total = None if fraction is None else 1.0
        now = int(self._last) + 1.0 if fraction is None else float(fraction)
        # The protocol lets it grow only; what would step back is told at the next step.
        if now > self._last:
            self._last = now
            await self._ctx.session.report_progress(now, total, str(text or "")[:LONGEST])
