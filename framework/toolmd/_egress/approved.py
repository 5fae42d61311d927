"""The hosts that one tool may reach: from its file, and origins that the operator approved."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

from toolmd.errors import ToolError

Address = IPv4Address | IPv6Address

_OPEN_V6 = ip_network("2000::/3")
"""All allocated addresses; most ranges that map, tunnel or translate IPv4 are outside."""
_CLOSED = tuple(
    ip_network(net)
    for net in (
        "168.63.129.16/32",  # the wire server of a cloud, on an ordinary public address
        "192.0.0.0/24",  # protocol assignments, including a cloud's metadata
        "192.88.99.0/24",  # relays of 6to4
        "100.64.0.0/10",  # carrier-grade NAT, including a cloud's metadata
        "2001::/23",  # Teredo and other protocols
        "2002::/16",  # 6to4: contains an IPv4 address
        "2001:db8::/32",
        "3fff::/20",
    )
)


def address_of(host: str) -> Address | None:
    """Parse a host that is an address in standard notation; return None for a name.

    A scope (`fe80::1%eth0`), a short form (`127.1`) and other bases (`0x7f.1`) return None.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return None if "%" in host else address


def is_open(address: Address) -> bool:
    """Check that an address is public, unicast, and does not embed another address."""
    if isinstance(address, IPv6Address) and address not in _OPEN_V6:
        return False
    closed = (
        not address.is_global
        or address.is_private
        or address.is_multicast
        or address.is_reserved
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
    )
    return not closed and not any(
        address in net for net in _CLOSED if net.version == address.version
    )


class DomainNotApprovedError(ToolError):
    """A tool asked for a host, a port or an address that it may not reach; nothing was sent.

    It is not an httpx error, because a tool that handles those as a lost connection would hide it.
    """

    CODE = "domain_not_approved"

    def __init__(self, message: str) -> None:
        super().__init__(message, code=self.CODE)


PORTS = {"http": 80, "https": 443}
"""The allowed schemes, each with its default port."""
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")
_MAX_NAME = 253
_PORT = re.compile(r"[1-9][0-9]{0,4}")


class Permit(NamedTuple):
    """A host that may be reached."""

    private: bool
    """Whether it may be in a private network, because its entry names exactly this host."""


class _Entry(NamedTuple):
    host: str | Address
    """A name in DNS form, or an address."""
    suffix: bool = False
    """Whether the entry covers the names below the host and not the host itself."""
    port: int | None = None

    def meets(self, host: str | Address, port: int, scheme: str | None) -> bool:
        if self.suffix:
            if not isinstance(host, str) or not host.endswith(f".{self.host}"):
                return False
        elif host != self.host:
            return False
        if self.port is not None:
            return port == self.port
        # A local service may use any port; a name uses the scheme's.
        at_home = not isinstance(self.host, str) or self.host == LOCALHOST
        return at_home or port == PORTS.get(scheme or "") or (scheme is None and port in _USUAL)


LOCALHOST = "localhost"
_USUAL = frozenset(PORTS.values())


class Approved:
    """The approved hosts of one tool; an entry that can't be read approves nothing."""

    def __init__(self, path: str, domains: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        """Read the entries.

        Args:
            path: The tool's file, for the error message.
            domains: Entries `host`, `*.suffix` or an address, each with an optional `:port`.
            origins: Entries `scheme://host` or `scheme://host:port`.
        """
        domains = tuple(domains)
        self.path = path
        self._entries = [entry for text in domains if (entry := _entry(text)) is not None]
        self._origins = {origin for text in origins if (origin := _origin(text)) is not None}
        self.text = ", ".join(domain.strip() for domain in domains) or None
        """The domains as text; None if the file names none."""

    def permit(self, host: str, port: int, scheme: str | None = None) -> Permit | None:
        """Return the permit for a host in DNS form, or None; without a scheme, any scheme fits."""
        known = _host(host)
        if known is None or (scheme is not None and scheme not in PORTS):
            return None
        for origin in self._origins:
            if origin[1:] == (known, port) and scheme in (None, origin[0]):
                return Permit(private=True)
        if any(entry.meets(known, port, scheme) for entry in self._entries):
            return Permit(private=not isinstance(known, str) or known == LOCALHOST)
        return None


def _host(text: str) -> str | Address | None:
    """Parse a host strictly: an address, or a lower-case name without a final dot."""
    address = address_of(text)
    if address is not None:
        return address
    if len(text) > _MAX_NAME or _NAME.fullmatch(text) is None:
        return None
    # A host that ends in a number is an old notation of an address, not a name.
    last = text.rpartition(".")[2]
    return None if last.isdigit() or re.fullmatch("0x[0-9a-f]*", last) else text


def _entry(text: str) -> _Entry | None:
    text = text.strip().lower()
    host, port = text, None
    if text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            return None
        ported = rest[1:] if rest else None
    elif text.count(":") == 1:
        host, _, ported = text.partition(":")
    else:
        ported = None
    if ported is not None:
        if _PORT.fullmatch(ported) is None:
            return None
        port = int(ported)
    suffix = host.startswith("*.")
    known = _host(_in_dns(host.removeprefix("*.")))
    if known is None or (suffix and not isinstance(known, str)):
        return None
    return _Entry(known, suffix, port)


def _in_dns(name: str) -> str:
    """Convert an international name to DNS form; return an empty text if that fails."""
    if name.isascii():
        return name
    import idna

    try:
        return idna.encode(name).decode()
    except idna.IDNAError:
        return ""


def _origin(text: str) -> tuple[str, str | Address, int] | None:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    beside = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    host = _host(_in_dns(parts.hostname or ""))
    if parts.scheme not in PORTS or beside or host is None:
        return None
    return parts.scheme, host, port or PORTS[parts.scheme]
