"""Collect the papers of one search: of the query alone, or of a wider one."""

from typing import Any, NamedTuple

from toolmd import Context
from toolmd_litreview.embedding import Embedder, as_query, embed
from toolmd_litreview.paper import Paper
from toolmd_litreview.pubmed import REACH, SEEDS, PubMed
from toolmd_litreview.records import Hits
from toolmd_litreview.vectors import cosines

WIDER = 2
"""How many times `retmax` papers a semantic search reads."""


class Gathered(NamedTuple):
    """The result of a search."""

    hits: Hits
    papers: list[Paper]
    vectors: dict[int, bytes]
    """The vectors of the search, by PMID."""


class Gatherer:
    """Searches for one call."""

    def __init__(self, pubmed: PubMed, embedder: Embedder, context: Context) -> None:
        self._pubmed = pubmed
        self._embedder = embedder
        self._context = context
        self._http: Any = context.http

    async def gather(self, query: str, retmax: int, expand_mode: str) -> Gathered:
        """Return at most `retmax` papers without duplicates."""
        hits = await self._pubmed.search(self._http, query)
        if expand_mode == "semantic":
            return await self._semantic(hits, query, retmax)
        return Gathered(hits, await self._ripple(hits, retmax), {})

    async def _semantic(self, hits: Hits, query: str, retmax: int) -> Gathered:
        """Read more papers than requested, and keep those closest to the query in meaning."""
        papers = await self._fetch(hits, retmax * WIDER)
        if not papers:
            return Gathered(hits, [], {})
        asked = as_query(self._embedder.name, query)
        texts = [asked, *(paper.text for paper in papers)]
        near, *made = await embed(self._context, texts, self._embedder)
        vectors = {p.pmid: v for p, v in zip(papers, made, strict=True) if v is not None}
        if near is None:
            return Gathered(hits, papers[:retmax], vectors)
        close = dict(zip(vectors, cosines(vectors.values(), near), strict=True))
        kept = sorted(papers, key=lambda paper: -close.get(paper.pmid, -1.0))[:retmax]
        return Gathered(hits, kept, vectors)

    async def _ripple(self, hits: Hits, retmax: int) -> list[Paper]:
        """Reserve up to half of the papers for articles that PubMed lists as similar to the top."""
        most = retmax // 2
        near = await self._pubmed.similar(self._http, hits.first[:SEEDS]) if most else ()
        wanted = [pmid for pmid in near if pmid not in hits.first][:most]
        similar = await self._pubmed.fetch_these(self._http, wanted)
        papers = await self._fetch(hits, retmax - len(similar))
        return list({paper.pmid: paper for paper in (*papers, *similar)}.values())

    async def _fetch(self, hits: Hits, most: int) -> list[Paper]:
        papers: dict[int, Paper] = {}
        whole = min(most, hits.total, REACH)
        async for batch in self._pubmed.fetch(self._http, hits, most):
            papers |= {paper.pmid: paper for paper in batch}
            fraction = min(1.0, len(papers) / whole)
            await self._context.progress(f"{len(papers)} of {whole} records", fraction)
        return list(papers.values())
