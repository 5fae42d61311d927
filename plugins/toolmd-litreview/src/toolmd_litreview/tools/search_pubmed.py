"""Search PubMed and save what it finds."""

import asyncio
from typing import Any

from toolmd import Context, ToolError
from toolmd_litreview.clusters import compute_metrics, sort_in
from toolmd_litreview.embedded import embed
from toolmd_litreview.embedding import BY_WORDS, WORDS, Embedder
from toolmd_litreview.gathering import Gatherer
from toolmd_litreview.library import Library
from toolmd_litreview.pubmed import PubMed
from toolmd_litreview.shelf import Search, Shelf


async def search_pubmed(  # noqa: PLR0913 - the tool's own parameters, and what it works with
    query: str,
    retmax: int,
    expand_mode: str,
    *,
    pubmed: PubMed,
    library: Library,
    embedder: Embedder,
    context: Context,
) -> dict[str, Any]:
    """Collect papers, save them by their PMID, and update the clusters."""
    gathered = await Gatherer(pubmed, embedder, context).gather(query, retmax, expand_mode)
    papers, hits = gathered.papers, gathered.hits
    await asyncio.to_thread(library.goals(context.user).searching, query)
    shelf = library.of(context.user)
    new = await asyncio.to_thread(shelf.add_papers, papers)
    unknown = "; ".join(hits.not_found)
    noted = Search(query, expand_mode, retmax, hits.total, len(papers), "", unknown)
    await asyncio.to_thread(shelf.note_search, noted)
    if unknown:
        context.note(f"PubMed does not know these phrases and searched without them: {unknown}.")
    if gathered.vectors:
        saved = {paper.pmid for paper in papers}
        vectors = {pmid: vector for pmid, vector in gathered.vectors.items() if pmid in saved}
        await asyncio.to_thread(shelf.set_vectors, embedder.name, vectors)
    hindrance = await _cluster(shelf, embedder, context)
    metrics = await asyncio.to_thread(compute_metrics, shelf)
    return {
        "found": hits.total,
        "new": new,
        "clusters": {each.cluster_id: str(each) for each in metrics},
        "phrases_not_found": list(hits.not_found),
        "papers": [
            {"pmid": paper.pmid, "title": paper.title, "abstract": paper.abstract}
            for paper in papers
        ],
        "message": f"{len(papers)} papers of {hits.total} found, {new} of them new{hindrance}",
        "source": {"system": "PubMed"},
    }


async def _cluster(shelf: Shelf, embedder: Embedder, context: Context) -> str:
    """Update the clusters if vectors are available; else return the reason."""
    if embedder.name == WORDS:
        context.note(BY_WORDS)
    try:
        papers = await asyncio.to_thread(shelf.without_vector, embedder.name)
        made = await embed(context, [paper.text for paper in papers], embedder)
    except ToolError as error:
        # The papers are saved; the next search embeds them.
        return f"; not clustered yet: {error}"
    vectors = {p.pmid: v for p, v in zip(papers, made, strict=True) if v is not None}
    await asyncio.to_thread(shelf.set_vectors, embedder.name, vectors)
    await asyncio.to_thread(sort_in, shelf, embedder.name)
    return ""
