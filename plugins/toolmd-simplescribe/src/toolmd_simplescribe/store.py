"""Keep the patients' records: one file of items, and one index of notes per patient."""

import heapq
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolmd import NotFoundError, ToolError
from toolmd.database import Database
from toolmd_simplescribe.fhir.bundle import Bundle, BundleError, Person, differs, read_bundle
from toolmd_simplescribe.fhir.records import KINDS, Read, Record, read_records
from toolmd_simplescribe.moments import Span
from toolmd_simplescribe.search.method import Method
from toolmd_simplescribe.search.note_index import Indexed, IndexedNote, NoteIndex

FILE = "simplescribe.sqlite3"
"""The file of the store in the project's state folder."""
INDEXES = "simplescribe-notes"
"""The folder next to it with each patient's index of notes."""
MOST: Final = 500
"""Most items that a call returns; a call may ask for 1000: seed 002, "server may clamp lower"."""
SYSTEM = "fhir"
"""The source of a resource that names no system and has no URL."""
Item = dict[str, Any]
"""One item of a response, with its `source`."""
_NEVER: Final = -(2**63)
"""The time of an item without a date: before all others."""

_MIGRATIONS: Final = ((), (), (files("toolmd_simplescribe") / "schema.sql").read_text("utf-8"))

OTHER_PATIENT = (
    "This conversation is about another patient. Use the patient_id that the host supplied; "
    "other records can't be read."
)
"""The message for a call with another patient; it contains neither of the two ids."""
Omitted = Counter[tuple[str, str]]
"""How often a name and a reason were left out."""


