"""The errors of calls to a server's tool."""

from toolmd._types.asked import Asked
from toolmd.errors import ToolError

SUSPENDED = "suspended_tool"
"""The code of a call whose tool is not the accepted one."""
CLOSED = -32000
"""The code of the client's own error where the connection ended."""

GONE = -32098
"""The code of an HTTP answer that says that the server has forgotten the session."""

UNREADABLE = -32099
"""The code of an answer that is no message of the protocol."""


class InputRequiredError(Exception):
    """The server asks for input before the call can end."""

    def __init__(self, asked: Asked) -> None:
        """Keep the question."""
        super().__init__(asked.prompt)
        self.asked = asked


class SuspendedToolError(ToolError):
    """The server's tool is not the accepted one; nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=SUSPENDED)


class LostAnswerError(TimeoutError):
    """The connection ended after the call was sent, so nobody knows whether the tool ran."""


class NotStartedError(ConnectionRefusedError):
    """The server does not run and could not be started; nothing was sent."""

    problem = "does not run"


class NotListedError(NotStartedError):
    """The server runs, and its list of tools can't be read; nothing was sent."""

    problem = "does not list its tools"
