"""A cancelled call of which nothing was sent; apart, as opening a project imports no asyncio."""

import asyncio


class NotSentError(asyncio.CancelledError):
    """The caller was cancelled while it waited for a server; nothing was sent."""
