"""Read a Bundle: its entries, its patients, and the targets of its references."""

import json
import re
from typing import Any, Final, NamedTuple, NoReturn

from toolmd import ToolmdError
from toolmd_simplescribe.fhir.fields import ID, Resource, at, words
from toolmd_simplescribe.moments import moment

LARGEST: Final = 512 * 1024 * 1024
"""Size limit of a bundle in bytes, since it is read as a whole."""
_ABSOLUTE: Final = re.compile(r"https?://", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"(?:(.*)/)?([A-Za-z]+)/([A-Za-z0-9.-]{1,64})(?:/_history/[^/]*)?")


class BundleError(ToolmdError):
    """A file that is not a bundle or must not be loaded; nothing of it was loaded."""


class Person(NamedTuple):
    """The patient of records; names are not stored."""

    id: str
    server: str | None
    """The FHIR server of this id, if the bundle names it."""
    birth_date: str | None


class Entry(NamedTuple):
    """A resource with its names."""

    resource: Resource
    type: str
    id: str | None
    server: str | None
    """The FHIR server of the resource, if its URL names one."""


class Bundle:
    """The entries of a bundle, with a lookup for references."""

    def __init__(self, body: Resource) -> None:
        """Index the entries; raises BundleError if two patients have the same id."""
        self.updated = instant(at(body, "meta", "lastUpdated")) or instant(at(body, "timestamp"))
        self.entries: list[Entry] = []
        self.empty = 0
        """Number of entries without a resource."""
        self._by_address: dict[str, Entry] = {}
        self.people: dict[str, Person] = {}
        for entry in body.get("entry") or []:
            self._add(entry)

    def _add(self, entry: Any) -> None:
        resource = at(entry, "resource")
        if not isinstance(resource, dict):
            self.empty += 1
            return
        address = words(entry, "fullUrl", longest=2000)
        found = _entry(resource, address)
        self.entries.append(found)
        if address is not None:
            self._by_address[address] = found
        self._by_address.setdefault(f"{found.type}/{found.id}", found)
        if found.type == "Patient" and found.id is not None:
            person = Person(found.id, found.server, words(resource, "birthDate", longest=10))
            if differs(self.people.setdefault(person.id, person), person):
                raise BundleError(f"it has two patients with the id {person.id}")

    def find(self, reference: str, entry: Entry) -> Resource | None:
        """Return the resource that a reference of an entry names, including contained ones."""
        if reference.startswith("#"):
            contained = at(entry.resource, "contained")
            listed = contained if isinstance(contained, list) else []
            return next((one for one in listed if at(one, "id") == reference[1:]), None)
        found = self._by_address.get(reference)
        return None if found is None else found.resource

    def patient_of(self, entry: Entry) -> str | None:
        """Return the id of the patient of an entry's subject; None without one.

        A URL on another server means another patient, whatever the id.
        """
        field = "patient" if entry.type == "AllergyIntolerance" else "subject"
        reference = words(entry.resource, field, "reference", longest=2000)
        if reference is None:
            return None
        known = self._by_address.get(reference)
        if known is not None:
            return known.id if known.type == "Patient" else None
        found = _REFERENCE.fullmatch(reference)
        if found is None or found[2] != "Patient":
            return None
        server = found[1]
        if server is not None and (not _ABSOLUTE.match(server) or server != entry.server):
            return None
        return found[3]


def read_bundle(data: bytes) -> Bundle:
    """Parse a file's bytes; raises BundleError with the reason."""
    if len(data) > LARGEST:
        raise BundleError(f"it is larger than {LARGEST // 1024**2} MB: split it")
    try:
        body = json.loads(data.decode("utf-8-sig"), parse_constant=_reject_constant)
    except UnicodeDecodeError as error:
        raise BundleError(f"it is not UTF-8 text (byte {error.start})") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BundleError(f"it is not JSON: {error.msg} ({where})") from None
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise BundleError(f"it is not JSON that can be read: {why}") from None
    kind = at(body, "resourceType")
    if kind != "Bundle":
        what = f"a {words(kind, longest=80)}" if isinstance(kind, str) else "plain JSON"
        raise BundleError(f"it is {what}, not a Bundle")
    if not isinstance(body.get("entry") or [], list):
        raise BundleError("its entry is not a list")
    return Bundle(body)


def _reject_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def instant(value: Any) -> str | None:
    """Return a date and time with its zone, unchanged; None for anything else."""
    text = words(value)
    if text is None or not re.search(r"T.*(Z|[+-]\d\d:\d\d)$", text):
        return None
    try:
        moment(text)
    except ValueError:
        return None
    return text


def differs(one: Person, other: Person) -> bool:
    """Return whether two records with the same id must be different persons."""
    if one.server and other.server and one.server != other.server:
        return True
    # One record may have only the year.
    first, second = one.birth_date or "", other.birth_date or ""
    return not (first.startswith(second) or second.startswith(first))


def _entry(resource: Resource, address: str | None) -> Entry:
    kind = words(resource, "resourceType", longest=80) or ""
    found = _REFERENCE.fullmatch(address) if address else None
    server = None
    if found is not None and found[1] and _ABSOLUTE.match(address or ""):
        server = found[1] if found[2] == kind else None
    id_ = words(resource, "id", longest=65)
    if id_ is None and address is not None:
        id_ = address.rpartition(":" if address.startswith("urn:") else "/")[2]
    return Entry(resource, kind, id_ if id_ and ID.fullmatch(id_) else None, server)
