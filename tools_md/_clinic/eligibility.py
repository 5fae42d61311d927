"""The address of the insurer's eligibility service."""

from dataclasses import dataclass
from typing import Final

DEFAULT_PORT: Final = 8765


@dataclass(frozen=True, slots=True)
class EligibilityService:
    """The URL for eligibility requests: `POST {url}/eligibility`."""

    url: str = f"http://127.0.0.1:{DEFAULT_PORT}"
