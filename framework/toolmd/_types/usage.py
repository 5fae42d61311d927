"""What a conversation has used, by the provider's own figures."""

from typing import Any, NamedTuple


class Usage(NamedTuple):
    """The requests of a conversation so far, and their tokens and cost.

    The provider states the tokens. The cost is the provider's own figure, or comes from the prices
    in the settings; it is never estimated.
    """

    requests: int = 0
    """The number of requests that the provider took."""
    unreported: int = 0
    """The requests for which it stated no tokens; they count none."""
    input_tokens: int = 0
    """The tokens of the requests."""
    cached_tokens: int = 0
    """Those of the input that the provider had cached."""
    output_tokens: int = 0
    """The tokens of the answers."""
    cost: float | None = 0.0
    """The cost in US dollars; None if it is unknown for any request."""

    @property
    def tokens(self) -> int:
        """The tokens of input and output."""
        return self.input_tokens + self.output_tokens

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON; an unknown cost is left out."""
        return {key: value for key, value in self._asdict().items() if value is not None}
