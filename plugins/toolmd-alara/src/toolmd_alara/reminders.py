"""Create, list, change, snooze and end a person's reminders, and say when they are due."""

from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any

from toolmd import ToolError
from toolmd_alara.log import Person, Zone

SUNDAY = 7
NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The weekdays in the order of ISO."""
ANNOUNCED = time(9)
"""When a clinical date is announced, the day before and on the day."""


def from_sunday(days: Iterable[int]) -> list[int]:
    """Return ISO weekdays for days that count from Sunday 0 to Saturday 6 (seed 000)."""
    return sorted({day or SUNDAY for day in days})


def next_due(at: time, days: Iterable[int], now: datetime, zone: Zone) -> datetime:
    """Return the next time after `now` in this zone; `days` are ISO weekdays.

    A reminder at nine stays at nine across a change to summer time.
    """
    wanted = set(days)
    today = zone.local(now).date()
    # The eighth day is today's weekday again, for a reminder that is over today.
    for ahead in range(8):
        day = today + timedelta(days=ahead)
        moment = zone.moment(datetime.combine(day, at))
        if day.isoweekday() in wanted and moment > now:
            return moment
    raise ValueError("a reminder needs at least one weekday of 1 to 7")


def next_before(falls_on: str, now: datetime, zone: Zone) -> datetime | None:
    """Return when a clinical date is announced next, or None.

    Announcements come at nine local time, on the day before and on the day.
    """
    day = zone.read(falls_on).date()
    for date in (day - timedelta(days=1), day):
        if (announced := zone.moment(datetime.combine(date, ANNOUNCED))) > now:
            return announced
    return None


class Agenda:
    """The reminders of one person, who knows them by their numbers."""

    def __init__(self, person: Person) -> None:
        self._person = person

    def add(
        self, key: str, *, at: time, days: Iterable[int], **values: str | None
    ) -> dict[str, Any]:
        """Add a reminder on these ISO weekdays and return its number and next time."""
        row = {**values, "time": f"{at:%H:%M}", "days": _stored(days)}
        entry = self._person.write("reminder", key, row)
        shown = self._shown(self._row(entry["entry_id"]))
        return {"reminder_id": shown["reminder_id"], "next_due": shown["next_due"]}

    def change(self, number: int, changes: dict[str, Any]) -> dict[str, Any]:
        """Change these columns of a reminder that has not ended; a snooze is over then."""
        self._row(number)
        if "days" in changes:
            changes = {**changes, "days": _stored(changes["days"])}
        self._person.change("reminder", number, {**changes, "snoozed_until": None})
        return self._shown(self._row(number))

    def snooze(self, number: int, minutes: int, key: str) -> dict[str, Any]:
        """Let a reminder come again in some minutes, instead of its times before."""
        if self._row(number)["snoozed_by"] != key:
            until = self._person.now + timedelta(minutes=minutes)
            values = {"snoozed_until": until.isoformat(timespec="seconds"), "snoozed_by": key}
            self._person.change("reminder", number, values)
        return self._shown(self._row(number))

    def end(self, number: int) -> dict[str, Any]:
        """End a reminder; it stays in the list of ended ones. Ending it again changes nothing."""
        row = self._row(number, ended=True)
        if row["ended_at"] is None:
            at = self._person.now.isoformat(timespec="seconds")
            self._person.change("reminder", number, {"ended_at": at})
        return self._shown(self._row(number, ended=True))

    def all(self, *, ended: bool = False) -> list[dict[str, Any]]:
        """Return the reminders, the next one first, then the ended ones if they are wanted."""
        rows = self._person.read("reminder", "ended_at IS NULL OR ?", ended)
        late = (self._person.now + timedelta(days=3660)).isoformat()

        def when(one: dict[str, Any]) -> tuple[datetime, int]:
            return datetime.fromisoformat(one.get("next_due", late)), one["reminder_id"]

        return sorted(map(self._shown, rows), key=when)

    def coming(self, after: datetime | None = None) -> list[dict[str, Any]]:
        """Return what is due next after a time, reminders and clinical dates, the nearest first."""
        person = self._person
        now = after or person.now
        rows = [self._shown(row, now) for row in person.read("reminder", "ended_at IS NULL")]
        due = [(one["next_due"], one["title"], one["reminder_type"]) for one in rows]
        due += [
            (moment.isoformat(), row["description"], "clinical_date")
            for row in person.read("clinical_date", "remind = 1")
            if (moment := next_before(row["falls_on"], now, person.zone)) is not None
        ]
        due.sort(key=lambda one: (datetime.fromisoformat(one[0]), one[1:]))
        return [dict(zip(("next_due", "title", "reminder_type"), one, strict=True)) for one in due]

    def _row(self, number: int, *, ended: bool = False) -> dict[str, Any]:
        found = self._person.read("reminder", "id = ?", number)
        if not found:
            raise ToolError(
                f"The user has no reminder {number}: list_reminders shows those that they have.",
                code="no_such_reminder",
            )
        if found[0]["ended_at"] is not None and not ended:
            raise ToolError(
                f"Reminder {number} has ended. Create a new one if the user wants it again.",
                code="reminder_ended",
            )
        return found[0]

    def _shown(self, row: dict[str, Any], after: datetime | None = None) -> dict[str, Any]:
        days = list(map(int, row["days"].split(",")))
        shown = {
            "reminder_id": row["id"],
            "title": row["title"],
            "time": row["time"],
            "days": [NAMES[day - 1] for day in days],
            "reminder_type": row["kind"] or "other",
        }
        shown |= {name: row[name] for name in ("description", "ended_at") if row[name] is not None}
        if row["ended_at"] is not None:
            return shown
        now, zone = after or self._person.now, self._person.zone
        due = next_due(time.fromisoformat(row["time"]), days, now, zone)
        snoozed = row["snoozed_until"]
        if snoozed is not None and datetime.fromisoformat(snoozed) > now:
            due = zone.local(datetime.fromisoformat(snoozed))
            shown["snoozed"] = True
        return {**shown, "next_due": due.isoformat()}


def _stored(days: Iterable[int]) -> str:
    return ",".join(map(str, sorted(set(days))))
