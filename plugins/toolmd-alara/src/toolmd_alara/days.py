"""Show a person's days: their entries, today in short, and the weeks as a trend and a page."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from html import escape
from statistics import mean
from typing import Any, NamedTuple

from toolmd_alara.log import Person, Row
from toolmd_alara.readings import attention
from toolmd_alara.reminders import Agenda


class Kind(NamedTuple):
    """One kind of entry: the column of its time, and its title."""

    column: str
    title: Callable[[Row], str]


def _words(*parts: Any) -> str:
    return ", ".join(str(part) for part in parts if part)


def _reading(row: Row) -> str:
    pulse = row["pulse"] and f"pulse {row['pulse']}"
    return _words(f"{row['systolic']}/{row['diastolic']} mmHg", pulse, row["position"])


KINDS = {
    "check_in": Kind("at", lambda row: str(row["mood"])),
    "medication": Kind("at", lambda row: _words(row["name"], row["dose"])),
    "blood_pressure": Kind("at", _reading),
    "hydration": Kind("at", lambda row: f"{row['amount_ml']} ml"),
    "symptom": Kind("at", lambda row: _words(row["name"], row["severity"])),
    "doctor_visit": Kind("visited_on", lambda row: str(row["kind"])),
    "care_log": Kind("occurred_at", lambda row: str(row["title"])),
    "clinical_date": Kind("falls_on", lambda row: str(row["description"])),
}
"""The kinds of entries, which are also the names of their tables."""
_SHOWN = ("notes", "diagnosis", "treatment", "location", "provider", "preparation")


def entries(
    person: Person, first: date, last: date, kinds: tuple[str, ...] = tuple(KINDS)
) -> list[dict[str, Any]]:
    """Return the entries of these days in the order of time; a day is the person's own."""
    found = [entry for kind in kinds for entry in _of_kind(person, kind, first, last)]
    found.sort(key=lambda one: (person.zone.read(one["at"]), one["kind"], one["entry_id"]))
    return found


def _of_kind(person: Person, kind: str, first: date, last: date) -> Iterator[dict[str, Any]]:
    column, title = KINDS[kind]
    # What is logged now keeps its day; an event's day depends on the zone, by at most one.
    by_day = column == "at"
    around = timedelta(days=0 if by_day else 1)
    begins, ends = first - around, last + around + timedelta(days=1)
    searched = "day" if by_day else column
    condition = f"{searched} >= ? AND {searched} < ?"
    for row in person.read(kind, condition, begins.isoformat(), ends.isoformat()):
        day = date.fromisoformat(row["day"]) if by_day else person.zone.read(row[column]).date()
        at = row.get("taken_at") or row[column]
        if first <= day <= last:
            yield {
                "kind": kind,
                "entry_id": row["id"],
                "date": day.isoformat(),
                # A day alone stays a day.
                "at": at if len(at) == len("2026-03-02") else person.zone.read(at).isoformat(),
                "title": title(row),
                **{name: row[name] for name in _SHOWN if row.get(name)},
                **(_warning(row) if kind == "blood_pressure" else {}),
            }


def _warning(row: Row) -> dict[str, str]:
    found = attention(row["systolic"], row["diastolic"], row["pulse"])
    return {"warning": found.warning} if found else {}


EVENTS = ("doctor_visit", "care_log", "clinical_date")
"""The kinds of entries that belong to the day on which they happen, not to that of logging."""


def today(person: Person) -> dict[str, Any]:
    """Return today's check-ins, medications, blood pressure, hydration, entries and reminders."""
    day = person.today
    on = date.fromisoformat(day)
    rows = {
        kind: person.read(kind, "day = ?", day)
        for kind in ("check_in", "medication", "blood_pressure", "hydration", "symptom")
    }
    drinks = rows["hydration"]
    return {
        "date": day,
        "check_ins": [{"mood": row["mood"], "at": row["at"]} for row in rows["check_in"]],
        "medications": [
            _present({**row, "at": row["taken_at"] or row["at"]}, "name", "dose", "at")
            for row in rows["medication"]
        ],
        "blood_pressure": _pressure(
            [
                _present(row, "systolic", "diastolic", "pulse", "position", "at") | _warning(row)
                for row in rows["blood_pressure"]
            ]
        ),
        "hydration": {"total_ml": sum(row["amount_ml"] for row in drinks), "drinks": len(drinks)},
        "entries": [
            {"kind": one["kind"], "title": one["title"], "date": one["at"]}
            for one in entries(person, on, on, (*EVENTS, "symptom"))
        ],
        "reminders": [r for r in Agenda(person).coming() if r["next_due"].startswith(day)],
    }


