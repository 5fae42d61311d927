"""Read the record of a call's patient, from the store or from a FHIR server."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from toolmd import Context, ToolSpec
from toolmd_simplescribe.fhir.server import Fetched, FhirServer
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import (
    MOST,
    Chart,
    Item,
    PatientStore,
    check_patient,
    load,
    utc_now,
)

MAY_MISS = (
    "A search can miss what the notes say. Never rely on it for allergies or another question of "
    "safety."
)
BY_WORDS = "Only words and their synonyms were searched, not meanings."
NEAREST = "No excerpt has a word of the query: these are the nearest by meaning."
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

    async def read(
        self, kind: str, keys: Iterable[str] | None, context: Context, asked: Mapping[str, Any]
    ) -> list[Item]:
        """Return the items of a kind with one of the keys, and note what is left out.

        `asked` are the arguments of the call. Raises ToolError `other_patient` for any patient
        but the one that the host named, and `patient_not_found` for one without records.
        """
        patient_id, span = asked["patient_id"], span_of(asked.get("date_range"))
        if self._server is None:
            chart = self.store.chart(patient_id, context.facts.get("patient"))
        else:
            fetched = await self._fetch(self._server, patient_id, kind, context)
            live = self.store.live_chart
            read = (fetched.bundle, patient_id, self._server.url, self._clock())
            chart = await asyncio.to_thread(live, *read)

        def find() -> tuple[list[str], list[Item]]:
            remarks = _left_out(chart, kind)
            if kind == "labs" and keys is not None and "codes" not in asked:
                counts = chart.keys(kind, span)
                if others := {key: count for key, count in counts.items() if key not in set(keys)}:
                    total = sum(others.values())
                    remarks.append(
                        f"Left out, the tool's list lacks it: {total} ({_shortened(others)})."
                    )
            return remarks, chart.items(kind, keys, span, asked.get("limit"))

        items = await _noted(find, context)
        if len(items) > MOST:
            context.clamped("limit", MOST)
        return items[:MOST]

    async def search(
        self, patient_id: str, query: str, top_k: int, doc_ids: list[str] | None, context: Context
    ) -> list[Item]:
        """Return the best excerpts of the patient's notes, and note what was not searched."""
        wanted = None if doc_ids is None else set(doc_ids)
        if self._server is not None:
            fetched = await self._fetch(self._server, patient_id, "notes", context)
            await asyncio.to_thread(self._keep, fetched, self._server.url, patient_id)
            # What the server withdrew stays in the store, but must not be found.
            there = {entry.id for entry in fetched.bundle.entries if entry.id is not None}
            wanted = there if wanted is None else there & wanted
        chart = self.store.chart(patient_id, context.facts.get("patient"))

        def find() -> tuple[list[str], list[Item]]:
            found, notes = chart.search(query, top_k, wanted), chart.notes(wanted)
            _, outdated = chart.indexed(notes)
            unread = [note.title for note in notes if not note.text]
            drafts = {note.id for note in notes if note.draft} & {one["note_id"] for one in found}
            remarks = [
                f"{len(names)} of {len(notes)} notes {remark}: {_shortened(names)}."
                for remark, names in (
                    ("were not searched, since they are not indexed as they are now", outdated),
                    ("have no text that can be searched, such as a scan or a PDF", unread),
                    ("with an excerpt here are drafts", sorted(drafts)),
                )
                if names
            ]
            remarks += _left_out(chart, "notes")
            if self.store.method.embedder is None:
                remarks.append(BY_WORDS)
            elif found and not chart.index.has_words(query):
                remarks.append(NEAREST)
            return [*remarks, MAY_MISS], found

        return await _noted(find, context)

    async def _fetch(
        self, server: FhirServer, patient_id: str, kind: str, context: Context
    ) -> Fetched:
        check_patient(patient_id, context.facts.get("patient"))
        fetched = await server.fetch(context.http, context.user, patient_id, kind)
        for remark in fetched.remarks:
            context.note(remark)
        return fetched

    def _keep(self, fetched: Fetched, system: str, patient_id: str) -> None:
        """Store the server's notes and index those that are new."""
        load(self.store.database, fetched.bundle, system=system, clock=self._clock)
        self.store.chart_of(patient_id).update_index(f"{self._clock():%Y-%m-%dT%H:%M:%SZ}")


async def _noted(find: Callable[[], tuple[list[str], list[Item]]], context: Context) -> list[Item]:
    """Return what is found in a thread, with its remarks as notes on the result."""
    remarks, found = await asyncio.to_thread(find)
    for remark in remarks:
        context.note(remark)
    return found


def _left_out(chart: Chart, kind: str) -> list[str]:
    """Count what no tool returns of a kind, by reason."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for (name, reason), count in sorted(chart.omitted(kind).items()):
        by_reason[reason] += [name] * count
    return [
        f"Left out, {reason}: {len(names)}"
        + (f" ({shown})." if (shown := _shortened(dict.fromkeys(filter(None, names)))) else ".")
        for reason, names in by_reason.items()
    ]


def _shortened(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:_SHOWN]) + (", …" if len(every) > _SHOWN else "")


def implementation(spec: ToolSpec) -> Callable[..., object] | None:
    """Return the function of a tool; the codes that get_labs returns are the Enum of its file."""
    if spec.name == "get_notes_search_results":
        return get_notes_search_results
    if (kind := _KINDS.get(spec.name)) is None:
        return None
    shape = next((p.shape for p in spec.parameters if p.name == "codes"), None)
    listed = None if shape is None or shape.items is None else shape.items.enum
    every = None if listed is None else [str(code) for code in listed]

    async def read(*, records: PatientRecords, context: Context, **asked: Any) -> list[Item]:
        keys = asked.get("codes") or asked.get("types") or every
        if "status" in asked:
            keys = [asked["status"]]
        return await records.read(kind, keys, context, asked)

    return read


async def get_notes_search_results(
    patient_id: str,
    query: str,
    top_k: int = 8,
    doc_ids: list[str] | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the excerpts, the best first."""
    return await records.search(patient_id, query, top_k, doc_ids, context)


_KINDS = {
    "get_labs": "labs",
    "get_vitals": "vitals",
    "get_meds": "medications",
    "get_problems": "problems",
    "get_allergies": "allergies",
    "get_encounters": "encounters",
    "get_notes": "notes",
}
TOOLS = (*_KINDS, "get_notes_search_results")
