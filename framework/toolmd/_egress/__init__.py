"""Egress: an HTTP client that connects only to approved hosts, at addresses that it checked."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from toolmd._egress.approved import Approved, DomainNotApprovedError

__all__ = ["Approved", "DomainNotApprovedError", "open_client"]


def open_client(
    tool: str,
    approved: Approved,
    seconds: float,
    *,
    lookup: Callable[[str], Awaitable[Sequence[str]]] | None = None,
    network: Any = None,
) -> Any:
    """Open an `httpx.AsyncClient` that reaches only approved hosts, over http and https.

    A request to any other host raises DomainNotApprovedError. httpx is imported on first use.

    Args:
        tool: The tool's name, for error messages and the user agent.
        approved: The hosts that the tool may reach.
        seconds: The timeout of a request.
        lookup: Resolves names; by default the machine does.
        network: An `httpcore.AsyncNetworkBackend`; the machine's own by default.
    """
    from toolmd._egress.guarded import GuardedClient, resolve

    agent = {"user-agent": f"toolmd/{tool}"}
    return GuardedClient(
        tool, approved, lookup or resolve, network, timeout=max(seconds, 0.001), headers=agent
    )
