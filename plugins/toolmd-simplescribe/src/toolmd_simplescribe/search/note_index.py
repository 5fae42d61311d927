"""Index the notes of one patient by words (SQLite FTS5, BM25) and by meaning (vectors).

Each patient's index is a separate file: other patients' notes are neither found in it nor
counted in its scores.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolmd.database import Database
from toolmd_simplescribe.search.method import Method

_MIGRATIONS: Final = ((), (files("toolmd_simplescribe.search") / "index.sql").read_text("utf-8"))
SIZE: Final = 800
"""Size limit of a chunk, in code points."""
_BREAKS: Final = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?])\s|\n"), re.compile(r"\s"))
"""Where a text may be split, by preference: paragraphs, sentences and lines, words."""
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SHORTEST: Final = 25
"""A shorter piece, such as a heading, belongs to the next sentence."""
_DEPTH: Final = 20
"""Number of chunks that each of the two ways ranks."""
_SMOOTH: Final = 60
"""The constant of reciprocal rank fusion: a chunk's score is the sum of 1 / (60 + rank)."""

# A smaller bm25() is a better match.
_BY_WORDS: Final = """
    SELECT chunk.number FROM words JOIN chunk ON chunk.number = words.rowid
    WHERE words MATCH :words AND chunk.note IN (SELECT value FROM json_each(:notes))
    ORDER BY bm25(words), chunk.note, chunk.part LIMIT :most
"""
_VECTORS: Final = """
    SELECT sentence.chunk, sentence.vector FROM sentence
    JOIN chunk ON chunk.number = sentence.chunk JOIN note ON note.id = chunk.note
    WHERE note.embedder = :embedder AND note.id IN (SELECT value FROM json_each(:notes))
    ORDER BY chunk.note, chunk.part
"""
_CHUNK: Final = """
    SELECT chunk.note, chunk.part, chunk.text, note.indexed
    FROM chunk JOIN note ON note.id = chunk.note WHERE chunk.number = ?
"""


class IndexedNote(NamedTuple):
    """A note for the index."""

    id: str
    digest: str
    """Digest of the text; an index with another digest is outdated."""
    text: str
    title: str = ""
    draft: bool = False


class Indexed(NamedTuple):
    """The result of an index update, in notes."""

    added: int
    removed: int
    kept: int


class NoteIndex:
    """One patient's index; the first update creates it."""

    def __init__(self, path: Path, method: Method) -> None:
        self._path = path
        self._method = method

    def known(self) -> dict[str, str]:
        """Return the indexed notes' digests by id, including notes that were deleted since.

        A note without vectors of the embedder in use is not indexed.
        """
        if not self._path.exists():
            return {}
        with self._open() as file, file.reading() as db:
            return self._known(db)

    def _known(self, db: sqlite3.Connection) -> dict[str, str]:
        query = "SELECT id, digest FROM note WHERE embedder = ?"
        return dict(db.execute(query, (self._method.embedder_name,)).fetchall())

    def update(self, notes: Sequence[IndexedNote], now: str) -> Indexed:
        """Update the index to these notes, completely or not at all; `now` is in ISO 8601."""
        with self._open() as file, file.writing() as db:
            known = self._known(db)
            wanted = {note.id: note.digest for note in notes}
            there = [id_ for (id_,) in db.execute("SELECT id FROM note").fetchall()]
            gone = [id_ for id_ in there if id_ not in known or wanted.get(id_) != known[id_]]
            for id_ in gone:
                chunks = "SELECT number FROM chunk WHERE note = ?"
                db.execute(f"DELETE FROM sentence WHERE chunk IN ({chunks})", (id_,))  # noqa: S608 - ours
                db.execute("DELETE FROM chunk WHERE note = ?", (id_,))
                db.execute("DELETE FROM note WHERE id = ?", (id_,))
            new = [note for note in notes if known.get(note.id) != note.digest]
            for note in new:
                self._add(db, note, now)
        return Indexed(len(new), len(gone), len(notes) - len(new))

    def _add(self, db: sqlite3.Connection, note: IndexedNote, now: str) -> None:
        row = (note.id, note.digest, now, self._method.embedder_name)
        db.execute("INSERT INTO note VALUES (?, ?, ?, ?)", row)
        for part, text in enumerate(chunks_of(note.text), 1):
            query = "INSERT INTO chunk (note, part, text) VALUES (?, ?, ?)"
            number = db.execute(query, (note.id, part, text)).lastrowid
            vectors = self._method.vectors(list(sentences_of(text)))
            db.executemany("INSERT INTO sentence VALUES (?, ?)", [(number, v) for v in vectors])

    def search(self, query: str, notes: Collection[str], top_k: int) -> list[dict[str, Any]]:
        """Return the chunks of these notes that either way ranks best, fused by their ranks."""
        if not notes:
            return []
        with self._open() as file, file.reading() as db:
            rankings = [*self._rankings(db, query, json.dumps(sorted(notes)))]
            scores: dict[int, float] = {}
            for ranking in rankings:
                for rank, number in enumerate(ranking, 1):
                    scores[number] = scores.get(number, 0) + 1 / (_SMOOTH + rank)
            # Python's sort is stable: of equal chunks, the one found by words goes first.
            best = sorted(scores, key=lambda number: -scores[number])[:top_k]
            rows = [(scores[number], *db.execute(_CHUNK, (number,)).fetchone()) for number in best]
        return [
            {
                "note_id": note,
                "chunk_id": f"{note}#{part}",
                "text": text,
                "rank": rank,
                "score": round(score, 6),
                "source": {"system": "rag", "updated": indexed},
            }
            for rank, (score, note, part, text, indexed) in enumerate(rows, 1)
        ]

    def _rankings(self, db: sqlite3.Connection, query: str, notes: str) -> Iterator[list[int]]:
        """Return the numbers of the best chunks by words, and by meaning."""
        if words := self._method.words(query):
            asked = {"words": words, "notes": notes, "most": _DEPTH}
            yield [number for (number,) in db.execute(_BY_WORDS, asked)]
        if self._method.embedder is not None:
            asked = {"embedder": self._method.embedder_name, "notes": notes}
            yield self._method.nearest(query, db.execute(_VECTORS, asked).fetchall())[:_DEPTH]

    def has_words(self, query: str) -> bool:
        """Return whether a chunk has a word of the query, or a synonym of one."""
        with self._open() as file, file.reading() as db:
            found = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
            return db.execute(found, (self._method.words(query),)).fetchone() is not None

    def remove(self) -> None:
        """Delete the index."""
        for suffix in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    def _open(self) -> "closing[Database]":
        return closing(Database(self._path, _MIGRATIONS))


def chunks_of(text: str) -> Iterator[str]:
    """Return the text's chunks in order; together they contain every word exactly once."""
    start = 0
    while start < len(text):
        end = _end(text, start)
        if chunk := text[start:end].strip():
            yield chunk
        start = end


def _end(text: str, start: int) -> int:
    """Return the end of the chunk that begins here: at the last good break, if not too early."""
    limit = start + SIZE
    if limit >= len(text):
        return len(text)
    for place in _BREAKS:
        ends = [found.end() for found in place.finditer(text, start + SIZE // 4, limit)]
        if ends:
            return ends[-1]
    return limit


def sentences_of(text: str) -> Iterator[str]:
    """Return the sentences of a text; short pieces are joined to the next one."""
    begun = ""
    for piece in _SENTENCE.split(text):
        begun = f"{begun} {piece}".strip()
        if len(begun) >= _SHORTEST:
            yield begun
            begun = ""
    if begun:
        yield begun
