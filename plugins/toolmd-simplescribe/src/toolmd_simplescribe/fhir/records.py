"""Convert a bundle to records of patients, and collect what no tool returns."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from toolmd_simplescribe.fhir.bundle import Bundle, Entry, instant
from toolmd_simplescribe.fhir.fields import LeftOutError, Row, at, named, words
from toolmd_simplescribe.fhir.observations import observation
from toolmd_simplescribe.fhir.statements import (
    Find,
    allergy,
    condition,
    document,
    encounter,
    medication,
)
from toolmd_simplescribe.moments import moment

KINDS: Final = ("labs", "vitals", "medications", "problems", "allergies", "encounters", "notes")
"""The kinds of items, each returned by one tool."""
_READING: Final = 2
"""Version of the conversion: records of an earlier version are loaded again."""
_READERS: Final[dict[str, tuple[str, Callable[[Entry, Find], Iterable[Row | LeftOutError]]]]] = {
    "Observation": ("none", lambda entry, _: observation(entry.resource)),
    "Condition": ("problems", lambda entry, _: condition(entry.resource)),
    "AllergyIntolerance": ("allergies", lambda entry, _: allergy(entry.resource)),
    "Encounter": ("encounters", lambda entry, _: encounter(entry.resource)),
    "DocumentReference": ("notes", lambda entry, _: document(entry.resource)),
    "MedicationRequest": ("medications", lambda entry, find: medication(entry.resource, find)),
    "MedicationStatement": ("medications", lambda entry, find: medication(entry.resource, find)),
}
"""The kind of a type's items, and what reads them."""
_BESIDE: Final = ("Patient", "Medication")
"""Types without items of their own, which are read where others refer to them."""
_CHANGED: Final = ("modifierExtension", "implicitRules")
"""Elements that can change the meaning of all others, in a way that no program knows."""


class Omission(NamedTuple):
    """What no tool returns, with the reason."""

    resource: str
    """`Observation/17`, as far as known."""
    reason: str
    kind: str = ""
    name: str = ""
    """What it is, in words, as far as known."""


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
    omissions: tuple[Omission, ...]


class Read(NamedTuple):
    """The records of a bundle."""

    records: list[Record]
    omissions: list[Omission]
    unknown: Counter[str]
    """Number of resources of types that no tool returns."""


def read_records(bundle: Bundle, system: str, now: str) -> Read:
    """Convert every entry; `system` and `now` are those of a resource without its own source."""
    read = Read([], [], Counter())
    for entry in bundle.entries:
        if entry.type not in _READERS and entry.type not in _BESIDE:
            read.unknown[entry.type or "(no resourceType)"] += 1
        elif entry.id is None:
            read.omissions.append(Omission(entry.type, "it has no id that FHIR allows"))
        elif entry.type in _READERS:
            name = f"{entry.type}/{entry.id}"
            if (patient := bundle.patient_of(entry)) is None:
                reason = "its subject is not a patient of this bundle or server"
                read.omissions.append(Omission(name, reason))
                continue
            read.records.append(record := _record(bundle, entry, patient, system, now))
            read.omissions.extend(record.omissions)
    return read


def _record(bundle: Bundle, entry: Entry, patient: str, system: str, now: str) -> Record:
    """Return an entry's record; one without items still replaces an earlier version."""
    found = list(_items(bundle, entry))
    rows = tuple(one for one in found if isinstance(one, Row))
    kind, _ = _READERS[entry.type]
    stated = instant(at(entry.resource, "meta", "lastUpdated")) or bundle.updated
    # The part after the `#` names one message, not the system.
    source = (words(entry.resource, "meta", "source", longest=200) or "").partition("#")[0]
    system = source or entry.server or system
    id_, updated = entry.id or "", stated or now
    omissions = tuple(
        Omission(f"{entry.type}/{id_}", str(why), why.kind or kind, why.name or "")
        for why in found
        if isinstance(why, LeftOutError)
    )
    text = json.dumps([_READING, patient, system, stated, rows, omissions])
    digest = sha256(text.encode()).hexdigest()
    at_ = moment(updated).at
    return Record(entry.type, id_, patient, system, updated, at_, digest, rows, omissions)


def _items(bundle: Bundle, entry: Entry) -> Iterator[Row | LeftOutError]:
    name = named(entry.resource, "code") or named(entry.resource, "medicationCodeableConcept")
    try:
        changed = next((one for one in _CHANGED if at(entry.resource, one)), None)
        if changed is not None:
            yield LeftOutError(f"its {changed} may change what it says", name=name)
            return
        _, reader = _READERS[entry.type]
        yield from reader(entry, lambda reference: bundle.find(reference, entry))
    except LeftOutError as why:
        why.name = why.name or name or named(entry.resource, "type")
        yield why
