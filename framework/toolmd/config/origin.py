"""State where a setting was written, for messages."""

from typing import NamedTuple

from toolmd.errors import ConfigError


class Origin(NamedTuple):
    """The place where a value was written, for messages."""

    origin: str
    key: str
    text: bool = False
    """Whether only text can stand here, as in the environment; a file has types of its own."""

    def error(self, message: str) -> ConfigError:
        """Build the error that names the place."""
        return ConfigError(f"{self.origin}: {self.key}: {message}")
