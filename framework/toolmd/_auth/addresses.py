"""The names under which a server may be asked: exact, so that no page elsewhere can reach it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

HTTP_PORT = 80
LOCAL = ("127.0.0.1", "localhost")
"""Names of this machine for itself, of which either may be meant by the other."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The values of Host and of Origin that are answered."""

    hosts: frozenset[str]
    """`127.0.0.1:8787`; on the port of HTTP also without it, as clients write it."""
    origins: frozenset[str]
    """`http://127.0.0.1:8787`."""

    @classmethod
    def of(cls, host: str, port: int, allowed: Iterable[str] = ()) -> Self:
        """Give those of a server bound to `host` and `port`, and those that stand before it.

        `allowed` are names that a proxy is asked by, `tools.example.org` or with a port; their
        pages may be served over TLS.
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
        """Tell whether a request may name this Host; one without is refused."""
        return host is not None and host.lower() in self.hosts

    def origin_fits(self, origin: str | None) -> bool:
        """Tell whether a page of this Origin may ask; what is no browser names none."""
        return origin is None or origin.lower() in self.origins


def with_port(host: str, port: int) -> str:
    """Give a host and its port as a URL writes them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
