"""What a programmer did wrong; an author's mistake is a diagnostic, a refused call a result."""


class ToolmarkError(Exception):
    """The root of everything that Toolmark raises."""


class ConfigError(ToolmarkError):
    """The project's settings can't be used; says the file, the key and the remedy."""


class NotFoundError(ToolmarkError):
    """No tool, skill, run or held call has this name."""


class ToolError(ToolmarkError):
    """Raised by an implementation to give the model a message of its own, with a stable code."""

    def __init__(self, message: str, *, code: str = "tool_error") -> None:
        super().__init__(message)
        self.code = code
