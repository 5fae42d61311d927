"""State where a setting was written, for messages."""

import json
from typing import Any, NamedTuple

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

    def parsed(self, value: Any, wanted: str) -> Any:
        """Parse the JSON of a text in the environment; `wanted` says what it must be."""
        if not self.text or not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise self.error(f"must be {wanted}") from error

    def listed(self, value: Any) -> Any:
        """Return the parts of a text in the environment: by commas, or as JSON in brackets."""
        if not self.text or not isinstance(value, str):
            return value
        if value.lstrip().startswith(("[", "{")):
            return self.parsed(value, 'parts by commas, or JSON such as ["a", "b"]')
        return [part.strip() for part in value.split(",") if part.strip()]
