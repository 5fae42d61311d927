"""Summarize a person's day from the log."""

from datetime import date
from typing import Any

from toolmd_alara.agenda import Agenda
from toolmd_alara.entries import entries
from toolmd_alara.person import Person
from toolmd_alara.readings import attention

EVENTS = ("doctor_visit", "care_log", "clinical_date")
"""The kinds of entries that belong to the day on which they happen, not to that of logging."""


def today(person: Person) -> dict[str, Any]:
    """Return today's check-ins, medications, blood pressure, hydration, entries and reminders."""
    day = person.today
    on = date.fromisoformat(day)
    checks = person.read("check_in", "day = ?", day)
    medications = person.read("medication", "day = ?", day)
    readings = [_reading(row) for row in person.read("blood_pressure", "day = ?", day)]
    drinks = person.read("hydration", "day = ?", day)
    return {
        "date": day,
        "check_ins": [{"mood": row["mood"], "at": row["at"]} for row in checks],
        "medications": [_present(row, name="name", dose="dose", at="at") for row in medications],
        "blood_pressure": _pressure(readings),
        "hydration": {
            "total_ml": sum(row["amount_ml"] for row in drinks),
            "drinks": len(drinks),
        },
        "entries": [
            {"kind": one["kind"], "title": one["title"], "date": one["at"]}
            for one in entries(person, on, on, EVENTS)
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
    count = len(readings)
    average = {
        name: round(sum(reading[name] for reading in readings) / count, 1)
        for name in ("systolic", "diastolic")
    }
    return {"readings": readings, "latest": readings[-1], "average": average}


def _reading(row: dict[str, Any]) -> dict[str, Any]:
    shown = _present(
        row,
        systolic="systolic",
        diastolic="diastolic",
        pulse="pulse",
        position="position",
        at="at",
    )
    found = attention(row["systolic"], row["diastolic"], row["pulse"])
    return {**shown, "warning": found.warning} if found else shown


def _present(row: dict[str, Any], **names: str) -> dict[str, Any]:
    return {name: row[column] for name, column in names.items() if row[column] is not None}


def _count(count: int, one: str, many: str = "") -> str:
    return f"1 {one}" if count == 1 else f"{count} {many or one + 's'}"
