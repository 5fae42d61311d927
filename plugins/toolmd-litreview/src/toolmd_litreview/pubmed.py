"""Ask PubMed by the E-utilities: a search and its records, of the query alone or of a wider one."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from threading import Lock
from typing import Any, NamedTuple

from toolmd import Context
from toolmd_litreview.clusters import cosines
from toolmd_litreview.configuration import Ncbi
from toolmd_litreview.embedding import Embedder, embed
from toolmd_litreview.paper import Paper
from toolmd_litreview.records import PUBMED, Hits, read_hits, read_links, read_papers

BATCH = 500
"""Records in one response."""
REACH = 9_999
"""Limit of the hits that PubMed returns for one search."""
SEEDS = 20
"""Number of first hits whose similar articles a wider search reads."""
_APART_S = 0.34
"""Three requests a second, NCBI's limit without a key."""
_APART_WITH_KEY_S = 0.101
"""Ten a second, NCBI's limit with a key."""
WIDER = 2
"""How many times `retmax` papers a semantic search reads."""


class RateLimiter:
    """Starts requests one by one, at least some seconds apart."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Prepare the limiter; `clock` returns monotonic seconds."""
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._lock = Lock()

    async def wait(self, apart_s: float) -> None:
        """Wait until the next request may start."""
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + apart_s
        if start > now:
            await self._sleep(start - now)


class PubMed:
    """The E-utilities; requests of all calls are spaced together."""

    def __init__(self, ncbi: Ncbi, pace: RateLimiter, apart_s: float | None = None) -> None:
        """Open the client; `apart_s` overrides the seconds between requests, for another server."""
        self._ncbi = ncbi
        self._pace = pace
        usual = _APART_WITH_KEY_S if ncbi.api_key else _APART_S
        self._apart_s = usual if apart_s is None else apart_s
        known = {"tool": ncbi.tool, "email": ncbi.email, "api_key": ncbi.api_key}
        self._known = {name: value for name, value in known.items() if value}

    async def search(self, http: Any, query: str) -> Hits:
        """Search, the most relevant first; the hits stay on the history server."""
        asked = {"term": query, "usehistory": "y", "retmax": str(SEEDS), "sort": "relevance"}
        return read_hits(await self._ask(http, "esearch", asked))

    async def similar(self, http: Any, pmids: Sequence[int]) -> tuple[int, ...]:
        """Find the articles that PubMed lists as similar to these, the closest first."""
        asked = {
            "dbfrom": "pubmed",
            "cmd": "neighbor_score",
            "linkname": "pubmed_pubmed",
            "id": ",".join(map(str, pmids)),
        }
        return read_links(await self._ask(http, "elink", asked)) if pmids else ()

    async def fetch(self, http: Any, hits: Hits, most: int) -> AsyncIterator[list[Paper]]:
        """Return the records of the first `most` hits, one batch at a time."""
        most = min(most, hits.total, REACH)
        history = {"WebEnv": hits.web_env, "query_key": hits.query_key}
        for start in range(0, most, BATCH):
            place = {"retstart": str(start), "retmax": str(min(BATCH, most - start))}
            yield await self._papers(http, history | place)

    async def fetch_these(self, http: Any, pmids: Sequence[int]) -> list[Paper]:
        """Return the records of these PMIDs, without those that PubMed lacks."""
        papers: list[Paper] = []
        for start in range(0, len(pmids), BATCH):
            wanted = ",".join(map(str, pmids[start : start + BATCH]))
            papers += await self._papers(http, {"id": wanted})
        return papers

    async def _papers(self, http: Any, asked: dict[str, str]) -> list[Paper]:
        answer = await self._ask(http, "efetch", {**asked, "retmode": "xml"})
        # Five hundred records take half a second, which must not block the loop.
        return await asyncio.to_thread(read_papers, answer)

    async def _ask(self, http: Any, utility: str, asked: dict[str, str]) -> bytes:
        await self._pace.wait(self._apart_s)
        form = {"db": "pubmed", **asked, **self._known}
        return await PUBMED.ask(http, f"{self._ncbi.url}/{utility}.fcgi", form=form)


class Gathered(NamedTuple):
    """The result of a search."""

    hits: Hits
    papers: list[Paper]
    vectors: dict[int, bytes]
    """The vectors of the search, by PMID."""


async def gather(
    pubmed: PubMed, embedder: Embedder, context: Context, query: str, retmax: int
) -> Gathered:
    """Read more papers than requested, and keep those closest to the query in meaning."""
    hits = await pubmed.search(context.http, query)
    papers = await _fetch(pubmed, context, hits, retmax * WIDER)
    if not papers:
        return Gathered(hits, [], {})
    texts = [embedder.as_query(query), *(paper.text for paper in papers)]
    near, *made = await embed(context, texts, embedder)
    vectors = {p.pmid: v for p, v in zip(papers, made, strict=True) if v is not None}
    if near is None:
        return Gathered(hits, papers[:retmax], vectors)
    close = dict(zip(vectors, cosines(vectors.values(), near), strict=True))
    kept = sorted(papers, key=lambda paper: -close.get(paper.pmid, -1.0))[:retmax]
    return Gathered(hits, kept, vectors)


async def ripple(pubmed: PubMed, context: Context, query: str, retmax: int) -> Gathered:
    """Reserve up to half of the papers for articles that PubMed lists as similar to the top."""
    hits = await pubmed.search(context.http, query)
    most = retmax // 2
    near = await pubmed.similar(context.http, hits.first[:SEEDS]) if most else ()
    wanted = [pmid for pmid in near if pmid not in hits.first][:most]
    similar = await pubmed.fetch_these(context.http, wanted)
    papers = await _fetch(pubmed, context, hits, retmax - len(similar))
    return Gathered(hits, [*{paper.pmid: paper for paper in (*papers, *similar)}.values()], {})


async def _fetch(pubmed: PubMed, context: Context, hits: Hits, most: int) -> list[Paper]:
    papers: dict[int, Paper] = {}
    whole = min(most, hits.total, REACH)
    async for batch in pubmed.fetch(context.http, hits, most):
        papers |= {paper.pmid: paper for paper in batch}
        done = f"{len(papers)} of {whole} records"
        await context.progress(done, min(1.0, len(papers) / whole))
    return list(papers.values())
