"""The error of a call that sent nothing to its server or service."""

from toolmd.errors import ToolError


class UnsentCallError(ToolError):
    """The call can't be sent as it is."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was sent.")
