"""The client that a tool gets from its context."""

from functools import partial
from typing import Any

import httpx

from toolmd._egress.approved import Approved
from toolmd._egress.resolve import Resolve
from toolmd._egress.transport import GuardedTransport, refused_address


class GuardedClient(httpx.AsyncClient):
    """An `httpx.AsyncClient` that refuses with DomainNotApprovedError."""

    def __init__(
        self,
        tool: str,
        approved: Approved,
        resolve: Resolve,
        network: Any = None,
        **options: Any,
    ) -> None:
        transport = GuardedTransport(tool, approved, resolve, network)
        # Neither a proxy nor a password comes from the environment.
        super().__init__(transport=transport, trust_env=False, **options)
        self._refusal = partial(refused_address, tool, approved)

    def build_request(self, *arguments: Any, **options: Any) -> httpx.Request:
        """Do as httpx does; what is no URL is not approved."""
        try:
            return super().build_request(*arguments, **options)
        except httpx.InvalidURL:
            raise self._refusal() from None