class Memory:
    """A store that ends with its call, for the records of a FHIR server."""

    def __init__(self) -> None:
        """Create the tables."""
        self._db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._db.executescript(_MIGRATIONS[-1])

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Open the connection."""
        yield self._db

    reading = writing


class Chart:
    """One patient's part of the store, with the patient's own index of notes."""

    def __init__(self, database: Database | Memory, number: int, index: NoteIndex) -> None:
        self.number = number
        self.index = index
        self._database = database

    def items(
        self, kind: str, keys: Iterable[str] | None = None,
        span: Span | None = None, limit: int | None = None,
    ) -> list[Item]:  # fmt: skip
        """Return the newest items, those without a date last; one beyond MOST if there are more."""
        with self._database.reading() as db:
            if keys is None:
                every = "SELECT DISTINCT key FROM item WHERE patient = ? AND kind = ?"
                keys = [key for (key,) in db.execute(every, (self.number, kind))]
            return newest(db, self.number, kind, keys, span, min(limit or MOST + 1, MOST + 1))

    def keys(self, kind: str, span: Span | None = None) -> Counter[str]:
        """Count the items of a kind by key."""
        query = "SELECT key, count(*) FROM item WHERE patient = ? AND kind = ?"
        given: tuple[Any, ...] = (self.number, kind)
        if span is not None:
            query, given = f"{query} AND at >= ? AND at < ?", (*given, *span)
        with self._database.reading() as db:
            return Counter(dict(db.execute(f"{query} GROUP BY key", given).fetchall()))

    def omitted(self, kind: str) -> Omitted:
        """Count what no tool returns."""
        query = "SELECT name, reason FROM omission WHERE patient = ? AND kind = ?"
        with self._database.reading() as db:
            return Counter(tuple(row) for row in db.execute(query, (self.number, kind)))

    def update_index(self, now: str) -> Indexed:
        """Index the notes as they are now; `now` is the time in ISO 8601."""
        return self.index.update([note for note in self.notes() if note.text], now)

    def search(self, query: str, top_k: int, doc_ids: Collection[str] | None = None) -> list[Item]:
        """Return the chunks of indexed notes that match a query best.

        Raises ToolError `notes_not_indexed` if the patient has notes but none is indexed.
        """
        current, outdated = self.indexed(self.notes(doc_ids))
        if outdated and not current:
            raise ToolError(
                "No note of this patient is indexed, so a search is not possible: ask the "
                "operator to index them (toolmd-simplescribe index).",
                code="notes_not_indexed",
            )
        return self.index.search(query, current, top_k)

    def indexed(self, notes: Iterable[IndexedNote]) -> tuple[list[str], list[str]]:
        """Return the ids of notes with a current index, and of those that are not searched."""
        known, there = self.index.known(), {note.id: note.digest for note in notes if note.text}
        current = sorted(id_ for id_, digest in there.items() if known.get(id_) == digest)
        return current, sorted(there.keys() - set(current))

    def notes(self, doc_ids: Collection[str] | None = None) -> list[IndexedNote]:
        """Return the notes with their texts, for the index only; tools do not return texts."""
        query = (
            "SELECT resource.id, item.text, item.body, item.key FROM item "
            "JOIN resource ON resource.number = item.resource "
            "WHERE item.patient = ? AND item.kind = 'notes' ORDER BY resource.id"
        )
        with self._database.reading() as db:
            rows = db.execute(query, (self.number,)).fetchall()
        return [
            IndexedNote(id_, sha256(text.encode()).hexdigest(), text, json.loads(body)["title"],
                        draft=key == "draft")
            for id_, text, body, key in rows
            if doc_ids is None or id_ in doc_ids
        ]  # fmt: skip

    def counts(self) -> dict[str, int]:
        """Return the number of items of each kind, for the operator."""
        counted = {kind: self.keys(kind).total() for kind in KINDS}
        return {**counted, "indexed notes": len(self.index.known())}


def newest(
    db: sqlite3.Connection,
    patient: int,
    kind: str,
    keys: Iterable[str],
    span: Span | None,
    most: int,
) -> list[Item]:
    """Return the newest items of these keys.

    Each key is one query along the index in order, read only as far as needed: its cost grows
    with its result, not with the table.
    """
    asked = {"patient": patient, "kind": kind, "most": most}
    if span is not None:
        asked |= {"start": span.start, "end": span.end}
    query = look_up(ranged=span is not None)
    found = [db.execute(query, {**asked, "key": key}) for key in sorted(set(keys))]
    merged = heapq.merge(*found, key=lambda r: _NEVER if r[0] is None else r[0], reverse=True)
    return [json.loads(body) for _, body in islice(merged, most)]


def look_up(*, ranged: bool) -> str:
    """Return the query for the items of one key, the newest first."""
    times = "AND at >= :start AND at < :end " if ranged else ""
    return (
        "SELECT at, body FROM item WHERE patient = :patient AND kind = :kind AND key = :key "  # noqa: S608 - ours
        f"{times}ORDER BY at DESC, number LIMIT :most"
    )


class PatientStore:
    """The records of all patients; a tool reads only the chart that the host names."""

    def __init__(self, state: Path, method: Method | None = None) -> None:
        """Open the store of a state folder; by default, words and their synonyms are searched."""
        self.method = method or Method()
        self.database = Database(state / FILE, _MIGRATIONS)
        self._indexes = state / INDEXES
        self.close = self.database.close

    def chart(self, patient_id: str, caller_patient: str | None) -> Chart:
        """Return the chart of a call, if it is that of the patient in the caller's context.

        Raises ToolError `other_patient` for any other patient, and `patient_not_found` for a
        patient without loaded records, which must not look like a healthy patient.
        """
        check_patient(patient_id, caller_patient)
        if (chart := self._chart(patient_id)) is None:
            message = (
                f"No records are loaded for patient {patient_id!r}. This says nothing about the "
                "patient: ask the operator to load the record."
            )
            raise ToolError(message, code="patient_not_found")
        return chart

    def patients(self) -> list[str]:
        """Return the ids of all patients, for the operator."""
        with self.database.reading() as db:
            return [id_ for (id_,) in db.execute("SELECT id FROM patient ORDER BY id")]

    def chart_of(self, patient_id: str) -> Chart:
        """Return one patient's chart, for the operator; raises NotFoundError."""
        if (chart := self._chart(patient_id)) is None:
            raise NotFoundError(f"no records are loaded for patient {patient_id!r}")
        return chart

    def forget(self, patient_id: str) -> None:
        """Delete all data of a patient; raises NotFoundError."""
        chart = self.chart_of(patient_id)
        with self.database.writing() as db:
            db.execute("DELETE FROM patient WHERE number = ?", (chart.number,))
        chart.index.remove()

    def live_chart(self, bundle: Bundle, patient_id: str, system: str, now: datetime) -> Chart:
        """Return the chart of a patient of a FHIR server, which is not stored."""
        memory = Memory()
        load(memory, bundle, system=system, clock=lambda: now)
        chart = self._chart(patient_id, memory)
        assert chart is not None, "the bundle has the patient"
        return chart

    def _chart(self, patient_id: str, database: Database | Memory | None = None) -> Chart | None:
        database = database or self.database
        with database.reading() as db:
            query = "SELECT number FROM patient WHERE id = ?"
            row = db.execute(query, (patient_id,)).fetchone()
        if row is None:
            return None
        index = NoteIndex(self._indexes / f"{row[0]}.sqlite3", self.method)
        return Chart(database, row[0], index)


