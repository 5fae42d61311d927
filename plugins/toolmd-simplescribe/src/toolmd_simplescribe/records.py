"""Read the record of a call's patient, from the store or from a FHIR server."""

import asyncio
from collections.abc import Callable, Iterable
from datetime import datetime

from toolmd import Context, ToolSpec
from toolmd_simplescribe.chart import Items
from toolmd_simplescribe.fhir.records import Provenance, Read, read_records
from toolmd_simplescribe.fhir.server import Fetched, FhirServer, missing
from toolmd_simplescribe.live_chart import LiveChart
from toolmd_simplescribe.loader import load_bundle, utc_now
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.progress import unheard
from toolmd_simplescribe.store import PatientStore, check_patient
from toolmd_simplescribe.views import Item

MAY_MISS = (
    "A search can miss what the notes say. Never rely on it for allergies or another question of "
    "safety."
)
BY_WORDS = "Only words and their synonyms were searched, not meanings."
_SHOWN = 5


class PatientRecords:
    """The patients' records: those of the server if one is set, else the store's."""

    def __init__(
        self,
        store: PatientStore,
        server: FhirServer | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Read the store, or a server; notes of the server are searched in the store's index."""
        self.store = store
        self._server = server
        self._clock = clock

    async def items(self, patient_id: str, kind: str, context: Context) -> Items:
        """Return the items of a kind, such as `labs`.

        Raises ToolError `other_patient` for any patient but the one that the host named, and
        `patient_not_found` for one without records.
        """
        if self._server is None:
            named = context.facts.get("patient")
            return await asyncio.to_thread(self.store.chart, patient_id, named)
        fetched = await self._fetch(self._server, patient_id, kind, context)
        read = await asyncio.to_thread(self._read, fetched, self._server.url)
        if (remark := missing(omission.reason for omission in read.omissions)) is not None:
            context.note(remark)
        return LiveChart([one for one in read.records if one.patient == patient_id])

    async def search(
        self, patient_id: str, query: str, top_k: int, doc_ids: list[str] | None, context: Context
    ) -> list[Item]:
        """Return the best excerpts of the patient's notes, and note what was not searched."""
        wanted: Iterable[str] | None = doc_ids
        if self._server is not None:
            fetched = await self._fetch(self._server, patient_id, "notes", context)
            await asyncio.to_thread(self._keep, fetched, self._server.url, patient_id)
            # What the server withdrew stays in the store, but must not be found.
            there = {entry.id for entry in fetched.bundle.entries if entry.id is not None}
            wanted = there if doc_ids is None else there & set(doc_ids)
        named = context.facts.get("patient")
        chart = await asyncio.to_thread(self.store.chart, patient_id, named)
        found = await asyncio.to_thread(chart.search, query, top_k, wanted)
        outdated = await asyncio.to_thread(chart.outdated, wanted)
        if outdated:
            more = ", …" if len(outdated) > _SHOWN else ""
            context.note(
                f"{len(outdated)} notes are not indexed as they are now and were not searched: "
                f"{', '.join(outdated[:_SHOWN])}{more}."
            )
        if self.store.method.embedder is None:
            context.note(BY_WORDS)
        context.note(MAY_MISS)
        return found

    async def _fetch(
        self, server: FhirServer, patient_id: str, kind: str, context: Context
    ) -> Fetched:
        check_patient(patient_id, context.facts.get("patient"))
        fetched = await server.fetch(context.http, context.user, patient_id, kind)
        for remark in fetched.remarks:
            context.note(remark)
        return fetched

    def _read(self, fetched: Fetched, system: str) -> Read:
        now = f"{self._clock():%Y-%m-%dT%H:%M:%SZ}"
        return read_records(fetched.bundle, Provenance(system, now), unheard)

    def _keep(self, fetched: Fetched, system: str, patient_id: str) -> None:
        """Store the server's notes and index those that are new."""
        load_bundle(self.store.database, fetched.bundle, system=system, clock=self._clock)
        now = f"{self._clock():%Y-%m-%dT%H:%M:%SZ}"
        self.store.chart_of(patient_id).update_index(now)


def labs_tool(spec: ToolSpec) -> "Callable[..., object]":
    """Return the function of get_labs; the codes that it returns are the Enum of its file."""
    shape = next((p.shape for p in spec.parameters if p.name == "codes"), None)
    listed = None if shape is None or shape.items is None else shape.items.enum
    allowed = None if listed is None else [str(code) for code in listed]

    async def get_labs(
        patient_id: str,
        date_range: dict[str, str] | None = None,
        codes: list[str] | None = None,
        limit: int | None = None,
        *,
        records: PatientRecords,
        context: Context,
    ) -> list[Item]:
        """Return the results, the newest first."""
        chart = await records.items(patient_id, "labs", context)
        asked = allowed if codes is None else codes
        return await asyncio.to_thread(chart.labs, asked, span_of(date_range), limit)

    return get_labs
