"""Find systematic reviews that already cover a cluster's theme."""

import asyncio
from typing import Any

from toolmd import Context, ToolError
from toolmd_litreview.embedded import embed
from toolmd_litreview.embedding import Embedder
from toolmd_litreview.library import Library
from toolmd_litreview.paper import Cluster, Paper
from toolmd_litreview.pubmed import PubMed
from toolmd_litreview.vectors import cosines

CLOSE = 0.75
"""The cosine from which a review counts as covering the theme (seed 004)."""
MOST = 200
"""Number of reviews that are compared, the most relevant first."""


async def find_existing_sr(
    cluster_id: str, *, library: Library, pubmed: PubMed, embedder: Embedder, context: Context
) -> dict[str, Any]:
    """Return the share of reviews that are close to the cluster's centre."""
    cluster = await asyncio.to_thread(library.cluster, context.user, cluster_id)
    if cluster.embedder != embedder.name:
        message = f"This cluster was made with {cluster.embedder}: search_pubmed makes it again."
        raise ToolError(message, code="cluster_outdated")
    hits = await pubmed.search(context.http, query_of(cluster))
    reviews: list[Paper] = []
    async for batch in pubmed.fetch(context.http, hits, MOST):
        reviews += batch
    if not reviews:
        context.note("PubMed has no systematic review on this theme, so nothing was compared.")
    made = await embed(context, [review.title for review in reviews], embedder)
    titles = [(r.pmid, v) for r, v in zip(reviews, made, strict=True) if v is not None]
    close = cosines((vector for _, vector in titles), cluster.centroid)
    near = [pmid for (pmid, _), cosine in zip(titles, close, strict=True) if cosine >= CLOSE]
    return {
        "overlap": len(near) / len(titles) if titles else 0.0,
        "sr_pmids": near,
        "message": f"{len(near)} of {len(titles)} systematic reviews are close to the theme",
        "source": {"system": "PubMed"},
    }


def query_of(cluster: Cluster) -> str:
    """Return the query for systematic reviews on a cluster's label."""
    words = " AND ".join(f'"{word}"' for word in cluster.label.split())
    return f"({words}) AND systematic[sb]"