def check_patient(patient_id: str, caller_patient: str | None) -> None:
    """Raise ToolError `other_patient` unless the host named this patient."""
    if caller_patient is None or patient_id != caller_patient:
        raise ToolError(OTHER_PATIENT, code="other_patient")


class Loaded(NamedTuple):
    """The result of loading a bundle."""

    resources: Counter[str]
    """How many were `added`, `changed`, `unchanged`, or `older` than the stored version."""
    items: Counter[str]
    """Number of items in the added and changed resources, by kind."""
    patients: Counter[str]
    """Number of resources of each patient."""
    unnamed: tuple[str, ...]
    """Patients of the resources whose own resource is not in the bundle."""
    read: Read
    empty: int


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(tz=UTC)


def load(
    database: Database | Memory,
    bundle: Bundle | bytes,
    *,
    system: str = SYSTEM,
    clock: Callable[[], datetime] = utc_now,
) -> Loaded:
    """Load a bundle completely; raises BundleError, and then nothing of it was loaded.

    A resource of the same type and id replaces an earlier version; an older one changes nothing.
    `system` is the source of resources without one.
    """
    if isinstance(bundle, bytes):
        bundle = read_bundle(bundle)
    now = f"{clock().astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    read = read_records(bundle, system, now)
    outcomes, items = Counter[str](), Counter[str]()
    with database.writing() as db:
        for person in bundle.people.values():
            _meet(db, person)
        for record in read.records:
            outcome = _write(db, record)
            outcomes[outcome] += 1
            if outcome in ("added", "changed"):
                items.update(row.kind for row in record.rows)
    about = Counter(record.patient for record in read.records)
    unnamed = tuple(sorted(about.keys() - bundle.people.keys()))
    return Loaded(outcomes, items, about, unnamed, read, bundle.empty)


def _meet(db: sqlite3.Connection, person: Person) -> None:
    query = "SELECT id, server, birth_date FROM patient WHERE id = ?"
    known = db.execute(query, (person.id,)).fetchone()
    if known is not None and differs(Person(*known), person):
        raise BundleError(
            f"its patient {person.id} has another birth date, or lies on another server, than "
            f"the one in the store: if they are one person, forget {person.id} and load again"
        )
    db.execute(
        "INSERT INTO patient (id, server, birth_date) VALUES (:id, :server, :birth_date) "
        "ON CONFLICT (id) DO UPDATE SET server = coalesce(:server, server), "
        "birth_date = coalesce(:birth_date, birth_date)",
        person._asdict(),
    )


def _write(db: sqlite3.Connection, record: Record) -> str:
    """Write a record and return its outcome."""
    db.execute("INSERT OR IGNORE INTO patient (id) VALUES (?)", (record.patient,))
    query = "SELECT number FROM patient WHERE id = ?"
    (patient,) = db.execute(query, (record.patient,)).fetchone()
    query = "SELECT number, patient, updated_at, digest FROM resource WHERE type = ? AND id = ?"
    known = db.execute(query, (record.type, record.id)).fetchone()
    if known is not None:
        number, owner, updated_at, digest = known
        if digest == record.digest:
            return "unchanged"
        if owner != patient:
            raise BundleError(
                f"its {record.type}/{record.id} is about patient {record.patient}, and about "
                "another one in the store: forget that one if this is right, and load again"
            )
        if updated_at > record.updated_at:
            return "older"
        db.execute("DELETE FROM resource WHERE number = ?", (number,))
    resource = db.execute(
        "INSERT INTO resource (type, id, patient, updated_at, digest) VALUES (?, ?, ?, ?, ?)",
        (record.type, record.id, patient, record.updated_at, record.digest),
    ).lastrowid
    for row in record.rows:
        stated = {name: value for name, value in row.item.items() if value is not None}
        source = {"system": record.system, "updated": record.updated}
        body = json.dumps({**stated, "source": source})
        db.execute(
            "INSERT INTO item (resource, patient, kind, key, at, body, text) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (resource, patient, row.kind, row.key, row.at, body, row.text),
        )
    for one in record.omissions:
        given = (resource, patient, one.kind, one.name, one.reason)
        db.execute("INSERT INTO omission VALUES (?, ?, ?, ?, ?)", given)
    return "added" if known is None else "changed"
