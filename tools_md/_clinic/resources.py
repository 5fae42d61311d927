"""Make what the tools ask for by type, from the project's settings and the environment."""

import os
from datetime import datetime
from threading import Lock
from typing import Final

from toolmd import ConfigError, Settings

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
"""The eligibility service; unset means the one that `toolmd clinic insurer` runs."""


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


def open_clinic(settings: Settings) -> Clinic:
    """Open the clinic of a project, in its state folder."""
    return Clinic(settings.state / FILE, wall_clock())


class Reception:
    """Gives the tools what they ask for; the clinic opens with the first call that needs it.

    Checking the files also asks which types there are, and must leave no data base behind.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._clinic: Clinic | None = None

    def clinic(self) -> Clinic:
        """Give the one clinic of this snapshot."""
        with self._lock:
            if self._clinic is None:
                self._clinic = open_clinic(self._settings)
            return self._clinic

    def notifier(self) -> Notifier:
        """Give what texts parents, through the gateway that the environment names."""
        return Notifier(self.clinic().outbox, os.environ.get(SMS_URL, ""))

    def eligibility_service(self) -> EligibilityService:
        """Give the insurer's desk that the environment names."""
        url = os.environ.get(ELIGIBILITY_URL)
        return EligibilityService(url.rstrip("/")) if url else EligibilityService()

    def close(self) -> None:
        """Close the clinic, if anybody came."""
        with self._lock:
            if self._clinic is not None:
                self._clinic.close()
                self._clinic = None
