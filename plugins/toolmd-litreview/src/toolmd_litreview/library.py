"""Store reviews: handbooks with their goal state, candidates, clusters, decisions, and files."""

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from toolmd import ToolError
from toolmd.config import state_folder
from toolmd.database import Database
from toolmd_litreview.paper import SHORT, Cluster, Paper, fingerprint, line

FILE = "litreview.sqlite3"
"""The review's database in the project's state folder."""
_MIGRATIONS = (*((),) * 2, (files("toolmd_litreview") / "schema.sql").read_text("utf-8"))
"""The file's version is 3: the ones before were never published."""
_AFTER = {
    "search_pubmed": "searched",
    "find_existing_sr": "compared",
    "run_pico": "extracted",
    "prisma_check": "checked",
}
"""The status of a review after a successful call."""
_SHOWN = 12
"""Clusters that an error names."""
_PAPER = ", ".join(Paper._fields)


class Handbook(NamedTuple):
    """One review: its question, and what was decided about it."""

    handbook_id: str
    seed_query: str
    parent: str | None
    """The handbook whose overlap led to this one."""
    status: str
    """`open`, then that of the last call, or `error`."""
    last: str
    """The tool of the last call, with the code of its error."""
    eligibility: str
    """What includes or excludes a study, as a person stated it; empty if nobody did."""
    selection: str
    """Who decided how whether a study is eligible, as a person stated it; empty likewise."""
    at: str


class Embedded(NamedTuple):
    """A paper with its vector, and its cluster, if any."""

    pmid: int
    title: str
    vector: bytes
    cluster_id: str | None


class Search(NamedTuple):
    """The latest run of a search."""

    query: str
    expand_mode: str
    retmax: int
    found: int
    kept: int
    at: str
    not_found: str
    """Phrases that PubMed does not know, between semicolons."""


class Decision(NamedTuple):
    """What a person decided on a paper."""

    decision: str
    """`include` or `exclude`."""
    reason: str
    person: str
    at: str


