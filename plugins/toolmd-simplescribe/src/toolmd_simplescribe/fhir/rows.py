"""Name what a resource becomes in the store."""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of a table of items, without what all of them have: owner and provenance."""

    table: str
    values: dict[str, Any]


class Record(NamedTuple):
    """A resource that belongs to a patient, and the items that it gives, if any."""

    type: str
    id: str
    patient: str
    system: str
    updated: str
    updated_at: int
    digest: str
    """Of everything that the rows were made of: equal digests give equal rows."""
    rows: tuple[Row, ...]


class Omission(NamedTuple):
    """A resource of which nothing is given, and why."""

    resource: str
    """`Observation/17`, as far as it can be told."""
    reason: str


class Person(NamedTuple):
    """Whom records are about; no name is kept."""

    id: str
    server: str | None
    """The FHIR server whose id this is, where the bundle tells."""
    birth_date: str | None
