"""The refusal of a request to somewhere that nobody approved."""

from toolmd.errors import ToolError


class DomainNotApprovedError(ToolError):
    """A tool asked for a host, a port or an address that it may not reach; nothing was sent.

    No error of the HTTP client's: a tool that takes those for a line that is down would hide it.
    """

    CODE = "domain_not_approved"

    def __init__(self, message: str) -> None:
        super().__init__(message, code=self.CODE)
