"""Load FHIR bundles into the patient store: a file completely, or nothing of it."""

import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NamedTuple

from toolmd.database import Database
from toolmd_simplescribe.fhir.bundle import Bundle, BundleError, differs, read_bundle
from toolmd_simplescribe.fhir.records import Provenance, Read, read_records
from toolmd_simplescribe.fhir.rows import Person, Record, Row
from toolmd_simplescribe.progress import Progress, unheard

SYSTEM = "fhir"
"""The source of a resource that names no system and has no URL."""


class Loaded(NamedTuple):
    """The result of loading a file."""

    resources: Counter[str]
    """How many were `added`, `changed`, `unchanged`, or `older` than the stored version."""
    items: Counter[str]
    """Number of items in the added and changed resources, by table."""
    patients: Counter[str]
    """Number of resources of each patient."""
    unnamed: tuple[str, ...]
    """Patients of the resources whose own resource is not in the bundle."""
    read: Read
    empty: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "resources": dict(self.resources),
            "items": dict(self.items),
            "patients": dict(sorted(self.patients.items())),
            "patients_not_in_bundle": list(self.unnamed),
            "unknown_types": dict(sorted(self.read.unknown.items())),
            "left_out": [omission._asdict() for omission in self.read.omissions],
            "entries_without_resource": self.empty,
        }


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(tz=UTC)


def load(
    database: Database,
    data: bytes,
    *,
    system: str = SYSTEM,
    clock: Callable[[], datetime] = utc_now,
    progress: Progress = unheard,
) -> Loaded:
    """Load a bundle; raises BundleError, and then nothing of it was loaded.

    A resource of the same type and id replaces an earlier version; an older one changes nothing.
    `system` is the source of resources without one. `progress` receives the numbers of read and
    of all entries.
    """
    return load_bundle(database, read_bundle(data), system=system, clock=clock, progress=progress)


def load_bundle(
    database: Database,
    bundle: Bundle,
    *,
    system: str = SYSTEM,
    clock: Callable[[], datetime] = utc_now,
    progress: Progress = unheard,
) -> Loaded:
    """Load a parsed bundle, like `load`."""
    now = f"{clock().astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    read = read_records(bundle, Provenance(system, now), progress)
    with database.writing() as db:
        writer = _Writer(db, bundle)
        outcome = Counter(writer.write(record) for record in read.records)
    about = Counter(record.patient for record in read.records)
    unnamed = tuple(sorted(about.keys() - bundle.people.keys()))
    return Loaded(outcome, writer.items, about, unnamed, read, bundle.empty)


class _Writer:
    """Writes one bundle's records within a transaction."""

    def __init__(self, db: sqlite3.Connection, bundle: Bundle) -> None:
        self._db = db
        self.items: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}
        for person in bundle.people.values():
            self._meet(person)

    def _meet(self, person: Person) -> None:
        query = "SELECT id, server, birth_date FROM patient WHERE id = ?"
        known = self._db.execute(query, (person.id,)).fetchone()
        if known is not None and differs(Person(*known), person):
            raise BundleError(
                f"its patient {person.id} has another birth date, or lies on another server, than "
                f"the one in the store: if they are one person, forget {person.id} and load again"
            )
        self._db.execute(
            "INSERT INTO patient (id, server, birth_date) VALUES (:id, :server, :birth_date) "
            "ON CONFLICT (id) DO UPDATE SET server = coalesce(:server, server), "
            "birth_date = coalesce(:birth_date, birth_date)",
            person._asdict(),
        )

    def write(self, record: Record) -> str:
        """Write a record and return its outcome."""
        patient = self._number(record.patient)
        query = "SELECT number, patient, updated_at, digest FROM resource WHERE type = ? AND id = ?"
        known = self._db.execute(query, (record.type, record.id)).fetchone()
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
            self._db.execute("DELETE FROM resource WHERE number = ?", (number,))
        self._insert(record, patient)
        return "added" if known is None else "changed"

    def _insert(self, record: Record, patient: int) -> None:
        resource = self._db.execute(
            "INSERT INTO resource (type, id, patient, updated_at, digest) VALUES (?, ?, ?, ?, ?)",
            (record.type, record.id, patient, record.updated_at, record.digest),
        ).lastrowid
        provenance = {"system": record.system, "updated": record.updated}
        owner = {"resource": resource, "patient": patient, **provenance}
        for row in record.rows:
            self._db.execute(_insertion(row), {**owner, **row.values})
            self.items[row.table] += 1

    def _number(self, patient_id: str) -> int:
        if patient_id not in self._numbers:
            self._db.execute("INSERT OR IGNORE INTO patient (id) VALUES (?)", (patient_id,))
            query = "SELECT number FROM patient WHERE id = ?"
            self._numbers[patient_id] = self._db.execute(query, (patient_id,)).fetchone()[0]
        return self._numbers[patient_id]


def _insertion(row: Row) -> str:
    names = ("resource", "patient", "system", "updated", *row.values)
    marks = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {row.table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 - names of our own
