"""Store the papers, clusters, searches and decisions of one review of one person."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from toolmd.database import Database
from toolmd_litreview.paper import Cluster, Paper


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


_PAPER = ", ".join(Paper._fields)


class Shelf:
    """One review's part of the file."""

    def __init__(self, database: Database, clock: Callable[[], datetime], owner: str) -> None:
        """Open the shelf; `owner` names a person and a handbook."""
        self._database = database
        self._clock = clock
        self.owner = owner

    def add_papers(self, papers: Iterable[Paper]) -> int:
        """Save papers by their PMID and return how many are new.

        A stored paper with another title or abstract is updated, and loses its vector and cluster.
        """
        at = self._clock().isoformat(timespec="seconds")
        rows = [(self.owner, *paper, at) for paper in papers]
        with self._database.writing() as db:
            before = self._count(db)
            db.executemany(
                "INSERT INTO candidate_papers "
                "(owner, pmid, title, abstract, year, journal, doi, added_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (owner, pmid) DO UPDATE SET "
                "title = excluded.title, abstract = excluded.abstract, year = excluded.year, "
                "journal = excluded.journal, doi = excluded.doi, "
                "vector = NULL, embedder = NULL, cluster_id = NULL "
                "WHERE title <> excluded.title OR abstract <> excluded.abstract",
                rows,
            )
            return self._count(db) - before

    def _count(self, db: sqlite3.Connection) -> int:
        query = "SELECT count(*) FROM candidate_papers WHERE owner = ?"
        return int(db.execute(query, (self.owner,)).fetchone()[0])

    def note_search(self, search: Search) -> None:
        """Record a search; the same search again replaces the earlier record."""
        at = self._clock().isoformat(timespec="seconds")
        with self._database.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (self.owner, *search._replace(at=at)),
            )

    def searches(self) -> list[Search]:
        """Return the searches, the oldest first."""
        query = "SELECT * FROM search WHERE owner = ? ORDER BY at, query, expand_mode"
        with self._database.reading() as db:
            rows = db.execute(query, (self.owner,)).fetchall()
        return [Search(*(row[name] for name in Search._fields)) for row in rows]

    def papers(self, cluster_id: str | None = None) -> list[Paper]:
        """Return all papers, or those of one cluster, by PMID."""
        query = (
            f"SELECT {_PAPER} FROM candidate_papers "  # noqa: S608 - ours
            "WHERE owner = :owner AND (:cluster IS NULL OR cluster_id = :cluster) ORDER BY pmid"
        )
        with self._database.reading() as db:
            rows = db.execute(query, {"owner": self.owner, "cluster": cluster_id}).fetchall()
        return [Paper(*row) for row in rows]

    def without_vector(self, embedder: str) -> list[Paper]:
        """Return the papers without a vector of this model."""
        query = (
            f"SELECT {_PAPER} FROM candidate_papers "  # noqa: S608 - ours
            "WHERE owner = ? AND embedder IS NOT ? ORDER BY pmid"
        )
        with self._database.reading() as db:
            return [Paper(*row) for row in db.execute(query, (self.owner, embedder))]

    def set_vectors(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store the vectors of papers, by PMID."""
        rows = [(vector, embedder, self.owner, pmid) for pmid, vector in vectors.items()]
        with self._database.writing() as db:
            db.executemany(
                "UPDATE candidate_papers SET vector = ?, embedder = ?, cluster_id = NULL "
                "WHERE owner = ? AND pmid = ?",
                rows,
            )

    def embedded(self, embedder: str) -> list[Embedded]:
        """Return the papers with a vector of this model, by PMID."""
        query = (
            "SELECT pmid, title, vector, cluster_id FROM candidate_papers "
            "WHERE owner = ? AND embedder = ? ORDER BY pmid"
        )
        with self._database.reading() as db:
            return [Embedded(*row) for row in db.execute(query, (self.owner, embedder))]

    def draw(self, clusters: Sequence[Cluster], members: Mapping[int, str]) -> None:
        """Replace all clusters with these, and assign papers to them by PMID."""
        with self._database.writing() as db:
            db.execute("DELETE FROM cluster WHERE owner = ?", (self.owner,))
            db.executemany(
                "INSERT INTO cluster VALUES (?, ?, ?, ?, ?)",
                [(self.owner, *cluster) for cluster in clusters],
            )
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
        with self._database.reading() as db:
            return [Cluster(*row) for row in db.execute(query, (self.owner,))]

    def decide(self, pmids: Iterable[int], decision: str, reason: str, person: str) -> int:
        """Record a person's decision on candidates; returns how many of them there are."""
        at = self._clock().isoformat(timespec="seconds")
        with self._database.writing() as db:
            return sum(
                db.execute(
                    "INSERT OR REPLACE INTO decision SELECT owner, pmid, ?, ?, ?, ? "
                    "FROM candidate_papers WHERE owner = ? AND pmid = ?",
                    (decision, reason, person, at, self.owner, pmid),
                ).rowcount
                for pmid in pmids
            )

    def decisions(self) -> dict[int, Decision]:
        """Return the decisions by PMID."""
        query = "SELECT pmid, decision, reason, person, at FROM decision WHERE owner = ?"
        with self._database.reading() as db:
            return {pmid: Decision(*rest) for pmid, *rest in db.execute(query, (self.owner,))}
