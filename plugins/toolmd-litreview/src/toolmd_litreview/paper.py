"""Types for the reviewed material, its names, and its lines of JSON."""

import hashlib
import json
from typing import Any, NamedTuple


class Paper(NamedTuple):
    """One record of PubMed with the fields of a review."""

    pmid: int
    title: str
    """Never empty: PubMed writes `[Not Available].` for a missing title."""
    abstract: str
    """Structured abstracts have one line per section, `METHODS: …`; empty if missing."""
    year: str = ""
    journal: str = ""
    doi: str = ""

    @property
    def text(self) -> str:
        """Return the text of the paper for embedding."""
        return f"{self.title}\n{self.abstract}"[:LONGEST_TEXT]


LONGEST_TEXT = 30_000
"""Characters of a paper that are embedded; the longest abstracts have about 10,000."""


class Cluster(NamedTuple):
    """Papers that are close in meaning."""

    cluster_id: str
    label: str
    """The words that distinguish its titles, the strongest first."""
    embedder: str
    """The model of its vectors."""
    centroid: bytes
    """A vector of float32, of length 1."""


SHORT = 12
"""Length that suffices to distinguish one person's clusters and lists."""


def fingerprint(*parts: object) -> str:
    """Return the hex sha256 of the parts in order."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def line(row: Any) -> str:
    """Return a row as one line of JSON, without its line end."""
    return json.dumps(row, ensure_ascii=False)
