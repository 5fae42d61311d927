"""Name what is reviewed: a paper, and a cluster of papers."""

from typing import NamedTuple, TypedDict


class Paper(NamedTuple):
    """One record of PubMed, as far as a review needs it."""

    pmid: int
    title: str
    """Never empty: PubMed writes `[Not Available].` where there is none."""
    abstract: str
    """Structured abstracts have a line a section, `METHODS: …`; empty where there is none."""

    @property
    def text(self) -> str:
        """What stands for the paper when it is embedded."""
        return f"{self.title}\n{self.abstract}"[:LONGEST_TEXT]


LONGEST_TEXT = 30_000
"""Characters of a paper that are embedded; the longest abstracts have some 10,000."""


class Cluster(NamedTuple):
    """Papers that are close in meaning."""

    cluster_id: str
    label: str
    """The words that set its titles apart from the others', the strongest first."""
    embedder: str
    """The model whose vectors it was drawn from."""
    centroid: bytes
    """A vector of float32, of length 1."""


class Triple(TypedDict):
    """A paper as a model reads it."""

    pmid: int
    title: str
    abstract: str
