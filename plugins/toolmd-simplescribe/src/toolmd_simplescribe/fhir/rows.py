"""Types for the rows of the store."""

from typing import Any, NamedTuple


class Row(NamedTuple):
    """One row of a table of items, without the common columns: owner and provenance."""

    table: str
    values: dict[str, Any]


class Record(NamedTuple):
    """A resource of a patient, with its items, if any."""

    type: str
    id: str
    patient: str
    system: str
    updated: str
    updated_at: int
    digest: str
    """Digest of all input of the rows: equal digests mean equal rows."""
    rows: tuple[Row, ...]


class Omission(NamedTuple):
    """A resource without items, with the reason."""

    resource: str
    """`Observation/17`, as far as known."""
    reason: str


class Person(NamedTuple):
    """The patient of records; names are not stored."""

    id: str
    server: str | None
    """The FHIR server of this id, if the bundle names it."""
    birth_date: str | None
