"""Sessions of browsers: a signed cookie, issued for a valid token."""

import hmac
import secrets
import time
from collections.abc import Callable, Mapping

from toolmd._auth.tokens import Pass

LONGEST_S = 30 * 86_400
"""The longest session, in seconds; it ends earlier with its token or with the key."""
SAME = frozenset(("same-origin", "none"))
"""The Sec-Fetch-Site values of requests from our own pages or from the address bar."""


class Sessions:
    """The sessions of a server, or of all servers that have the same key."""

    def __init__(
        self, port: int, key: bytes | None = None, *, epoch: Callable[[], float] = time.time
    ) -> None:
        """Keep the key that signs cookies; by default, one that ends with this process.

        The cookie is named after the port, or after a shared key: browsers share cookies among
        ports. `epoch` returns seconds since the epoch.
        """
        self._key = secrets.token_bytes(32) if key is None else key
        self._epoch = epoch
        self.name = f"toolmd-{port if key is None else self._mac('name')[:8]}"

    def begin(self, passed: Pass) -> str:
        """Start a session and return the value of `Set-Cookie`."""
        said = f"{self._epoch() + LONGEST_S:.0f}.{passed.digest}"
        return f"{self.name}={said}.{self._mac(said)}; Path=/; HttpOnly; SameSite=Strict"

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
            name, _, value = cookie.strip().partition("=")
            if name == self.name and (digest := self._digest(value)):
                return digest
        return None

    def _digest(self, value: str) -> str | None:
        said, _, mac = value.rpartition(".")
        if not hmac.compare_digest(self._mac(said).encode(), mac.encode()):
            return None
        until, _, digest = said.partition(".")
        return digest if self._epoch() < int(until) else None

    def _mac(self, said: str) -> str:
        return hmac.new(self._key, f"session:{said}".encode(), "sha256").hexdigest()