def in_words(summary: dict[str, Any]) -> str:
    """Return the summary as a line to read aloud."""
    latest = summary["blood_pressure"].get("latest")
    parts = [
        _count(len(summary["check_ins"]), "check-in"),
        _count(len(summary["medications"]), "medication"),
        f"blood pressure {latest['systolic']}/{latest['diastolic']}" if latest else "",
        f"{summary['hydration']['total_ml']} ml drunk",
        _count(len(summary["entries"]), "entry", "entries"),
    ]
    return f"Today, {summary['date']}: " + ", ".join(part for part in parts if part)


def _pressure(readings: list[dict[str, Any]]) -> dict[str, Any]:
    if not readings:
        return {"readings": []}
    names = ("systolic", "diastolic")
    average = {name: round(mean(reading[name] for reading in readings), 1) for name in names}
    return {"readings": readings, "latest": readings[-1], "average": average}


def _present(row: Row, *names: str) -> Row:
    return {name: row[name] for name in names if row[name] is not None}


def _count(count: int, one: str, many: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count} {many or one + 's'}"


def trends(person: Person, weeks: int) -> list[dict[str, Any]]:
    """Return what each of the last weeks has, the oldest first; the last one ends today."""
    last = date.fromisoformat(person.today)
    ends = [last - timedelta(weeks=ago) for ago in reversed(range(weeks))]
    return [_week(person, end - timedelta(days=6), end) for end in ends]


def _week(person: Person, first: date, last: date) -> dict[str, Any]:
    def rows(kind: str) -> list[Row]:
        return person.read(kind, "day >= ? AND day <= ?", first.isoformat(), last.isoformat())

    week: dict[str, Any] = {"first_day": first.isoformat(), "last_day": last.isoformat()}
    if readings := rows("blood_pressure"):
        names = ("systolic", "diastolic")
        week["blood_pressure"] = {
            "readings": len(readings),
            **{name: round(mean(row[name] for row in readings)) for name in names},
            **{f"highest_{name}": max(row[name] for row in readings) for name in names},
        }
    if drinks := rows("hydration"):
        days = len({row["day"] for row in drinks})
        total = sum(row["amount_ml"] for row in drinks)
        week["hydration"] = {"days": days, "ml_a_day": round(total / days)}
    for kind, name in (("medication", "name"), ("symptom", "name"), ("check_in", "mood")):
        counted = Counter(str(row[name]).casefold() for row in rows(kind))
        if counted:
            week[kind] = [{"name": one, "times": n} for one, n in counted.most_common()]
    return week


def page(person: Person, weeks: int) -> str:
    """Return a page in HTML for the doctor: each week in a line, then all entries."""
    found = trends(person, weeks)
    first = date.fromisoformat(found[0]["first_day"])
    last = date.fromisoformat(person.today)
    lines = [_line(week) for week in found]
    rows = [
        (one["at"][:16].replace("T", " "), one["kind"].replace("_", " "), one["title"],
         " ".join(str(one[name]) for name in (*_SHOWN, "warning") if name in one))
        for one in entries(person, first, last)
    ]  # fmt: skip
    return (
        f"<!doctype html><meta charset='utf-8'><title>Health log</title><style>{_STYLE}</style>"
        f"<h1>Health log, {first} to {last}</h1><p>Logged by the patient; not a diagnosis.</p>"
        f"{_table(('week', 'blood pressure', 'drunk', 'medicines', 'symptoms', 'moods'), lines)}"
        f"<h2>Entries</h2>{_table(('when', 'what', 'entry', 'more'), rows)}"
    )


_STYLE = "body{font:15px sans-serif;margin:2em}table{border-collapse:collapse}td,th{border:1px solid #999;padding:.3em .6em;text-align:left}"  # noqa: E501 - one style


def _line(week: dict[str, Any]) -> tuple[str, ...]:
    pressure, drunk = week.get("blood_pressure"), week.get("hydration")
    return (
        f"{week['first_day']} to {week['last_day']}",
        f"{pressure['systolic']}/{pressure['diastolic']} on average of {pressure['readings']}, "
        f"highest {pressure['highest_systolic']}/{pressure['highest_diastolic']}"
        if pressure
        else "",
        f"{drunk['ml_a_day']} ml a day on {_count(drunk['days'], 'day')}" if drunk else "",
        *(
            ", ".join(f"{one['name']} {one['times']} times" for one in week.get(kind, ()))
            for kind in ("medication", "symptom", "check_in")
        ),
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
