"""Read one patient's record; other patients' records are out of reach."""

from collections.abc import Iterable
from typing import Final

from toolmd import ToolError
from toolmd.database import Database
from toolmd_simplescribe import views
from toolmd_simplescribe.allow_list import LABS, VITALS
from toolmd_simplescribe.moments import Span
from toolmd_simplescribe.note_index import IndexedNote, NoteIndex
from toolmd_simplescribe.views import Item

MOST: Final = 1000
"""Most items that a call may ask for: seed 002, "limit"."""


class Chart:
    """One patient's part of the store, with the patient's own index of notes."""

    def __init__(self, database: Database, number: int, index: NoteIndex) -> None:
        self.number = number
        self.index = index
        self._database = database

    def labs(self, codes: Iterable[str] | None, span: Span | None, limit: int | None) -> list[Item]:
        """Return lab results of these codes, limited to the allow-list."""
        allowed = LABS if codes is None else LABS.keys() & set(codes)
        return self._newest(views.LABS, allowed, span, limit)

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

    def search(self, query: str, top_k: int, doc_ids: Iterable[str] | None) -> list[Item]:
        """Return the chunks of indexed notes that match a query best.

        Raises ToolError `notes_not_indexed` if the patient has notes but none is indexed.
        """
        wanted = None if doc_ids is None else set(doc_ids)
        notes = {
            note.id: note.digest for note in self.texts() if wanted is None or note.id in wanted
        }
        known = self.index.known()
        current = {id_ for id_, digest in notes.items() if known.get(id_) == digest}
        if notes and not current:
            raise ToolError(
                "No note of this patient is indexed, so a search is not possible: ask the "
                "operator to index them (toolmd-simplescribe index).",
                code="notes_not_indexed",
            )
        return self.index.search(query, current, top_k)

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
        keys: Iterable[str | None],
        span: Span | None,
        limit: int | None,
    ) -> list[Item]:
        most = MOST if limit is None else min(limit, MOST)
        with self._database.reading() as db:
            return views.newest(db, view, self.number, keys, span, most)


_KINDS: Final = {
    "labs": views.LABS,
    "vitals": views.VITALS,
    "medications": views.MEDICATIONS,
    "problems": views.PROBLEMS,
    "notes": views.NOTES,
}
