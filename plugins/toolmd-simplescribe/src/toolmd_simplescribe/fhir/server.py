"""Read a patient's resources from a FHIR R4 server: search, paging, includes, within bounds."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from toolmd import ToolError
from toolmd_simplescribe.fhir.bundle import Bundle
from toolmd_simplescribe.fhir.fields import ID, Resource, at, objects, words

PAGE: Final = 200
"""Resources that are asked for in one page."""
MOST_PAGES, MOST_RESOURCES, MOST_READS = 50, 5_000, 200
"""Bounds of one call: pages of a search, resources in all, and single reads."""
LARGEST: Final = 32 * 1024 * 1024
"""Size limit of one answer in bytes, unpacked."""
_GOOD, _GONE, _BUSY, _FAILED = 200, (404, 410), 429, 500
_JSON: Final = "application/fhir+json"

TokenOf = Callable[[str | None], str]
"""Returns the token for a user of the host; empty for none."""
Search = tuple[str, Mapping[str, str]]
"""A type of resources, with the parameters of its search."""

SEARCHES: Final[dict[str, tuple[Search, ...]]] = {
    "labs": (("Observation", {"category": "laboratory"}),),
    "vitals": (("Observation", {"category": "vital-signs"}),),
    "medications": (
        ("MedicationRequest", {"_include": "MedicationRequest:medication"}),
        ("MedicationStatement", {"_include": "MedicationStatement:medication"}),
    ),
    "problems": (("Condition", {}),),
    "allergies": (("AllergyIntolerance", {}),),
    "encounters": (("Encounter", {}),),
    "notes": (("DocumentReference", {}),),
}
"""The searches for each kind of item; each is limited to the patient."""


class Fetched(NamedTuple):
    """What a server has about a patient."""

    bundle: Bundle
    remarks: tuple[str, ...]
    """What a reader must know: resources that are missing here."""


class FhirServer:
    """One FHIR R4 server; requests are made with the client of a call."""

    def __init__(self, url: str, token: TokenOf) -> None:
        """Use the server at a base address such as `https://fhir.example.org/r4`."""
        self.url = url.rstrip("/")
        self._token = token

    async def fetch(self, http: Any, user: str | None, patient: str, kind: str) -> Fetched:
        """Return all resources of a kind about a patient.

        Raises ToolError `patient_not_found` if the server does not know the patient. Temporary
        errors are those of the client, since the runtime retries them.
        """
        call = _Call(self.url, http, self._token(user))
        if not ID.fullmatch(patient) or (person := await call.read(f"Patient/{patient}")) is None:
            message = (
                f"The FHIR server has no patient {patient!r}. This says nothing about a person."
            )
            raise ToolError(message, code="patient_not_found")
        call.entries.append(person)
        for type_, parameters in SEARCHES[kind]:
            await call.search(
                type_, {"patient": f"Patient/{patient}", **parameters, "_count": str(PAGE)}
            )
        await call.follow()
        entries = [
            {"fullUrl": f"{self.url}/{one.get('resourceType')}/{one.get('id')}", "resource": one}
            for one in call.entries
        ]
        return Fetched(Bundle({"resourceType": "Bundle", "entry": entries}), tuple(call.remarks))


class _Call:
    """The requests of one call, which count together."""

    def __init__(self, url: str, http: Any, token: str) -> None:
        self._url = url
        self._http = http
        self._headers = {"accept": _JSON} | ({"authorization": f"Bearer {token}"} if token else {})
        self._reads = 0
        self.entries: list[Resource] = []
        self.remarks: list[str] = []

    async def search(self, type_: str, parameters: Mapping[str, str]) -> None:
        """Read a search page by page."""
        address: str | None = f"{self._url}/{type_}"
        query: Mapping[str, str] | None = parameters
        seen: set[str] = set()
        while address is not None:
            if len(seen) >= MOST_PAGES or len(self.entries) >= MOST_RESOURCES:
                self.remarks.append(
                    f"The server has more of {type_} than is read in one call ({MOST_PAGES} pages "
                    f"or {MOST_RESOURCES:,} resources): older or other items may be missing."
                )
                return
            seen.add(address)
            if (page := await self._get(address, query, "Bundle")) is None:
                self.remarks.append(f"The server does not offer {type_}.")
                return
            self.entries += [
                one
                for entry in objects(page, "entry")
                if isinstance(one := entry.get("resource"), dict)
                and one.get("resourceType") != "OperationOutcome"
            ]
            address, query = self._next(page, address), None
            if address in seen:
                raise _error("looping", "a page that follows itself")

    def _next(self, page: Resource, address: str) -> str | None:
        """Return the address of the next page, which must be on the same server."""
        links = objects(page, "link")
        named = next((one for one in links if at(one, "relation") == "next"), None)
        url = words(named, "url", longest=8_000)
        if url is None:
            return None
        found, own = urlsplit(urljoin(address, url)), urlsplit(self._url)
        if (found.scheme, found.netloc) != (own.scheme, own.netloc) or found.username:
            raise _error("elsewhere", "a next page on another server, which is not read")
        return found.geturl()

    async def follow(self) -> None:
        """Read the medicines and the texts of notes that the resources refer to."""
        there = {f"{one.get('resourceType')}/{one.get('id')}" for one in self.entries}
        for resource in list(self.entries):
            reference = words(resource, "medicationReference", "reference", longest=2_000)
            if reference and (local := self._local(reference, "Medication")) and local not in there:
                there.add(local)
                if (medicine := await self._read_more(local)) is not None:
                    self.entries.append(medicine)
            if resource.get("resourceType") == "DocumentReference":
                for content in objects(resource, "content"):
                    await self._attach(at(content, "attachment"))

    async def _attach(self, attachment: Any) -> None:
        """Put the text of an attachment in place of its address."""
        kind = (words(attachment, "contentType") or "").partition(";")[0].strip().lower()
        url = words(attachment, "url", longest=2_000)
        if kind != "text/plain" or url is None or at(attachment, "data") is not None:
            return
        if (local := self._local(url, "Binary")) is None:
            self.remarks.append("A note's text is on another server and was not read.")
        elif (binary := await self._read_more(local)) is not None:
            attachment["data"] = at(binary, "data")

    def _local(self, reference: str, type_: str) -> str | None:
        """Return `Type/id` of a reference to this server; None for another one."""
        path = reference.removeprefix(f"{self._url}/")
        kind, _, id_ = path.partition("/")
        return f"{type_}/{id_}" if kind == type_ and ID.fullmatch(id_) else None

    async def _read_more(self, local: str) -> Resource | None:
        self._reads += 1
        if self._reads > MOST_READS:
            if self._reads == MOST_READS + 1:
                self.remarks.append(f"Only the first {MOST_READS} texts or medicines were read.")
            return None
        if (found := await self.read(local)) is None:
            self.remarks.append(f"{local} is not on the server.")
        return found

    async def read(self, local: str) -> Resource | None:
        """Return one resource; None if the server does not have it."""
        return await self._get(f"{self._url}/{local}", None, local.partition("/")[0])

    async def _get(
        self, address: str, query: Mapping[str, str] | None, type_: str
    ) -> Resource | None:
        async with self._http.stream(
            "GET", address, params=query, headers=self._headers
        ) as response:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > LARGEST:
                    raise _error("too_large", f"more than {LARGEST // 1024**2} MB")
        status = response.status_code
        if status in _GONE:
            return None
        if status == _BUSY or status >= _FAILED:
            response.raise_for_status()
        if status != _GOOD:
            what = "its address or its token is wrong, or it forbids the search"
            raise _error("refused", f"status {status}: {what}")
        kind = response.headers.get("content-type", "").partition(";")[0].strip()
        if type_ == "Binary" and "json" not in kind:
            data = base64.b64encode(bytes(body)).decode()
            return {"resourceType": "Binary", "contentType": kind, "data": data}
        # An unreadable answer, such as a gateway's page, is temporary.
        garbled = ConnectionError("the FHIR server sent an unreadable answer")
        try:
            found = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise garbled from error
        if not isinstance(found, dict) or found.get("resourceType") != type_:
            raise garbled
        return found


def _error(what: str, message: str) -> ToolError:
    return ToolError(f"The FHIR server answered: {message}.", code=f"fhir_{what}")
