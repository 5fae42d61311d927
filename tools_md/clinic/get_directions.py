"""Return the clinic's address and directions."""

from toolmd import nonblocking

from .._clinic.facts import DIRECTIONS


@nonblocking
def get_directions() -> dict[str, str]:
    """Return the address and the directions."""
    return dict(DIRECTIONS)
