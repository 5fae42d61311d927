"""A call that was cancelled before it was sent; apart, as a start need not import asyncio."""

import asyncio


class NotSentError(asyncio.CancelledError):
    """The caller was cancelled while it waited for a server; nothing was sent."""
