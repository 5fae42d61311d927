"""Index the notes of one patient for full-text search: SQLite FTS5, ranked by BM25.

Each patient's index is a separate file: other patients' notes are neither found in it nor
counted in its scores.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from toolmd_simplescribe.chunks import chunks_of
from toolmd_simplescribe.progress import Progress, unheard
from toolmd_simplescribe.views import Item

_VERSION: Final = 1
"""`PRAGMA user_version` of the file; an index of another version counts as missing."""
_MOST_WORDS: Final = 64
"""Number of words of a query that are searched; the rest is ignored."""

_TABLES: Final = (
    """CREATE TABLE note (
        id TEXT PRIMARY KEY, digest TEXT NOT NULL, indexed TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE chunk (
        number INTEGER PRIMARY KEY,
        note   TEXT NOT NULL REFERENCES note (id),
        part   INTEGER NOT NULL,
        text   TEXT NOT NULL
    ) STRICT""",
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
_SEARCH: Final = """
    SELECT chunk.note, chunk.part, chunk.text, -bm25(words), note.indexed
    FROM words JOIN chunk ON chunk.number = words.rowid JOIN note ON note.id = chunk.note
    WHERE words MATCH :words AND chunk.note IN (SELECT value FROM json_each(:notes))
    ORDER BY bm25(words), chunk.note, chunk.part LIMIT :most
"""


class IndexedNote(NamedTuple):
    """A note in the index."""

    id: str
    digest: str
    """Digest of the text; an index with another digest is outdated."""
    text: str


class Indexed(NamedTuple):
    """The result of an index update, in notes."""

    added: int
    removed: int
    kept: int


class NoteIndex:
    """One patient's index; the first update creates it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def known(self) -> dict[str, str]:
        """Return the indexed notes' digests by id, including notes that were deleted since."""
        if not self._path.exists():
            return {}
        with closing(self._connect()) as db:
            if not _is_current(db):
                return {}
            return dict(db.execute("SELECT id, digest FROM note").fetchall())

    def update(
        self,
        notes: Sequence[IndexedNote],
        now: str,
        progress: Progress = unheard,
    ) -> Indexed:
        """Update the index to these notes, completely or not at all.

        `now` is the time in ISO 8601; `progress` receives the numbers of indexed and of all notes.
        """
        with self._writing() as db:
            known = dict(db.execute("SELECT id, digest FROM note").fetchall())
            wanted = {note.id: note.digest for note in notes}
            gone = [id_ for id_, digest in known.items() if wanted.get(id_) != digest]
            for id_ in gone:
                db.execute("DELETE FROM chunk WHERE note = ?", (id_,))
                db.execute("DELETE FROM note WHERE id = ?", (id_,))
            new = [note for note in notes if known.get(note.id) != note.digest]
            for done, note in enumerate(new, 1):
                db.execute("INSERT INTO note VALUES (?, ?, ?)", (note.id, note.digest, now))
                parts = ((note.id, *numbered) for numbered in enumerate(chunks_of(note.text), 1))
                db.executemany("INSERT INTO chunk (note, part, text) VALUES (?, ?, ?)", parts)
                progress(done, len(new))
        return Indexed(len(new), len(gone), len(notes) - len(new))

    def search(self, query: str, notes: Collection[str], top_k: int) -> list[Item]:
        """Return the best chunks of these notes for any of the query's words."""
        if not notes or not (words := _words(query)):
            return []
        asked = {"words": words, "notes": json.dumps(sorted(notes)), "most": top_k}
        with closing(self._connect()) as db:
            rows = db.execute(_SEARCH, asked).fetchall()
        return [
            {
                "note_id": note,
                "chunk_id": f"{note}#{part}",
                "text": text,
                "rank": rank,
                "score": round(score, 6),
                "source": {"system": "rag", "updated": indexed},
            }
            for rank, (note, part, text, score, indexed) in enumerate(rows, 1)
        ]

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


def _build(db: sqlite3.Connection) -> None:
    for table in ("words", "chunk", "note"):
        db.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _TABLES:
        db.execute(statement)


def _words(query: str) -> str:
    """Return an FTS5 query for any of the words, without operators."""
    text = query.encode("utf-8", "replace").decode()
    # FTS5 splits the text between ASCII signs into words itself.
    pieces = re.split(r"[\x00-/:-@\[-`{-\x7f\s]+", text)
    unique = list(dict.fromkeys(piece for piece in pieces if piece))
    return " OR ".join(f'"{piece}"' for piece in unique[:_MOST_WORDS])
