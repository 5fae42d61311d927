"""Index the notes of one patient by words (SQLite FTS5, BM25) and by meaning (vectors).

Each patient's index is a separate file: other patients' notes are neither found in it nor
counted in its scores.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from toolmd_simplescribe.search.chunks import chunks_of, sentences_of
from toolmd_simplescribe.search.method import Method

_VERSION: Final = 2
"""`PRAGMA user_version` of the file; an index of another version counts as missing."""
_DEPTH: Final = 20
"""Number of chunks that each of the two ways ranks."""
_SMOOTH: Final = 60
"""The constant of reciprocal rank fusion: a chunk's score is the sum of 1 / (60 + rank)."""

_TABLES: Final = (
    """CREATE TABLE note (
        id TEXT PRIMARY KEY, digest TEXT NOT NULL, indexed TEXT NOT NULL, embedder TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE chunk (
        number INTEGER PRIMARY KEY,
        note   TEXT NOT NULL REFERENCES note (id),
        part   INTEGER NOT NULL,
        text   TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE sentence (
        chunk INTEGER NOT NULL REFERENCES chunk (number), vector BLOB NOT NULL
    ) STRICT""",
    "CREATE INDEX sentence_of_chunk ON sentence (chunk)",
    "CREATE INDEX chunk_of_note ON chunk (note, part)",
    """CREATE VIRTUAL TABLE words USING fts5 (
        text, content = 'chunk', content_rowid = 'number',
        tokenize = 'porter unicode61 remove_diacritics 2'
    )""",
    """CREATE TRIGGER chunk_is_added AFTER INSERT ON chunk
        BEGIN INSERT INTO words (rowid, text) VALUES (NEW.number, NEW.text); END""",
    """CREATE TRIGGER chunk_is_removed AFTER DELETE ON chunk BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', OLD.number, OLD.text);
    END""",
    f"PRAGMA user_version = {_VERSION}",
)

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
        with closing(self._connect()) as db:
            return self._known(db) if _is_current(db) else {}

    def _known(self, db: sqlite3.Connection) -> dict[str, str]:
        query = "SELECT id, digest FROM note WHERE embedder = ?"
        return dict(db.execute(query, (self._method.embedder_name,)).fetchall())

    def update(self, notes: Sequence[IndexedNote], now: str) -> Indexed:
        """Update the index to these notes, completely or not at all; `now` is in ISO 8601."""
        with self._writing() as db:
            known = self._known(db)
            wanted = {note.id: note.digest for note in notes}
            there = [id_ for (id_,) in db.execute("SELECT id FROM note").fetchall()]
            gone = [id_ for id_ in there if id_ not in known or wanted.get(id_) != known[id_]]
            for id_ in gone:
                _delete(db, id_)
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
        with closing(self._connect()) as db:
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
        with closing(self._connect()) as db:
            found = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
            return db.execute(found, (self._method.words(query),)).fetchone() is not None

    def remove(self) -> None:
        """Delete the index."""
        for suffix in ("", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path.touch(mode=0o600)
        with closing(self._connect()) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                if not _is_current(db):
                    _build(db)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=30.0, isolation_level=None)


def _is_current(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA user_version").fetchone()[0] == _VERSION)


def _delete(db: sqlite3.Connection, note: str) -> None:
    chunks = "SELECT number FROM chunk WHERE note = ?"
    db.execute(f"DELETE FROM sentence WHERE chunk IN ({chunks})", (note,))  # noqa: S608 - ours
    db.execute("DELETE FROM chunk WHERE note = ?", (note,))
    db.execute("DELETE FROM note WHERE id = ?", (note,))


def _build(db: sqlite3.Connection) -> None:
    for table in ("words", "sentence", "chunk", "note"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES:
        db.execute(statement)
