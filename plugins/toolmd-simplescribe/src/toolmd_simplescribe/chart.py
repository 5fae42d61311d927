"""Read one patient's record; other patients' records are out of reach."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Final

from toolmd import ToolError
from toolmd.database import Database
from toolmd_simplescribe import views
from toolmd_simplescribe.codes import VITALS
from toolmd_simplescribe.moments import Span
from toolmd_simplescribe.progress import Progress, unheard
from toolmd_simplescribe.search.note_index import Indexed, IndexedNote, NoteIndex
from toolmd_simplescribe.views import Item

MOST: Final = 1000
"""Most items that a call may ask for: seed 002, "limit"."""


class Items(ABC):
    """The items of one patient, the newest first."""

    def labs(self, codes: Iterable[str] | None, span: Span | None, limit: int | None) -> list[Item]:
        """Return lab results of these codes; None for all codes."""
        return self._newest(views.LABS, codes, span, limit)

    def vitals(
        self, types: Iterable[str] | None, span: Span | None, limit: int | None
    ) -> list[Item]:
        """Return vital signs of these kinds."""
        return self._newest(views.VITALS, types or VITALS.values(), span, limit)

    def medications(self, status: str | None, span: Span | None, limit: int | None) -> list[Item]:
        """Return medications; a span selects by start date."""
        states = ("active", "stopped") if status is None else (status,)
        return self._newest(views.MEDICATIONS, states, span, limit)

    def problems(self, status: str | None, limit: int | None) -> list[Item]:
        """Return problems."""
        states = ("active", "resolved") if status is None else (status,)
        return self._newest(views.PROBLEMS, states, None, limit)

    def notes(self, span: Span | None, limit: int | None) -> list[Item]:
        """Return notes' metadata, without their text."""
        return self._newest(views.NOTES, (None,), span, limit)

    @abstractmethod
    def _newest(
        self,
        view: views.View,
        keys: Iterable[str | None] | None,
        span: Span | None,
        limit: int | None,
    ) -> list[Item]:
        """Return the newest items of these keys; None for all keys."""


class Chart(Items):
    """One patient's part of the store, with the patient's own index of notes."""

    def __init__(self, database: Database, number: int, index: NoteIndex) -> None:
        self.number = number
        self.index = index
        self._database = database

    def update_index(self, now: str, progress: Progress = unheard) -> Indexed:
        """Update the index to the stored notes; `now` is the time in ISO 8601."""
        return self.index.update(self.texts(), now, progress)

    def search(self, query: str, top_k: int, doc_ids: Iterable[str] | None) -> list[Item]:
        """Return the chunks of indexed notes that match a query best.

        Raises ToolError `notes_not_indexed` if the patient has notes but none is indexed.
        """
        current, outdated = self._notes_of(doc_ids)
        if outdated and not current:
            raise ToolError(
                "No note of this patient is indexed, so a search is not possible: ask the "
                "operator to index them (toolmd-simplescribe index).",
                code="notes_not_indexed",
            )
        return self.index.search(query, current, top_k)

    def outdated(self, doc_ids: Iterable[str] | None) -> list[str]:
        """Return the ids of notes that are not indexed as they are now, so no search finds them."""
        return sorted(self._notes_of(doc_ids)[1])

    def _notes_of(self, doc_ids: Iterable[str] | None) -> tuple[set[str], set[str]]:
        """Return the ids of notes with a current index, and of those without one."""
        wanted = None if doc_ids is None else set(doc_ids)
        known = self.index.known()
        there = {n.id: n.digest for n in self.texts() if wanted is None or n.id in wanted}
        current = {id_ for id_, digest in there.items() if known.get(id_) == digest}
        return current, there.keys() - current

    def texts(self) -> list[IndexedNote]:
        """Return the notes with a text, for the index only; tools do not return texts."""
        query = "SELECT id, digest, text FROM note WHERE patient = ? AND text <> '' ORDER BY id"
        with self._database.reading() as db:
            return [IndexedNote(*row) for row in db.execute(query, (self.number,))]

    def counts(self) -> dict[str, int]:
        """Return the number of items of each kind, for the operator."""
        with self._database.reading() as db:
            counted = {
                name: db.execute(
                    f"SELECT count(*) FROM {view.table} WHERE patient = ?",  # noqa: S608 - ours
                    (self.number,),
                ).fetchone()[0]
                for name, view in _KINDS.items()
            }
        return {**counted, "indexed_notes": len(self.index.known())}

    def _newest(
        self,
        view: views.View,
        keys: Iterable[str | None] | None,
        span: Span | None,
        limit: int | None,
    ) -> list[Item]:
        most = MOST if limit is None else min(limit, MOST)
        with self._database.reading() as db:
            if keys is None:
                keys = views.keys_of(db, view, self.number)
            return views.newest(db, view, self.number, keys, span, most)


_KINDS: Final = {
    "labs": views.LABS,
    "vitals": views.VITALS,
    "medications": views.MEDICATIONS,
    "problems": views.PROBLEMS,
    "notes": views.NOTES,
}
