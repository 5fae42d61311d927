"""Query each kind of item and format it as an item of a response (seed 002, "Response items")."""

import heapq
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from toolmd_simplescribe.fhir.rows import Record
from toolmd_simplescribe.moments import Span

Item = dict[str, Any]
"""One item of a response, with its `source`."""
_NEVER: Final = -(2**63)
"""The time of an item without a date: before all others."""


class View(NamedTuple):
    """The table of one kind of item, and the names of its fields."""

    table: str
    key: str | None
    """The column that selects items, such as a code."""
    fields: tuple[tuple[str, str], ...]
    """A column and the item's field; a NULL field is left out."""

    def query(self, *, ranged: bool) -> str:
        """Return the query for one key of one patient, the newest first.

        It runs along one index in order: its cost grows with its result, not with the table.
        """
        columns = ", ".join(column for column, _ in self.fields)
        conditions = ["patient = :patient"]
        if self.key is not None:
            conditions.append(f"{self.key} = :key")
        if ranged:
            conditions += ["at >= :start", "at < :end"]
        return (
            f"SELECT at, system, updated, {columns} FROM {self.table} "  # noqa: S608 - names of our own
            f"WHERE {' AND '.join(conditions)} ORDER BY at DESC, number LIMIT :most"
        )


LABS: Final = View(
    "lab",
    "code",
    (
        ("code", "code"),
        ("display", "display"),
        ("value", "value"),
        ("unit", "unit"),
        ("reference_range", "referenceRange"),
        ("effective", "effectiveDateTime"),
    ),
)
VITALS: Final = View(
    "vital",
    "type",
    (("type", "type"), ("value", "value"), ("unit", "unit"), ("effective", "effectiveDateTime")),
)
MEDICATIONS: Final = View(
    "medication",
    "status",
    (
        ("name", "name"),
        ("dose", "dose"),
        ("route", "route"),
        ("frequency", "frequency"),
        ("start_date", "startDate"),
        ("status", "status"),
    ),
)
PROBLEMS: Final = View(
    "problem", "status", (("text", "text"), ("status", "status"), ("onset", "onset"))
)
NOTES: Final = View(
    "note",
    None,
    (("date", "date"), ("title", "title"), ("service", "service"), ("summary", "summary")),
)


def newest(
    db: sqlite3.Connection,
    view: View,
    patient: int,
    keys: Iterable[str | None],
    span: Span | None,
    most: int,
) -> list[Item]:
    """Return the newest items of these keys, those without a date last."""
    query = view.query(ranged=span is not None)
    asked = {"patient": patient, "most": most}
    if span is not None:
        asked |= {"start": span.start, "end": span.end}
    # One query per key, read only as far as needed; a repeated key is queried once.
    found = [db.execute(query, {**asked, "key": key}) for key in sorted(set(keys), key=str)]
    merged = heapq.merge(*found, key=_when, reverse=True)
    return [_item(view, row) for row in islice(merged, most)]


def keys_of(db: sqlite3.Connection, view: View, patient: int) -> list[str]:
    """Return the keys of one patient's items."""
    query = f"SELECT DISTINCT {view.key} FROM {view.table} WHERE patient = ?"  # noqa: S608 - names of our own
    return [key for (key,) in db.execute(query, (patient,))]


def newest_of(
    records: Sequence[Record],
    view: View,
    keys: Iterable[str | None] | None,
    span: Span | None,
    most: int,
) -> list[Item]:
    """Return the newest items like `newest`, from records in memory."""
    wanted = None if keys is None else set(keys)
    found = []
    for record in records:
        for row in record.rows:
            at = row.values.get("at")
            if row.table != view.table:
                continue
            if wanted is not None and view.key is not None and row.values[view.key] not in wanted:
                continue
            if span is not None and (at is None or not span.start <= at < span.end):
                continue
            columns = (row.values.get(column) for column, _ in view.fields)
            key = str(row.values[view.key]) if view.key is not None else ""
            found.append((key, (at, record.system, record.updated, *columns)))
    # As in the store, items of the same time are in the order of their keys.
    rows = [row for _, row in sorted(found, key=lambda pair: pair[0])]
    return [_item(view, row) for row in sorted(rows, key=_when, reverse=True)[:most]]


def _when(row: tuple[Any, ...]) -> int:
    return _NEVER if row[0] is None else int(row[0])


def _item(view: View, row: tuple[Any, ...]) -> Item:
    _, system, updated, *values = row
    fields = zip(view.fields, values, strict=True)
    item = {name: value for (_, name), value in fields if value is not None}
    return {**item, "source": {"system": system, "updated": updated}}
