"""Sessions of browsers: a secret in a cookie, issued for a valid token."""

import hmac
import secrets
from collections.abc import Mapping

from toolmd._auth.tokens import Pass, digest_of

MOST = 64
"""The most sessions of one server process; the oldest ones end first."""
SAME = frozenset(("same-origin", "none"))
"""The Sec-Fetch-Site values of requests from our own pages or from the address bar."""


class Sessions:
    """The sessions of a server: kept here, or with a key in cookies that other processes read."""

    def __init__(self, port: int, key: bytes | None = None) -> None:
        """Name the cookie after the port: browsers share cookies among ports.

        With `key`, a session lasts as long as its token and the key, on all processes that have it.
        """
        self._key = key
        self.name = f"toolmd-{port}"
        self._known: dict[str, Pass] = {}

    def begin(self, passed: Pass) -> str:
        """Start a session and return the value of `Set-Cookie`."""
        if self._key is not None:
            said = f"{secrets.token_urlsafe(16)}.{passed.digest}"
            return self._cookie(f"{said}.{self._mac(said)}")
        secret = secrets.token_urlsafe(32)
        self._known[digest_of(secret)] = passed
        while len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return self._cookie(secret)

    def find(self, method: str, headers: Mapping[str, str]) -> str | None:
        """Return the hash of the token that a request's cookie stands for.

        None if there is none, or if another site may have sent the request. The header may contain
        cookies of other servers on the same host, in any form.
        """
        site = headers.get("sec-fetch-site")
        if site is not None and site.lower() not in SAME:
            return None
        if method not in {"GET", "HEAD"} and "origin" not in headers:
            return None
        for cookie in headers.get("cookie", "").split(";"):
            name, _, secret = cookie.strip().partition("=")
            if name == self.name and (digest := self._digest(secret)):
                return digest
        return None

    def _digest(self, secret: str) -> str | None:
        if self._key is None:
            # A table of hashes: the time of a look-up reveals nothing about a secret.
            passed = self._known.get(digest_of(secret))
            return None if passed is None else passed.digest
        said, _, mac = secret.rpartition(".")
        if not hmac.compare_digest(self._mac(said).encode(), mac.encode()):
            return None
        return said.rpartition(".")[2]

    def _mac(self, said: str) -> str:
        assert self._key is not None
        return hmac.new(self._key, f"session:{said}".encode(), "sha256").hexdigest()

    def _cookie(self, value: str) -> str:
        return f"{self.name}={value}; Path=/; HttpOnly; SameSite=Strict"
