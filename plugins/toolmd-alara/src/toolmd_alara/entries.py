"""Read the entries of a range of a person's days."""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

from toolmd_alara.person import Person
from toolmd_alara.readings import attention

Row = dict[str, Any]


class _Kind(NamedTuple):
    """One kind of entry: the column of its time, and its title."""

    column: str
    title: Callable[[Row], str]


def _words(*parts: Any) -> str:
    return ", ".join(str(part) for part in parts if part)


KINDS = {
    "check_in": _Kind("at", lambda row: str(row["mood"])),
    "medication": _Kind("at", lambda row: _words(row["name"], row["dose"])),
    "blood_pressure": _Kind(
        "at",
        lambda row: _words(
            f"{row['systolic']}/{row['diastolic']} mmHg",
            row["pulse"] and f"pulse {row['pulse']}",
            row["position"],
        ),
    ),
    "hydration": _Kind("at", lambda row: f"{row['amount_ml']} ml"),
    "doctor_visit": _Kind("visited_on", lambda row: str(row["kind"])),
    "care_log": _Kind("occurred_at", lambda row: str(row["title"])),
    "clinical_date": _Kind("falls_on", lambda row: str(row["description"])),
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
        if first <= day <= last:
            yield {
                "kind": kind,
                "entry_id": row["id"],
                "date": day.isoformat(),
                "at": _at(person, row[column]),
                "title": title(row),
                **{name: row[name] for name in _SHOWN if row.get(name)},
                **_warning(kind, row),
            }


def _at(person: Person, when: str) -> str:
    """Return a time with the person's offset; a day alone stays a day."""
    alone = len(when) == len("2026-03-02")
    return when if alone else person.zone.read(when).isoformat()


def _warning(kind: str, row: Row) -> dict[str, str]:
    if kind != "blood_pressure":
        return {}
    found = attention(row["systolic"], row["diastolic"], row["pulse"])
    return {"warning": found.warning} if found else {}
