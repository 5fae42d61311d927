"""Cluster the candidate papers by the direction of their vectors; the runtime does it itself."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from toolmd_litreview.library import Embedded, Shelf
from toolmd_litreview.paper import SHORT, Cluster, fingerprint

DIMENSIONS = 1024
"""Numbers in a vector (seed 004)."""
Matrix: TypeAlias = NDArray[np.float32]
"""One vector per row."""
_FRESH = 0.2
"""Share of papers outside all clusters from which the clusters are computed again."""
_ROUNDS = 50
"""Number of rounds after which the groups are final."""
_PAPERS_A_GROUP, _MOST_GROUPS = 20, 12
_WORDS = 3
"""Number of words in a label."""
_SHORTEST = 3
_EVERYWHERE = frozenset(
    "about after against all among analysis and are associated association based because before "
    "between both but can clinical cohort comparison compared controlled does during early effect "
    "effectiveness effects efficacy evaluation evidence following for from has have how impact "
    "into its long may meta more most new not non one other our outcome outcomes over patient "
    "patients protocol randomised randomized report results review risk role study systematic "
    "term than that the their these this through time treatment trial trials two under use used "
    "using versus was were what when which who with within without".split()
)


def sort_in(shelf: Shelf, embedder: str) -> None:
    """Assign newly embedded papers to the clusters, and recompute the clusters if due."""
    papers = shelf.embedded(embedder)
    outside = [paper for paper in papers if paper.cluster_id is None]
    clusters = shelf.clusters()
    drawn_by_it = all(cluster.embedder == embedder for cluster in clusters)
    if not drawn_by_it or len(outside) > _FRESH * len(papers):
        recluster(shelf, embedder)
    elif outside:
        close = unit(paper.vector for paper in outside) @ unit(one.centroid for one in clusters).T
        nearest = np.argmax(close, axis=1)
        pairs = zip(outside, nearest, strict=True)
        shelf.place({paper.pmid: clusters[index].cluster_id for paper, index in pairs})


def recluster(shelf: Shelf, embedder: str) -> None:
    """Compute all clusters again. Their ids follow from their papers: equal papers, equal id."""
    papers = shelf.embedded(embedder)
    if not papers:
        shelf.draw((), {})
        return
    count = round(math.sqrt(len(papers) / _PAPERS_A_GROUP))
    belongs, centres = part(
        unit(paper.vector for paper in papers), max(1, min(_MOST_GROUPS, count))
    )
    groups: list[list[Embedded]] = [[] for _ in centres]
    for paper, group in zip(papers, belongs, strict=True):
        groups[group].append(paper)
    labels = _labels([[paper.title for paper in group] for group in groups])
    ids = [
        f"cl-{fingerprint(shelf.owner, *sorted(paper.pmid for paper in group))[:SHORT]}"
        for group in groups
    ]
    clusters = [
        Cluster(id_, label, embedder, to_bytes(centre))
        for id_, label, centre in zip(ids, labels, centres, strict=True)
    ]
    members = {paper.pmid: ids[group] for paper, group in zip(papers, belongs, strict=True)}
    shelf.draw(clusters, members)


def compute_metrics(shelf: Shelf) -> dict[str, str]:
    """Return each cluster's label, number of papers and cohesion in words, by id.

    The cohesion is the mean cosine of its papers with its centre, -1..1.
    """
    clusters = shelf.clusters()
    own: dict[str | None, list[bytes]] = {cluster.cluster_id: [] for cluster in clusters}
    for embedder in {cluster.embedder for cluster in clusters}:
        for paper in shelf.embedded(embedder):
            own.setdefault(paper.cluster_id, []).append(paper.vector)
    found = {}
    for cluster in clusters:
        vectors = own[cluster.cluster_id]
        cohesion = float(np.mean(cosines(vectors, cluster.centroid))) if vectors else 0.0
        about = f"{cluster.label}: {len(vectors)} papers, cohesion {cohesion:.2f}"
        found[cluster.cluster_id] = about
    return found


def _labels(groups: Sequence[Sequence[str]]) -> list[str]:
    """Return the words that distinguish the titles of each group; `papers` without any."""
    held = [
        Counter(word for title in group for word in set(title_words(title))) for group in groups
    ]
    everywhere = sum(held, Counter[str]())
    total = sum(map(len, groups))

    def label(here: Counter[str]) -> str:
        # In a single group every word occurs everywhere, so rarity must not make its weight zero.
        weight = {word: n * (0.1 + math.log(total / everywhere[word])) for word, n in here.items()}
        best = sorted(weight, key=lambda word: (-weight[word], word))[:_WORDS]
        return " ".join(best) or "papers"

    return [label(here) for here in held]


def title_words(title: str) -> Iterator[str]:
    """Return the words that say what a text is about."""
    text = "".join(c if c.isalnum() or c == "-" else " " for c in title.casefold())
    for word in text.split():
        bare = word.strip("-")
        if len(bare) >= _SHORTEST and bare not in _EVERYWHERE and not bare.isdecimal():
            yield bare


def is_vector(value: Any) -> bool:
    """Return whether JSON contains a vector of the right length, of finite numbers."""
    return (
        isinstance(value, list)
        and len(value) == DIMENSIONS
        and all(type(number) in (int, float) and math.isfinite(number) for number in value)
    )


def to_bytes(vector: Sequence[float] | Matrix) -> bytes:
    """Return a vector as float32, for SQLite and for memory."""
    return np.asarray(vector, dtype="<f4").tobytes()


def unit(rows: Iterable[bytes]) -> Matrix:
    """Return stored vectors as rows of length 1, so that a product is a cosine; zeros stay."""
    return normal(np.frombuffer(b"".join(rows), dtype="<f4").reshape(-1, DIMENSIONS))


def normal(rows: Matrix) -> Matrix:
    """Scale each row to the length 1; a row of zeros stays unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    scaled: Matrix = (rows / lengths).astype(np.float32)
    return scaled


def cosines(rows: Iterable[bytes], other: bytes) -> list[float]:
    """Return the cosine of each stored vector with the other, -1..1."""
    close: list[float] = np.clip(unit(rows) @ unit([other])[0], -1, 1).tolist()
    return close


def part(rows: Matrix, groups: int) -> tuple[NDArray[np.intp], Matrix]:
    """Return each row's group and each group's centre; rows and centres have the length 1.

    Empty groups are left out, so fewer groups than requested may be returned.
    """
    centres = _first_centres(rows, groups)
    belongs = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(_ROUNDS):
        nearest = np.argmax(rows @ centres.T, axis=1)
        if np.array_equal(nearest, belongs):
            break
        kept, belongs = np.unique(nearest, return_inverse=True)
        centres = normal(np.stack([rows[belongs == g].mean(axis=0) for g in range(len(kept))]))
    return belongs, centres


def _first_centres(rows: Matrix, groups: int) -> Matrix:
    """Choose rows far from each other, with a probability that grows with distance."""
    chance = np.random.default_rng(0)
    chosen = [int(chance.integers(len(rows)))]
    far = np.full(len(rows), np.inf)
    while len(chosen) < min(groups, len(rows)):
        far = np.minimum(far, np.maximum(0, 1 - rows @ rows[chosen[-1]]).astype(np.float64))
        far[chosen] = 0
        if far.sum() <= 0:
            break
        chosen.append(int(chance.choice(len(rows), p=far / far.sum())))
    return rows[chosen]
