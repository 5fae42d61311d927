"""Ask PubMed through NCBI's E-utilities: search, links, and records by the history server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from toolmd_litreview.configuration import Ncbi
from toolmd_litreview.pace import RateLimiter
from toolmd_litreview.paper import Paper
from toolmd_litreview.records import PUBMED, Hits, read_hits, read_links, read_papers

BATCH = 500
"""Records in one answer."""
REACH = 9_999
"""How many hits of one search PubMed hands out."""
SEEDS = 20
"""The first hits, whose similar articles a search ripples out to."""
_APART_S = 0.34
"""Three requests a second, as NCBI asks of everybody."""
_APART_WITH_KEY_S = 0.101
"""Ten a second, for who has a key."""


class PubMed:
    """The E-utilities; each request is spaced from the one before, whichever call makes it."""

    def __init__(self, ncbi: Ncbi, pace: RateLimiter, apart_s: float | None = None) -> None:
        """`apart_s` overrides the seconds between two requests, for a server of one's own."""
        self._ncbi = ncbi
        self._pace = pace
        usual = _APART_WITH_KEY_S if ncbi.api_key else _APART_S
        self._apart_s = usual if apart_s is None else apart_s
        known = {"tool": ncbi.tool, "email": ncbi.email, "api_key": ncbi.api_key}
        self._known = {name: value for name, value in known.items() if value}

    async def search(self, http: Any, query: str) -> Hits:
        """Search, the most relevant first; the hits wait on the history server."""
        asked = {"term": query, "usehistory": "y", "retmax": str(SEEDS), "sort": "relevance"}
        return read_hits(await self._ask(http, "esearch", asked))

    async def similar(self, http: Any, pmids: Sequence[int]) -> tuple[int, ...]:
        """Find the articles that PubMed calls similar to these, the closest first."""
        asked = {
            "dbfrom": "pubmed",
            "cmd": "neighbor_score",
            "linkname": "pubmed_pubmed",
            "id": ",".join(map(str, pmids)),
        }
        return read_links(await self._ask(http, "elink", asked)) if pmids else ()

    async def fetch(self, http: Any, hits: Hits, most: int) -> AsyncIterator[list[Paper]]:
        """Give the records of the first `most` hits, a batch at a time."""
        most = min(most, hits.total, REACH)
        for start in range(0, most, BATCH):
            size = min(BATCH, most - start)
            asked = {
                "WebEnv": hits.web_env,
                "query_key": hits.query_key,
                "retstart": str(start),
                "retmax": str(size),
                "retmode": "xml",
            }
            yield await self._papers(http, asked)

    async def fetch_these(self, http: Any, pmids: Sequence[int]) -> list[Paper]:
        """Give the records of these numbers; those that PubMed does not have are left out."""
        papers: list[Paper] = []
        for start in range(0, len(pmids), BATCH):
            wanted = ",".join(map(str, pmids[start : start + BATCH]))
            papers += await self._papers(http, {"id": wanted, "retmode": "xml"})
        return papers

    async def _papers(self, http: Any, asked: dict[str, str]) -> list[Paper]:
        answer = await self._ask(http, "efetch", asked)
        # Half a second for five hundred records, in which the loop must not stand still.
        return await asyncio.to_thread(read_papers, answer)

    async def _ask(self, http: Any, utility: str, asked: dict[str, str]) -> bytes:
        await self._pace.wait(self._apart_s)
        form = {"db": "pubmed", **asked, **self._known}
        return await PUBMED.ask(http, f"{self._ncbi.url}/{utility}.fcgi", form=form)
