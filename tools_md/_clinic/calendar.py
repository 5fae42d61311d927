"""Manage the appointment book: free chairs by time."""

import sqlite3
from collections.abc import Collection
from datetime import date, datetime, time, timedelta
from typing import Final

from toolmd.database import Database

from .clock import Clock, Data, clock_face, has_come
from .facts import BOOK_AHEAD_DAYS, CHAIRS, SLOT_MINUTES, WEEKDAYS
from .refusal import chairs, refuse

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
        self.turn_to(day)
        begins, ends = TIME_RANGES[time_range]
        now = self._clock.now()
        with self._database.reading() as db:
            rows = db.execute(
                "SELECT starts_at, count(*) AS free FROM slot LEFT JOIN seat "
                "USING (starts_at, chair) "
                "WHERE starts_at >= ? AND starts_at < ? AND seat.child_id IS NULL "
                "GROUP BY starts_at HAVING free >= ? ORDER BY starts_at",
                (f"{day}T{begins}", f"{day}T{ends}", children),
            ).fetchall()
        return [
            _opening(row["starts_at"], row["free"])
            for row in rows
            if row["starts_at"] not in busy
            and not has_come(datetime.fromisoformat(row["starts_at"]), now)
        ]

    def why_none(self, day: date, time_range: str, children: int) -> str:
        """Return why a part of a day has no time for so many children."""
        name = WEEKDAYS[day.weekday()]
        begins, ends = TIME_RANGES[time_range]
        with self._database.reading() as db:
            closed = db.execute(
                "SELECT reason FROM closed_day WHERE day = ?", (day.isoformat(),)
            ).fetchone()
            spans = db.execute(
                "SELECT opens, closes FROM opening_hours WHERE weekday = ?", (day.weekday(),)
            ).fetchall()
        if closed is not None:
            return f"The clinic is closed on {day}: {closed['reason']}."
        if not spans:
            return f"The clinic is closed on {name}s."
        if not any(span["opens"] < ends and span["closes"] > begins for span in spans):
            return f"The clinic is closed in the {time_range} on {name}s."
        needed = "a chair" if children == 1 else f"{chairs(children)} side by side"
        return f"No time to come in the {time_range} of {day} has {needed} free."

    def turn_to(self, day: date) -> None:
        """Create the day's missing slots from the opening hours; raise ToolError for a past day."""
        today = self._clock.today()
        if day < today:
            raise refuse("date_in_past", day, today)
        if day > (last := today + timedelta(days=BOOK_AHEAD_DAYS)):
            raise refuse("date_too_far", last, day)
        with self._database.reading() as db:
            if _laid_out(db, day):
                return
        with self._database.writing() as db:
            if not _laid_out(db, day):
                lay_out(db, day)

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
            spans = db.execute("SELECT * FROM opening_hours ORDER BY weekday, opens").fetchall()
            closed = db.execute(
                "SELECT day AS date, reason FROM closed_day WHERE day >= ? ORDER BY day",
                (self._clock.today().isoformat(),),
            ).fetchall()
        week: list[Data] = []
        for weekday, name in enumerate(WEEKDAYS):
            hours = [_span(span) for span in spans if span["weekday"] == weekday]
            week.append({"day": name, "open": bool(hours), "hours": hours})
        return {
            "week": week,
            "closed_days": [{"date": row["date"], "reason": row["reason"]} for row in closed],
        }


def lay_out(db: sqlite3.Connection, day: date) -> None:
    """Write the day's slots, every chair from opening to closing; a closed day has none."""
    db.execute("INSERT INTO open_day (day) VALUES (?)", (day.isoformat(),))
    if db.execute("SELECT 1 FROM closed_day WHERE day = ?", (day.isoformat(),)).fetchone():
        return
    spans = db.execute(
        "SELECT opens, closes FROM opening_hours WHERE weekday = ?", (day.weekday(),)
    ).fetchall()
    visit = timedelta(minutes=SLOT_MINUTES)
    for span in spans:
        start = datetime.fromisoformat(f"{day}T{span['opens']}:00")
        closes = datetime.fromisoformat(f"{day}T{span['closes']}:00")
        while start + visit <= closes:
            db.executemany(
                "INSERT INTO slot (starts_at, chair) VALUES (?, ?)",
                [(start.isoformat(), chair) for chair in range(1, CHAIRS + 1)],
            )
            start += visit


def _span(row: sqlite3.Row) -> str:
    opens, closes = (time.fromisoformat(row[end]) for end in ("opens", "closes"))
    return f"{clock_face(opens)} to {clock_face(closes)}"


def _laid_out(db: sqlite3.Connection, day: date) -> bool:
    known = db.execute("SELECT 1 FROM open_day WHERE day = ?", (day.isoformat(),)).fetchone()
    return known is not None


def _opening(starts_at: str, free: int) -> Data:
    moment = datetime.fromisoformat(starts_at)
    return {
        "date": moment.date().isoformat(),
        "time": clock_face(moment),
        "datetime": starts_at,
        "chairs_free": free,
    }
