"""Make what the tools ask for by type, from the project's settings and the environment."""

import os
from datetime import datetime
from typing import Final

from toolmark import Settings
from toolmark.errors import ConfigError

from .clock import Clock, StoppedClock
from .eligibility import EligibilityService
from .outbox import Notifier
from .store import Clinic

FILE: Final = "clinic.sqlite3"
"""The data base's name in the project's state folder."""

NOW: Final = "CLINIC_NOW"
"""Stops the clock: `2026-03-02T08:00`; for demonstrations and tests."""
SMS_URL: Final = "CLINIC_SMS_URL"
"""The SMS gateway, any URL of Apprise; unset keeps messages in the outbox."""
ELIGIBILITY_URL: Final = "CLINIC_ELIGIBILITY_URL"
"""The eligibility service; unset means the one that `toolmark clinic insurer` runs."""


def wall_clock() -> Clock:
    """Give the machine's clock, or the one that the environment stopped."""
    stopped = os.environ.get(NOW)
    if not stopped:
        return Clock()
    try:
        moment = datetime.fromisoformat(stopped)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        msg = f"{NOW}={stopped!r} is no time of the clinic's clock: write 2026-03-02T08:00"
        raise ConfigError(msg)
    return StoppedClock(moment)


def open_clinic(settings: Settings, clock: Clock) -> Clinic:
    """Open the clinic of a project, in its state folder."""
    return Clinic(settings.state / FILE, clock)


def notifier(clinic: Clinic) -> Notifier:
    """Give what texts parents, through the gateway that the environment names."""
    return Notifier(clinic.outbox, os.environ.get(SMS_URL, ""))


def eligibility_service() -> EligibilityService:
    """Give the insurer's desk that the environment names."""
    url = os.environ.get(ELIGIBILITY_URL)
    return EligibilityService(url.rstrip("/")) if url else EligibilityService()
