"""Open the HTTP client of one call; httpx is imported on first use."""

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
    """Open an `httpx.AsyncClient` that reaches only approved hosts, over http and https.

    A request to any other host raises DomainNotApprovedError.

    Args:
        tool: The tool's name, for error messages and the user agent.
        approved: The hosts that the tool may reach.
        seconds: The timeout of a request.
        lookup: Resolves names.
        network: An `httpcore.AsyncNetworkBackend`; the machine's own by default.
    """
    from toolmd._egress.guarded import GuardedClient

    agent = {"user-agent": f"toolmd/{tool}"}
    return GuardedClient(
        tool, approved, lookup, network, timeout=max(seconds, 0.001), headers=agent
    )
