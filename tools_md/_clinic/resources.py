"""Create the tools' resources from the project's settings and the environment."""

import os
from datetime import datetime
from threading import Lock
from typing import Final

from toolmd import ConfigError, Settings

from .clock import Clock, StoppedClock
from .insurer import EligibilityService
from .outbox import Notifier
from .store import Clinic

FILE: Final = "clinic.sqlite3"
"""The file of the database in the project's state folder."""

NOW: Final = "CLINIC_NOW"
"""Fixes the clock: `2026-03-02T08:00`; for demonstrations and tests."""
SMS_URL: Final = "CLINIC_SMS_URL"
"""The SMS gateway, any URL of Apprise; unset keeps messages in the outbox."""
ELIGIBILITY_URL: Final = "CLINIC_ELIGIBILITY_URL"
"""The eligibility service; unset means the one that `toolmd clinic insurer` runs."""


def wall_clock() -> Clock:
    """Return the machine's clock, or the fixed one of the environment."""
    stopped = os.environ.get(NOW)
    if not stopped:
        return Clock()
    try:
        moment = datetime.fromisoformat(stopped)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None:
        msg = f"{NOW}={stopped!r} is not a valid time: write 2026-03-02T08:00"
        raise ConfigError(msg)
    return StoppedClock(moment)


def open_clinic(settings: Settings) -> Clinic:
    """Open the clinic of a project, in its state folder."""
    return Clinic(settings.state / FILE, wall_clock())


class Reception:
    """Provides the tools' resources; the first call that needs the clinic opens it.

    A check of the files also asks for the available types, and must not create a database.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._clinic: Clinic | None = None

    def clinic(self) -> Clinic:
        """Return the one clinic of this snapshot."""
        with self._lock:
            if self._clinic is None:
                self._clinic = open_clinic(self._settings)
            return self._clinic

    def notifier(self) -> Notifier:
        """Return the notifier of parents, with the gateway of the environment."""
        return Notifier(self.clinic().outbox, os.environ.get(SMS_URL, ""))

    def eligibility_service(self) -> EligibilityService:
        """Return the eligibility service of the environment."""
        url = os.environ.get(ELIGIBILITY_URL)
        return EligibilityService(url.rstrip("/")) if url else EligibilityService()

    def close(self) -> None:
        """Close the clinic, if it is open."""
        with self._lock:
            if self._clinic is not None:
                self._clinic.close()
                self._clinic = None
