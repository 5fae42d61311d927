"""Add headers to every answer that keep pages of other sites from using its content."""

from collections.abc import Mapping
from typing import Any

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The policy of answers that are not pages: a browser that shows one runs and loads nothing."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The policy of the console's pages: nothing inline, nothing from other sites."""
SAFE: dict[bytes, bytes] = {
    b"content-security-policy": NOTHING.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
"""An app's own headers win: a page names its own policy, a file its own caching."""
_ALL = tuple(SAFE.items())


def with_safe_headers(start: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first message of an answer with `SAFE` added to its headers."""
    given = list(start.get("headers", ()))
    names = {name.lower() for name, _ in given}
    lacking = _ALL if names.isdisjoint(SAFE) else [pair for pair in _ALL if pair[0] not in names]
    return {**start, "headers": [*given, *lacking]}
