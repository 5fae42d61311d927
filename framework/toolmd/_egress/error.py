"""The error of a request to a host that is not approved."""

from toolmd.errors import ToolError


class DomainNotApprovedError(ToolError):
    """A tool asked for a host, a port or an address that it may not reach; nothing was sent.

    It is not an httpx error, because a tool that handles those as a lost connection would hide it.
    """

    CODE = "domain_not_approved"

    def __init__(self, message: str) -> None:
        super().__init__(message, code=self.CODE)
