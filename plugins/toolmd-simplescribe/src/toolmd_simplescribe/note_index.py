"""Index the notes of one patient for search by words: SQLite FTS5, ranked by BM25.

Each patient's index is a file of its own: no other patient's notes can be found in it, and none
weighs on its scores.
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
"""`PRAGMA user_version` of the file; an index of another version counts as none."""
_MOST_WORDS: Final = 64
"""Of a query; the rest is not looked for."""

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

# bm25() is the smaller the better.
_SEARCH: Final = """
    SELECT chunk.note, chunk.part, chunk.text, -bm25(words), note.indexed
    FROM words JOIN chunk ON chunk.number = words.rowid JOIN note ON note.id = chunk.note
    WHERE words MATCH :words AND chunk.note IN (SELECT value FROM json_each(:notes))
    ORDER BY bm25(words), chunk.note, chunk.part LIMIT :most
"""


class IndexedNote(NamedTuple):
    """A note as the index knows it."""

    id: str
    digest: str
    """Of the text; an index that holds another is out of date."""
    text: str


class Indexed(NamedTuple):
    """What an update of an index did, in notes."""

    added: int
    removed: int
    kept: int


class NoteIndex:
    """One patient's index; there is none until it is updated for the first time."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def known(self) -> dict[str, str]:
        """Give the indexed notes' digests by id; of notes that are there no longer, too."""
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
        """Bring the index up to date with these notes: all of them, or the index stays as it was.

        `now` is when, in ISO 8601; `progress` hears how many notes of how many are done.
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
        """Give the best chunks of these notes for the query's words, any of which may be there."""
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
        """Take the index away."""
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
    """Give FTS5's text for any of the query's words; none of its signs is left an operator."""
    text = query.encode("utf-8", "replace").decode()
    # What is between ASCII signs is a word or several in FTS5's own eyes: it splits what is left.
    pieces = re.split(r"[\x00-/:-@\[-`{-\x7f\s]+", text)
    unique = list(dict.fromkeys(piece for piece in pieces if piece))
    return " OR ".join(f'"{piece}"' for piece in unique[:_MOST_WORDS])
