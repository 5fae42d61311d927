"""What runs outside of this process: MCP servers, web services, and the errors of their calls."""

from toolmd.errors import ToolError

CLOSED = -32000
"""The code of the client's own error where the connection ended."""

GONE = -32098
"""The code of an HTTP answer that says that the server has forgotten the session."""

UNREADABLE = -32099
"""The code of an answer that is no message of the protocol."""


class LostAnswerError(TimeoutError):
    """The connection ended after the call was sent, so nobody knows whether the tool ran."""


class NotStartedError(ConnectionRefusedError):
    """The server does not run and could not be started; nothing was sent."""

    problem = "does not run"


class NoSdkError(NotStartedError):
    """The package mcp is not installed."""


class NotListedError(NotStartedError):
    """The server runs, and its list of tools can't be read; nothing was sent."""

    problem = "does not list its tools"


class OldSessionError(NotStartedError):
    """The session lists another definition than the accepted one; nothing was sent."""

    problem = "changed after other calls in progress began"


class UnsentCallError(ToolError):
    """The call can't be sent as it is."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was sent.")
