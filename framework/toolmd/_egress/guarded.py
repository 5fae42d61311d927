"""The HTTP client that a tool gets from its context."""

from functools import partial
from typing import Any

import httpx

from toolmd._egress.approved import Approved
from toolmd._egress.resolve import Resolve
from toolmd._egress.transport import GuardedTransport, invalid_url


class GuardedClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` that raises DomainNotApprovedError for hosts that are not approved."""

    def __init__(
        self,
        tool: str,
        approved: Approved,
        resolve: Resolve,
        network: Any = None,
        **options: Any,
    ) -> None:
        transport = GuardedTransport(tool, approved, resolve, network)
        # The environment must not supply a proxy or a password.
        super().__init__(transport=transport, trust_env=False, **options)
        self._invalid_url = partial(invalid_url, tool, approved)

    def build_request(self, *arguments: Any, **options: Any) -> httpx.Request:
        """Build a request as httpx does; raises DomainNotApprovedError for an invalid URL."""
        try:
            return super().build_request(*arguments, **options)
        except httpx.InvalidURL:
            raise self._invalid_url() from None
