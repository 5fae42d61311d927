"""A person's time zone: local days, and the moments of local times."""

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from toolmd import ToolError

FACT = "timezone"
"""The fact by which the host names a caller's zone, such as `Europe/Berlin`."""


class Zone:
    """One time zone; without a name, that of this machine."""

    def __init__(self, info: tzinfo | None = None) -> None:
        """Keep the zone; None is the machine's, with its own changes to summer time."""
        self._info = info

    def local(self, moment: datetime) -> datetime:
        """Return a moment in this zone."""
        return moment.astimezone(self._info)

    def moment(self, wall: datetime) -> datetime:
        """Return the moment of a local time without a zone.

        Source: RFC 5545, 3.3.5. A time in the night without it comes an hour later by the clock.
        Of a time that a night has twice, the first counts.
        """
        plain = wall.replace(fold=0)
        aware = plain.astimezone() if self._info is None else plain.replace(tzinfo=self._info)
        return self.local(aware.astimezone(UTC))

    def read(self, text: str) -> datetime:
        """Return the moment of an ISO day or time, which is this zone's own without an offset."""
        value = datetime.fromisoformat(text)
        return self.local(value) if value.tzinfo else self.moment(value)


def zone_named(name: str) -> Zone:
    """Return a zone of the IANA database; raises ToolError for an unknown name."""
    try:
        return Zone(ZoneInfo(name))
    except (ValueError, OSError, LookupError):
        raise ToolError(
            f"The host names the time zone {name!r}, which is unknown. Nothing was read or "
            f"written: the fact `{FACT}` must be a name such as Europe/Berlin.",
            code="unknown_timezone",
        ) from None
