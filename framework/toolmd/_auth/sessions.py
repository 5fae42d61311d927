"""Sessions of browsers: a secret in a cookie, issued for a valid token."""

import secrets
from collections.abc import Mapping

from toolmd._auth.tokens import Pass, digest_of

MOST = 64
"""The most sessions of one server process; the oldest ones end first."""
SAME = frozenset(("same-origin", "none"))
"""The Sec-Fetch-Site values of requests from our own pages or from the address bar."""


class Sessions:
    """The sessions of this server process, found by the hashes of their secrets."""

    def __init__(self, port: int) -> None:
        """Name the cookie after the port: browsers share cookies among ports."""
        self.name = f"toolmd-{port}"
        self._known: dict[str, Pass] = {}

    def begin(self, passed: Pass) -> str:
        """Start a session and return the value of `Set-Cookie`."""
        secret = secrets.token_urlsafe(32)
        self._known[digest_of(secret)] = passed
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return f"{self.name}={secret}; Path=/; HttpOnly; SameSite=Strict"

    def find(self, method: str, headers: Mapping[str, str]) -> Pass | None:
        """Return the pass of a request's cookie; None if another site may have sent the request.

        The header may contain cookies of other servers on the same host, in any form.
        """
        site = headers.get("sec-fetch-site")
        if site is not None and site.lower() not in SAME:
            return None
        if method not in {"GET", "HEAD"} and "origin" not in headers:
            return None
        for cookie in headers.get("cookie", "").split(";"):
            name, _, secret = cookie.strip().partition("=")
            # A table of hashes: the time of a look-up reveals nothing about a secret.
            if name == self.name and (passed := self._known.get(digest_of(secret))):
                return passed
        return None
