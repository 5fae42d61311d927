"""Say where the clinic is."""

from toolmd import nonblocking

from .._clinic.facts import DIRECTIONS


@nonblocking
def get_directions() -> dict[str, str]:
    """Give the address and the ways to it."""
    return dict(DIRECTIONS)
