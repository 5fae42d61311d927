"""The Host and Origin values that a server answers, so that no other site's page can call it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

HTTP_PORT = 80
LOCAL = ("127.0.0.1", "localhost")
"""Names of this machine for itself; clients use either."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The accepted values of the Host and Origin headers."""

    hosts: frozenset[str]
    """Such as `127.0.0.1:8787`; on port 80 also without the port, as clients write it."""
    origins: frozenset[str]
    """Such as `http://127.0.0.1:8787`."""

    @classmethod
    def of(cls, host: str, port: int, allowed: Iterable[str] = ()) -> Self:
        """Return the addresses of a server that is bound to `host` and `port`.

        Args:
            host: The host that the server is bound to.
            port: The port that the server is bound to.
            allowed: Names that a proxy in front of the server uses, such as `tools.example.org` or
                one with a port; their pages may be served over TLS.
        """
        own = LOCAL if host in LOCAL else (host,)
        hosts = {with_port(name, port) for name in own}
        if port == HTTP_PORT:
            hosts |= {host.removesuffix(f":{port}") for host in hosts}
        origins = {f"http://{name}" for name in hosts}
        for name in allowed:
            hosts.add(name.lower())
            origins |= {f"http://{name.lower()}", f"https://{name.lower()}"}
        return cls(frozenset(hosts), frozenset(origins))

    def host_fits(self, host: str | None) -> bool:
        """Check the Host header; a request without one does not pass."""
        return host is not None and host.lower() in self.hosts

    def origin_fits(self, origin: str | None) -> bool:
        """Check the Origin header; clients that are not browsers send none."""
        return origin is None or origin.lower() in self.origins


def with_port(host: str, port: int) -> str:
    """Return a host and its port in the form of a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
