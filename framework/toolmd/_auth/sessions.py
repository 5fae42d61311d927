"""Sessions of a browser: a secret in a cookie, once the token was shown."""

import secrets
from collections.abc import Mapping

from toolmd._auth.tokens import Pass, digest_of

MOST = 64
"""Sessions of one start; the oldest end when there are more."""
SAME = frozenset(("same-origin", "none"))
"""Values of Sec-Fetch-Site of requests that our own pages, or a person's own hand, make."""


class Sessions:
    """Who has shown a token in a browser since the start; compared by hashes of the secrets."""

    def __init__(self, port: int) -> None:
        """Serve on `port`, which is in the cookie's name: browsers share cookies among ports."""
        self.name = f"toolmd-{port}"
        self._known: dict[str, Pass] = {}

    def begin(self, passed: Pass) -> str:
        """Begin a session and give the value of `Set-Cookie`."""
        secret = secrets.token_urlsafe(32)
        self._known[digest_of(secret)] = passed
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return f"{self.name}={secret}; Path=/; HttpOnly; SameSite=Strict"

    def find(self, method: str, headers: Mapping[str, str]) -> Pass | None:
        """Give who a request's cookie stands for; nobody where another site may have sent it.

        What else its header holds may be of any server of the same host, and of any form.
        """
        site = headers.get("sec-fetch-site")
        if site is not None and site.lower() not in SAME:
            return None
        if method not in {"GET", "HEAD"} and "origin" not in headers:
            return None
        for cookie in headers.get("cookie", "").split(";"):
            name, _, secret = cookie.strip().partition("=")
            # A table of hashes: how long a look-up takes tells nothing of a secret.
            if name == self.name and (passed := self._known.get(digest_of(secret))):
                return passed
        return None