class _Part:
    """An owner's part of the file."""

    def __init__(self, database: Database, clock: Callable[[], datetime], owner: str) -> None:
        self._database = database
        self._clock = clock
        self.owner = owner

    def _now(self) -> str:
        return self._clock().isoformat(timespec="seconds")

    def _read(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """Return the rows of a query whose first value is the owner."""
        with self._database.reading() as db:
            return db.execute(query, (self.owner, *values)).fetchall()


class Goals(_Part):
    """One person's goal state; the handbook that was begun or used last is current."""

    def current(self) -> Handbook | None:
        """Return the handbook in work; None before the first search."""
        return next(iter(self.all()), None)

    def all(self) -> list[Handbook]:
        """Return the handbooks, the current one first."""
        columns = ", ".join(Handbook._fields)
        query = f"SELECT {columns} FROM goal_state WHERE owner = ? ORDER BY turn DESC"  # noqa: S608 - ours
        return [Handbook(*row) for row in self._read(query)]

    def begin(self, seed_query: str, parent: str | None = None) -> Handbook:
        """Make the handbook of a question current; a new one is created."""
        id_ = f"hb-{fingerprint(self.owner, seed_query)[:SHORT]}"
        with self._database.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO goal_state (owner, handbook_id, seed_query, parent, at, "
                "turn) VALUES (?, ?, ?, ?, ?, 0)",
                (self.owner, id_, seed_query, parent, self._now()),
            )
            db.execute(
                "UPDATE goal_state SET turn = (SELECT max(turn) + 1 FROM goal_state) "
                "WHERE owner = ? AND handbook_id = ?",
                (self.owner, id_),
            )
        return self.all()[0]

    def searching(self, query: str) -> Handbook:
        """Return the handbook of a search: that of its question, else the current one."""
        books = self.all()
        known = any(book.seed_query == query for book in books)
        return self.begin(query) if known or not books else books[0]

    def settle(self, eligibility: str, selection: str) -> None:
        """Record what a person stated on the current handbook's studies."""
        self._set("eligibility = ?, selection = ?", eligibility, selection)

    def advance(self, tool: str, error: str | None) -> None:
        """Record a call: its error, or the status that it leaves."""
        if error is not None:
            self._set("status = 'error', last = ?", f"{tool}: {error}")
        elif (status := _AFTER.get(tool)) is not None:
            self._set("status = ?, last = ?", status, tool)

    def _set(self, what: str, *values: str) -> None:
        query = (
            f"UPDATE goal_state SET {what}, at = ? WHERE owner = ? AND handbook_id = "  # noqa: S608 - ours
            "(SELECT handbook_id FROM goal_state WHERE owner = ? ORDER BY turn DESC)"
        )
        with self._database.writing() as db:
            db.execute(query, (*values, self._now(), self.owner, self.owner))


class Shelf(_Part):
    """The papers, clusters, searches and decisions of one review of one person."""

    def add_papers(self, papers: Iterable[Paper]) -> int:
        """Save papers by their PMID and return how many are new.

        A stored paper with another title or abstract is updated, and loses its vector and cluster.
        """
        at = self._now()
        with self._database.writing() as db:
            count = "SELECT count(*) FROM candidate_papers WHERE owner = ?"
            (before,) = db.execute(count, (self.owner,)).fetchone()
            db.executemany(
                f"INSERT INTO candidate_papers (owner, {_PAPER}, added_at) "  # noqa: S608 - ours
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, pmid) DO UPDATE SET "
                "title = excluded.title, abstract = excluded.abstract, year = excluded.year, "
                "journal = excluded.journal, doi = excluded.doi, "
                "vector = NULL, embedder = NULL, cluster_id = NULL "
                "WHERE title <> excluded.title OR abstract <> excluded.abstract",
                [(self.owner, *paper, at) for paper in papers],
            )
            (after,) = db.execute(count, (self.owner,)).fetchone()
        return int(after - before)

    def note_search(self, search: Search) -> None:
        """Record a search; the same search again replaces the earlier record."""
        row = (self.owner, *search._replace(at=self._now()))
        with self._database.writing() as db:
            db.execute("INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def searches(self) -> list[Search]:
        """Return the searches, the oldest first."""
        query = "SELECT * FROM search WHERE owner = ? ORDER BY at, query, expand_mode"
        return [Search(*tuple(row)[1:]) for row in self._read(query)]

    def papers(self, cluster_id: str | None = None) -> list[Paper]:
        """Return all papers, or those of one cluster, by PMID."""
        query = f"SELECT {_PAPER} FROM candidate_papers WHERE owner = ?"  # noqa: S608 - ours
        query += "" if cluster_id is None else " AND cluster_id = ?"
        values = () if cluster_id is None else (cluster_id,)
        return [Paper(*row) for row in self._read(f"{query} ORDER BY pmid", *values)]

    def without_vector(self, embedder: str) -> list[Paper]:
        """Return the papers without a vector of this model."""
        query = (
            f"SELECT {_PAPER} FROM candidate_papers "  # noqa: S608 - ours
            "WHERE owner = ? AND embedder IS NOT ? ORDER BY pmid"
        )
        return [Paper(*row) for row in self._read(query, embedder)]

    def set_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store the vectors of papers, by PMID."""
        with self._database.writing() as db:
            db.executemany(
                "UPDATE candidate_papers SET vector = ?, embedder = ?, cluster_id = NULL "
                "WHERE owner = ? AND pmid = ?",
                [(vector, embedder, self.owner, pmid) for pmid, vector in vectors.items()],
            )

    def embedded(self, embedder: str) -> list[Embedded]:
        """Return the papers with a vector of this model, by PMID."""
        query = (
            "SELECT pmid, title, vector, cluster_id FROM candidate_papers "
            "WHERE owner = ? AND embedder = ? ORDER BY pmid"
        )
        return [Embedded(*row) for row in self._read(query, embedder)]

    def draw(self, clusters: Sequence[Cluster], members: Mapping[int, str]) -> None:
        """Replace all clusters with these, and assign papers to them by PMID."""
        with self._database.writing() as db:
            db.execute("DELETE FROM cluster WHERE owner = ?", (self.owner,))
            rows = [(self.owner, *cluster) for cluster in clusters]
            db.executemany("INSERT INTO cluster VALUES (?, ?, ?, ?, ?)", rows)
            clear = "UPDATE candidate_papers SET cluster_id = NULL WHERE owner = ?"
            db.execute(clear, (self.owner,))
            self._place(db, members)

    def place(self, members: Mapping[int, str]) -> None:
        """Assign papers to existing clusters, by PMID."""
        with self._database.writing() as db:
            self._place(db, members)

    def _place(self, db: sqlite3.Connection, members: Mapping[int, str]) -> None:
        # Another search may have replaced the cluster since it was chosen.
        db.executemany(
            "UPDATE candidate_papers SET cluster_id = "
            "(SELECT cluster_id FROM cluster WHERE owner = :owner AND cluster_id = :cluster) "
            "WHERE owner = :owner AND pmid = :pmid",
            [{"owner": self.owner, "pmid": p, "cluster": c} for p, c in members.items()],
        )

    def clusters(self) -> list[Cluster]:
        """Return the clusters, by label."""
        query = (
            "SELECT cluster_id, label, embedder, centroid FROM cluster "
            "WHERE owner = ? ORDER BY label, cluster_id"
        )
        return [Cluster(*row) for row in self._read(query)]

    def decide(self, pmids: Iterable[int], decision: str, reason: str, person: str) -> int:
        """Record a person's decision on candidates; returns how many of them there are."""
        at = self._now()
        query = (
            "INSERT OR REPLACE INTO decision SELECT owner, pmid, ?, ?, ?, ? "
            "FROM candidate_papers WHERE owner = ? AND pmid = ?"
        )
        with self._database.writing() as db:
            rows = ((decision, reason, person, at, self.owner, pmid) for pmid in pmids)
            return sum(db.execute(query, row).rowcount for row in rows)

    def decisions(self) -> dict[int, Decision]:
        """Return the decisions by PMID."""
        query = "SELECT pmid, decision, reason, person, at FROM decision WHERE owner = ?"
        return {pmid: Decision(*rest) for pmid, *rest in self._read(query)}


class Library:
    """The reviews of all persons in one file, which is created on first use."""

    def __init__(
        self, state: Path, clock: Callable[[], datetime] = lambda: datetime.now(tz=UTC)
    ) -> None:
        """Open the library; `clock` returns the time with its zone."""
        self._state = state_folder(state)
        self.database = Database(self._state / FILE, _MIGRATIONS)
        self._clock = clock
        self.close = self.database.close

    def of(self, user: str | None, handbook_id: str | None = None) -> Shelf:
        """Return a review of this person, the current one by default; None is the local user.

        Before the first search there is no handbook, and the shelf is empty.
        """
        if handbook_id is None:
            current = self.goals(user).current()
            handbook_id = "" if current is None else current.handbook_id
        return Shelf(self.database, self._clock, f"{user or ''}/{handbook_id}")

    def goals(self, user: str | None) -> Goals:
        """Return this person's handbooks; None is the local user."""
        return Goals(self.database, self._clock, user or "")

    def begin_handbook(self, user: str | None, seed_query: str) -> Handbook:
        """Begin a new handbook after the current one, and write its file."""
        goals = self.goals(user)
        parent = goals.current()
        book = goals.begin(seed_query, parent.handbook_id if parent else None)
        lines = [f"# Handbook {book.handbook_id}", "", f"- **Seed_query**: {book.seed_query}"]
        lines += [f"- **Follows**: {book.parent}"] if book.parent else []
        self._write(f"handbooks/{book.handbook_id}.md", lines)
        return book

    def cluster(self, user: str | None, cluster_id: str) -> Cluster:
        """Return a cluster of a review of this person, which becomes the current one.

        Raises ToolError with the list of the current review's clusters.
        """
        for book in self.goals(user).all():
            for cluster in self.of(user, book.handbook_id).clusters():
                if cluster.cluster_id == cluster_id:
                    self.goals(user).begin(book.seed_query)
                    return cluster
        known = [f"{one.cluster_id} ({one.label})" for one in self.of(user).clusters()[:_SHOWN]]
        what = (
            f"There are {', '.join(known)}."
            if known
            else "No clusters exist: search_pubmed creates them from the papers that it finds."
        )
        raise ToolError(f"There is no cluster {cluster_id!r}. {what}", code="cluster_not_found")

    def papers(self, user: str | None, cluster_id: str) -> list[Paper]:
        """Return the papers of a cluster of any review of this person; none without it."""
        books = [book.handbook_id for book in self.goals(user).all()]
        found = (self.of(user, book).papers(cluster_id) for book in books)
        return next((papers for papers in found if papers), [])

    def extracted(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return earlier extractions by the key of their source."""
        query = "SELECT key, fields FROM extraction WHERE key IN (SELECT value FROM json_each(?))"
        with self.database.reading() as db:
            rows = db.execute(query, (json.dumps(list(keys)),))
            return {key: json.loads(fields) for key, fields in rows}

    def keep_extracted(self, fields: Mapping[str, Mapping[str, Any]]) -> None:
        """Store fields, so that a retried call asks the model only for the rest."""
        rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in fields.items()]
        with self.database.writing() as db:
            db.executemany("INSERT OR REPLACE INTO extraction VALUES (?, ?)", rows)

    def write_lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> str:
        """Write JSON Lines and return the file's path below the state folder."""
        return self._write(f"pico/{name}.jsonl", map(line, rows))

    def read_lines(self, file: str) -> list[dict[str, Any]]:
        """Return the rows of a file that `write_lines` named; none without the file."""
        path = self._state / file
        text = path.read_text("utf-8") if path.exists() else ""
        return [json.loads(row) for row in text.split("\n") if row]

    def _write(self, name: str, lines: Iterable[str]) -> str:
        """Write a file, whose name is ours, atomically."""
        target = self._state / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        making = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        with making.open("x", encoding="utf-8", newline="\n") as file:
            making.chmod(0o600)
            file.writelines(f"{one}\n" for one in lines)
            file.flush()
            os.fsync(file.fileno())
        making.replace(target)
        return name
