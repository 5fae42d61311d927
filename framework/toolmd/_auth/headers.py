"""Add headers to every answer that keep pages of other sites from using its content."""

from typing import Any

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that are not pages: a browser that shows one runs and loads nothing."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The policy of the console's pages: nothing inline, nothing from other sites."""
SAFE = {
    b"content-security-policy": NOTHING.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""An app's own headers win: a page names its own policy, a file its own caching."""


class SafeHeaders:
    """An ASGI app that adds `SAFE` to another's answers."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass the request on, and add the headers to the answer."""

        async def sealed(message: Any) -> None:
            if message["type"] == "http.response.start":
                given = list(message.get("headers", ()))
                names = {name.lower() for name, _ in given}
                given += [(name, value) for name, value in SAFE.items() if name not in names]
                message = {**message, "headers": given}
            await send(message)

        await self._app(scope, receive, sealed if scope["type"] == "http" else send)
