"""Turn a bundle into records of patients, and say what of it no tool can give."""

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
"""Counts the changes to how resources are read: records of an earlier reading load anew."""
_READERS: Final[dict[str, Callable[[Entry, Find], list[Row]]]] = {
    "Observation": lambda entry, _: observation(entry.resource),
    "Condition": lambda entry, _: condition(entry.resource),
    "DocumentReference": lambda entry, _: document(entry.resource),
    "MedicationRequest": lambda entry, find: medication(entry.resource, find),
    "MedicationStatement": lambda entry, find: medication(entry.resource, find),
}
_BESIDE: Final = ("Patient", "Medication")
"""Types that give no item, and are read where others name them."""


class Provenance(NamedTuple):
    """What stands in for what a resource does not tell of where it comes from."""

    system: str
    now: str
    """When it is loaded, in ISO 8601."""


class Read(NamedTuple):
    """What came of a bundle."""

    records: list[Record]
    omissions: list[Omission]
    unknown: Counter[str]
    """How many resources there are of types that no tool gives."""


def read_records(bundle: Bundle, stand_in: Provenance, progress: Progress) -> Read:
    """Read every entry; `progress` hears how many of how many are done."""
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
    """Give an entry's record, and why it gives no items if so.

    A resource that gives none is a record all the same: it takes the place of an earlier version.
    """
    if entry.id is None:
        yield Omission(entry.type, "it has no id that FHIR allows")
        return
    name = f"{entry.type}/{entry.id}"
    patient = bundle.patient_of(entry)
    if patient is None:
        yield Omission(name, "its subject is no patient of this bundle or server")
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
    # What stands behind the sign names one message, not the system.
    told = words(entry.resource, "meta", "source", longest=200)
    return (told or "").partition("#")[0] or entry.server


def _digest(patient: str, system: str, stated: str | None, rows: tuple[Row, ...]) -> str:
    text = json.dumps([_READING, patient, system, stated, rows])
    return sha256(text.encode()).hexdigest()
