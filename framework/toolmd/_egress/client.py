"""Open the HTTP client of one call; httpx is imported when the first one is."""

from typing import Any

from toolmd._egress.approved import Approved
from toolmd._egress.resolve import Resolve, resolve


def open_client(
    tool: str,
    approved: Approved,
    seconds: float,
    *,
    lookup: Resolve = resolve,
    network: Any = None,
) -> Any:
    """Give an `httpx.AsyncClient` whose requests may take so many seconds.

    It reaches what is approved, over http and https. Names are looked up by `lookup`, and
    connections made by `network`, an `httpcore.AsyncNetworkBackend`; the machine's own where
    there is none. Whoever is refused gets DomainNotApprovedError.
    """
    from toolmd._egress.guarded import GuardedClient

    agent = {"user-agent": f"toolmd/{tool}"}
    return GuardedClient(
        tool, approved, lookup, network, timeout=max(seconds, 0.001), headers=agent
    )
