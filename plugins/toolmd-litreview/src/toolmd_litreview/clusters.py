"""Cluster the candidate papers; the runtime does it, without a request of a model."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from toolmd_litreview.labels import labels_of
from toolmd_litreview.paper import SHORT, Cluster, fingerprint
from toolmd_litreview.shelf import Embedded, Shelf
from toolmd_litreview.vectors import cosines, groups_for, part, to_bytes, unit

FRESH = 0.2
"""Share of papers outside all clusters from which the clusters are computed again."""


class Metrics(NamedTuple):
    """The measurements of a cluster."""

    cluster_id: str
    label: str
    papers: int
    cohesion: float
    """The mean cosine of its papers with its centre, -1..1."""

    def __str__(self) -> str:
        """Return them in words, for a model."""
        return f"{self.label}: {self.papers} papers, cohesion {self.cohesion:.2f}"


def sort_in(shelf: Shelf, embedder: str) -> None:
    """Assign newly embedded papers to the clusters, and recompute the clusters if due."""
    papers = shelf.embedded(embedder)
    outside = [paper for paper in papers if paper.cluster_id is None]
    clusters = shelf.clusters()
    drawn_by_it = all(cluster.embedder == embedder for cluster in clusters)
    if not drawn_by_it or len(outside) > FRESH * len(papers):
        recluster(shelf, embedder)
    else:
        shelf.place({paper.pmid: assign_cluster(paper, clusters) for paper in outside})


def recluster(shelf: Shelf, embedder: str) -> None:
    """Compute all clusters again. Their ids follow from their papers: equal papers, equal id."""
    papers = shelf.embedded(embedder)
    if not papers:
        shelf.draw((), {})
        return
    rows = unit(paper.vector for paper in papers)
    belongs, centres = part(rows, groups_for(len(papers)))
    groups: list[list[Embedded]] = [[] for _ in centres]
    for paper, group in zip(papers, belongs, strict=True):
        groups[group].append(paper)
    labels = labels_of([[paper.title for paper in group] for group in groups])
    ids = [_id(shelf.owner, (paper.pmid for paper in group)) for group in groups]
    clusters = [
        Cluster(id_, label, embedder, to_bytes(centre))
        for id_, label, centre in zip(ids, labels, centres, strict=True)
    ]
    members = {paper.pmid: ids[group] for paper, group in zip(papers, belongs, strict=True)}
    shelf.draw(clusters, members)


def assign_cluster(paper: Embedded, clusters: Sequence[Cluster]) -> str:
    """Return the id of the cluster whose centre is nearest to a paper."""
    close = unit(cluster.centroid for cluster in clusters) @ unit([paper.vector])[0]
    return clusters[int(np.argmax(close))].cluster_id


def compute_metrics(shelf: Shelf) -> list[Metrics]:
    """Count each cluster's papers and measure their cohesion."""
    clusters = shelf.clusters()
    own: dict[str | None, list[bytes]] = {cluster.cluster_id: [] for cluster in clusters}
    for embedder in {cluster.embedder for cluster in clusters}:
        for paper in shelf.embedded(embedder):
            own.setdefault(paper.cluster_id, []).append(paper.vector)
    return [_metrics(cluster, own[cluster.cluster_id]) for cluster in clusters]


def _metrics(cluster: Cluster, vectors: Sequence[bytes]) -> Metrics:
    cohesion = float(np.mean(cosines(vectors, cluster.centroid))) if vectors else 0.0
    return Metrics(cluster.cluster_id, cluster.label, len(vectors), cohesion)


def _id(owner: str, pmids: Iterable[int]) -> str:
    return f"cl-{fingerprint(owner, *sorted(pmids))[:SHORT]}"
