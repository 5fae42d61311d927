"""Distinguish public addresses from those of private networks."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
