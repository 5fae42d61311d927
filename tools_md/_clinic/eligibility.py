"""Say where an insurer is asked whether it covers a family."""

from dataclasses import dataclass
from typing import Final

DEFAULT_PORT: Final = 8765


@dataclass(frozen=True, slots=True)
class EligibilityService:
    """Where eligibility is asked for: `POST {url}/eligibility`."""

    url: str = f"http://127.0.0.1:{DEFAULT_PORT}"
