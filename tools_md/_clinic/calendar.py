"""Manage the appointment book: free chairs by time."""

import sqlite3
from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from typing import Final

from toolmd.database import Database

from .clock import Clock, Data, clock_face
from .refusal import chairs, refuse

CHAIRS: Final = 4
"""The largest booking: children of one family are seen side by side."""
SLOT_MINUTES: Final = 30
"""Every visit uses one slot of a chair, whatever its type."""
BOOK_AHEAD_DAYS: Final = 365
"""How far ahead the appointment book goes."""
WEEKDAYS: Final = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
TIME_RANGES: Final = {
    "morning": ("00:00", "12:00"),
    "afternoon": ("12:00", "17:00"),
    "evening": ("17:00", "24:00"),
}
"""The earliest start of a visit in that part of the day, and the end of the starts."""


class Calendar:
    """The days of the book; a day's slots are created at its first lookup."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def openings(
        self, day: date, time_range: str, children: int, busy: Collection[str] = ()
    ) -> list[Data]:
        """Return the times to come, earliest first, with enough free chairs side by side.

        `busy` are times at which one of the children sits already.
        """
        now = self._clock.now()
        require_open(day, now.date())
        begins, ends = TIME_RANGES[time_range]
        self._lay_out(day)
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT starts_at, count(*) AS free FROM slot LEFT JOIN seat "
                "USING (starts_at, chair) "
                "WHERE starts_at >= ? AND starts_at < ? AND seat.child_id IS NULL "
                "GROUP BY starts_at HAVING free >= ? ORDER BY starts_at",
                (f"{day}T{begins}", f"{day}T{ends}", children),
            ).fetchall()
        return [
            {
                "date": day.isoformat(),
                "time": clock_face(datetime.fromisoformat(row["starts_at"])),
                "datetime": row["starts_at"],
                "chairs_free": row["free"],
            }
            for row in rows
            if row["starts_at"] not in busy and row["starts_at"] > now.isoformat()
        ]

    def _lay_out(self, day: date) -> None:
        """Write the day's slots unless they exist; only the first lookup takes the write lock."""
        with self._database.reading() as db:
            known = db.execute(
                "SELECT 1 FROM open_day WHERE day = ?", (day.isoformat(),)
            ).fetchone()
        if known is None:
            with self._database.writing() as db:
                lay_out(db, day)

    def why_none(self, day: date, time_range: str, children: int) -> str:
        """Return why a part of a day has no time for so many children."""
        name = WEEKDAYS[day.weekday()]
        begins, ends = TIME_RANGES[time_range]
        with self._database.reading() as db:
            reason = _closed(db, day)
            spans = _hours(db, day.weekday())
        if reason is not None:
            return f"The clinic is closed on {day}: {reason}."
        if not spans:
            return f"The clinic is closed on {name}s."
        if not any(opens < ends and closes > begins for opens, closes in spans):
            return f"The clinic is closed in the {time_range} on {name}s."
        needed = "a chair" if children == 1 else f"{chairs(children)} side by side"
        return f"No time to come in the {time_range} of {day} has {needed} free."

    def close_day(self, day: date, reason: str) -> None:
        """Close the clinic for a day: free chairs are removed, booked visits stay."""
        with self._database.writing() as db:
            db.execute(
                "INSERT INTO closed_day (day, reason) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (day.isoformat(), reason),
            )
            db.execute(
                "DELETE FROM slot WHERE starts_at LIKE ? || 'T%' AND NOT EXISTS ("
                "SELECT 1 FROM seat WHERE seat.starts_at = slot.starts_at "
                "AND seat.chair = slot.chair)",
                (day.isoformat(),),
            )

    def hours(self) -> Data:
        """Return the week's opening hours, and the coming days on which the clinic is closed."""
        with self._database.reading() as db:
            week = [_hours(db, weekday) for weekday in range(len(WEEKDAYS))]
            closed = db.execute(
                "SELECT day AS date, reason FROM closed_day WHERE day >= ? ORDER BY day",
                (self._clock.today().isoformat(),),
            ).fetchall()
        shown = [[" to ".join(map(_face, span)) for span in spans] for spans in week]
        return {
            "week": [
                {"day": name, "open": bool(hours), "hours": hours}
                for name, hours in zip(WEEKDAYS, shown, strict=True)
            ],
            "closed_days": [dict(row) for row in closed],
        }


def require_open(day: date, today: date) -> None:
    """Raise ToolError for a day before or after the book."""
    if day < today:
        raise refuse("date_in_past", day, today)
    if day > (last := today + timedelta(days=BOOK_AHEAD_DAYS)):
        raise refuse("date_too_far", last, day)


def lay_out(db: sqlite3.Connection, day: date) -> None:
    """Write the day's slots once, every chair from opening to closing; a closed day has none."""
    query = "INSERT INTO open_day (day) VALUES (?) ON CONFLICT DO NOTHING"
    if not db.execute(query, (day.isoformat(),)).rowcount or _closed(db, day) is not None:
        return
    visit = timedelta(minutes=SLOT_MINUTES)
    for opens, closes in _hours(db, day.weekday()):
        start, end = (datetime.fromisoformat(f"{day}T{at}:00") for at in (opens, closes))
        while start + visit <= end:
            db.executemany(
                "INSERT INTO slot (starts_at, chair) VALUES (?, ?)",
                [(start.isoformat(), chair) for chair in range(1, CHAIRS + 1)],
            )
            start += visit


def _closed(db: sqlite3.Connection, day: date) -> str | None:
    """Return why the clinic is closed on a day, if it is."""
    query = "SELECT reason FROM closed_day WHERE day = ?"
    row = db.execute(query, (day.isoformat(),)).fetchone()
    return None if row is None else str(row["reason"])


def _hours(db: sqlite3.Connection, weekday: int) -> list[tuple[str, str]]:
    query = "SELECT opens, closes FROM opening_hours WHERE weekday = ? ORDER BY opens"
    return [(row["opens"], row["closes"]) for row in db.execute(query, (weekday,))]


def _face(at: str) -> str:
    return clock_face(time.fromisoformat(at))
