"""Convert a bundle to records of patients, and collect the resources that no tool returns."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from toolmd_simplescribe.fhir.bundle import Bundle, Entry, instant
from toolmd_simplescribe.fhir.conditions import condition
from toolmd_simplescribe.fhir.documents import document
from toolmd_simplescribe.fhir.fields import LeftOutError, at, words
from toolmd_simplescribe.fhir.medications import Find, medication
from toolmd_simplescribe.fhir.observations import observation
from toolmd_simplescribe.fhir.rows import Omission, Record, Row
from toolmd_simplescribe.moments import moment
from toolmd_simplescribe.progress import Progress

_READING: Final = 1
"""Version of the conversion: records of an earlier version are loaded again."""
_READERS: Final[dict[str, Callable[[Entry, Find], list[Row]]]] = {
    "Observation": lambda entry, _: observation(entry.resource),
    "Condition": lambda entry, _: condition(entry.resource),
    "DocumentReference": lambda entry, _: document(entry.resource),
    "MedicationRequest": lambda entry, find: medication(entry.resource, find),
    "MedicationStatement": lambda entry, find: medication(entry.resource, find),
}
_BESIDE: Final = ("Patient", "Medication")
"""Types without items of their own, which are read where others refer to them."""


class Provenance(NamedTuple):
    """Defaults for a resource without its own provenance."""

    system: str
    now: str
    """The time of loading, in ISO 8601."""


class Read(NamedTuple):
    """The records of a bundle."""

    records: list[Record]
    omissions: list[Omission]
    unknown: Counter[str]
    """Number of resources of types that no tool returns."""


def read_records(bundle: Bundle, stand_in: Provenance, progress: Progress) -> Read:
    """Convert every entry; `progress` receives the numbers of converted and of all entries."""
    read = Read([], [], Counter())
    for done, entry in enumerate(bundle.entries, 1):
        if entry.type in _READERS:
            for found in _read(bundle, entry, stand_in):
                if isinstance(found, Record):
                    read.records.append(found)
                else:
                    read.omissions.append(found)
        elif entry.type not in _BESIDE:
            read.unknown[entry.type or "(no resourceType)"] += 1
        elif entry.id is None:
            read.omissions.append(Omission(entry.type, "it has no id that FHIR allows"))
        progress(done, len(bundle.entries))
    return read


def _read(bundle: Bundle, entry: Entry, stand_in: Provenance) -> Iterator[Record | Omission]:
    """Return an entry's record, and the reason if it has no items.

    A resource without items is still a record: it replaces an earlier version.
    """
    if entry.id is None:
        yield Omission(entry.type, "it has no id that FHIR allows")
        return
    name = f"{entry.type}/{entry.id}"
    patient = bundle.patient_of(entry)
    if patient is None:
        yield Omission(name, "its subject is not a patient of this bundle or server")
        return
    rows: tuple[Row, ...] = ()
    try:
        rows = tuple(_READERS[entry.type](entry, lambda it: bundle.find(it, entry)))
    except LeftOutError as why:
        yield Omission(name, str(why))
    stated = instant(at(entry.resource, "meta", "lastUpdated")) or bundle.updated
    system = _system(entry) or stand_in.system
    yield Record(
        type=entry.type,
        id=entry.id,
        patient=patient,
        system=system,
        updated=stated or stand_in.now,
        updated_at=moment(stated or stand_in.now).at,
        digest=_digest(patient, system, stated, rows),
        rows=rows,
    )


def _system(entry: Entry) -> str | None:
    # The part after the `#` names one message, not the system.
    told = words(entry.resource, "meta", "source", longest=200)
    return (told or "").partition("#")[0] or entry.server


def _digest(patient: str, system: str, stated: str | None, rows: tuple[Row, ...]) -> str:
    text = json.dumps([_READING, patient, system, stated, rows])
    return sha256(text.encode()).hexdigest()
