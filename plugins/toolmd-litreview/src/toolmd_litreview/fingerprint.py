"""Name things after what they are made of: the same parts, the same name."""

import hashlib

SHORT = 12
"""Letters that are enough to tell one person's clusters and lists apart."""


def fingerprint(*parts: object) -> str:
    """Give the hex sha256 of the parts, in their order."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
