"""Read the record of a call's patient, from the store or from a FHIR server."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from toolmd import Context, ToolSpec
from toolmd_simplescribe.codes import VITALS
from toolmd_simplescribe.fhir.server import Fetched, FhirServer
from toolmd_simplescribe.moments import span_of
from toolmd_simplescribe.store import (
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
Range = dict[str, str] | None


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

    async def read(  # noqa: PLR0913 - one for each parameter of a tool
        self,
        context: Context,
        patient_id: str,
        kind: str,
        *,
        keys: Iterable[str] | None = None,
        listed: bool = False,
        date_range: Range = None,
        limit: int | None = None,
    ) -> list[Item]:
        """Return the items of a kind, such as `labs`, and note what is left out.

        `listed` says that the keys are all that the tool knows, and not the caller's choice.

        Raises ToolError `other_patient` for any patient but the one that the host named, and
        `patient_not_found` for one without records.
        """
        span = span_of(date_range)
        if self._server is None:
            chart = self.store.chart(patient_id, context.facts.get("patient"))
        else:
            fetched = await self._fetch(self._server, patient_id, kind, context)
            live = self.store.live_chart
            read = (fetched.bundle, patient_id, self._server.url, self._clock())
            chart = await asyncio.to_thread(live, *read)
        for remark in await asyncio.to_thread(_left_out, chart, kind):
            context.note(remark)
        if keys is not None and listed:
            counts = await asyncio.to_thread(chart.keys, kind, span)
            if others := {key: count for key, count in counts.items() if key not in set(keys)}:
                total = sum(others.values())
                context.note(f"Left out, the tool's list lacks it: {total} ({_shortened(others)}).")
        return await asyncio.to_thread(chart.items, kind, keys, span, limit)

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
        found = await asyncio.to_thread(chart.search, query, top_k, wanted)
        notes = await asyncio.to_thread(chart.notes, wanted)
        _, outdated = await asyncio.to_thread(chart.indexed, notes)
        unread = [note.title for note in notes if not note.text]
        drafts = {note.id for note in notes if note.draft} & {one["note_id"] for one in found}
        for remark, names in (
            ("were not searched, since they are not indexed as they are now", outdated),
            ("have no text that can be searched, such as a scan or a PDF", unread),
            ("with an excerpt here are drafts", sorted(drafts)),
        ):
            if names:
                total = f"{len(names)} of {len(notes)} notes"
                context.note(f"{total} {remark}: {_shortened(names)}.")
        for remark in await asyncio.to_thread(_left_out, chart, "notes"):
            context.note(remark)
        if self.store.method.embedder is None:
            context.note(BY_WORDS)
        elif found and not await asyncio.to_thread(chart.index.has_words, query):
            context.note(NEAREST)
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

    def _keep(self, fetched: Fetched, system: str, patient_id: str) -> None:
        """Store the server's notes and index those that are new."""
        load(self.store.database, fetched.bundle, system=system, clock=self._clock)
        self.store.chart_of(patient_id).update_index(f"{self._clock():%Y-%m-%dT%H:%M:%SZ}")


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
    if spec.name != "get_labs":
        return _TOOLS.get(spec.name)
    shape = next((p.shape for p in spec.parameters if p.name == "codes"), None)
    listed = None if shape is None or shape.items is None else shape.items.enum
    allowed = None if listed is None else [str(code) for code in listed]

    async def get_labs(
        patient_id: str,
        date_range: Range = None,
        codes: list[str] | None = None,
        limit: int | None = None,
        *,
        records: PatientRecords,
        context: Context,
    ) -> list[Item]:
        """Return the results, the newest first."""
        return await records.read(
            context,
            patient_id,
            "labs",
            keys=codes or allowed,
            listed=codes is None,
            date_range=date_range,
            limit=limit,
        )

    return get_labs


async def get_vitals(
    patient_id: str,
    date_range: Range = None,
    types: list[str] | None = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the readings, the newest first."""
    keys = types or VITALS.values()
    return await records.read(
        context, patient_id, "vitals", keys=keys, date_range=date_range, limit=limit
    )


async def get_meds(
    patient_id: str,
    status: str | None = None,
    date_range: Range = None,
    limit: int | None = None,
    *,
    records: PatientRecords,
    context: Context,
) -> list[Item]:
    """Return the medications, the latest started first."""
    keys = status and [status]
    return await records.read(
        context, patient_id, "medications", keys=keys, date_range=date_range, limit=limit
    )


def _by_status(kind: str) -> Callable[..., object]:
    async def read(
        patient_id: str,
        status: str | None = None,
        limit: int | None = None,
        *,
        records: PatientRecords,
        context: Context,
    ) -> list[Item]:
        keys = status and [status]
        return await records.read(context, patient_id, kind, keys=keys, limit=limit)

    return read


def _by_date(kind: str) -> Callable[..., object]:
    async def read(
        patient_id: str,
        date_range: Range = None,
        limit: int | None = None,
        *,
        records: PatientRecords,
        context: Context,
    ) -> list[Item]:
        return await records.read(context, patient_id, kind, date_range=date_range, limit=limit)

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


_TOOLS: Mapping[str, Callable[..., object]] = {
    "get_vitals": get_vitals,
    "get_meds": get_meds,
    "get_problems": _by_status("problems"),
    "get_allergies": _by_status("allergies"),
    "get_encounters": _by_date("encounters"),
    "get_notes": _by_date("notes"),
    "get_notes_search_results": get_notes_search_results,
}
TOOLS = ("get_labs", *_TOOLS)
