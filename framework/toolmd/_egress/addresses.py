"""Which addresses are the open internet's, and which lead into somebody's own network."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

_OPEN_V6 = ip_network("2000::/3")
"""All that was ever given out; what maps, tunnels or translates IPv4 lies mostly outside."""
_CLOSED = tuple(
    ip_network(net)
    for net in (
        "168.63.129.16/32",  # a cloud's own wire server, on an address like any other
        "192.0.0.0/24",  # protocol assignments, metadata of a cloud among them
        "192.88.99.0/24",  # relays of 6to4
        "100.64.0.0/10",  # behind a carrier's translation, metadata of a cloud among them
        "2001::/23",  # Teredo and other protocols
        "2002::/16",  # 6to4: an IPv4 address is within
        "2001:db8::/32",
        "3fff::/20",
    )
)


def address_of(host: str) -> Address | None:
    """Give the address that a host is, written as the standard has it; None for a name.

    A scope (`fe80::1%eth0`), a short form (`127.1`) and other bases (`0x7f.1`) are no addresses.
    """
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return None if "%" in host else address


def is_open(address: Address) -> bool:
    """Tell whether an address is a public one, for one machine, that hides no other address."""
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
