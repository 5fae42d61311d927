"""Derive names from content: equal parts, equal name."""

import hashlib

SHORT = 12
"""Length that suffices to distinguish one person's clusters and lists."""


def fingerprint(*parts: object) -> str:
    """Return the hex sha256 of the parts in order."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
