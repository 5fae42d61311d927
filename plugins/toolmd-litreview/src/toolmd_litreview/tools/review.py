"""What the tools do: search, compare, extract and check, and record what a person decides."""

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np

from toolmd import Context, ToolError
from toolmd_litreview.asking import Model, unreadable
from toolmd_litreview.clusters import DIMENSIONS, compute_metrics, cosines, sort_in
from toolmd_litreview.configuration import WORDS
from toolmd_litreview.embedding import BY_WORDS, Embedder, embed
from toolmd_litreview.extraction import FIELDS, Extractor
from toolmd_litreview.library import Library, Search, Shelf
from toolmd_litreview.paper import SHORT, Cluster, Paper, fingerprint
from toolmd_litreview.prisma import (
    PRISMA_TASK,
    THEME_TASK,
    material,
    missing_items,
    new_theme,
    record,
)
from toolmd_litreview.pubmed import PubMed, gather, ripple


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
    hits, papers, gathered = await (
        gather(pubmed, embedder, context, query, retmax)
        if expand_mode == "semantic"
        else ripple(pubmed, context, query, retmax)
    )
    await asyncio.to_thread(library.goals(context.user).searching, query)
    shelf = library.of(context.user)
    new = await asyncio.to_thread(shelf.add_papers, papers)
    unknown = "; ".join(hits.not_found)
    noted = Search(query, expand_mode, retmax, hits.total, len(papers), "", unknown)
    await asyncio.to_thread(shelf.note_search, noted)
    if unknown:
        context.note(f"PubMed does not know these phrases and searched without them: {unknown}.")
    vectors = {paper.pmid: gathered[paper.pmid] for paper in papers if paper.pmid in gathered}
    await asyncio.to_thread(shelf.set_vectors, embedder.name, vectors)
    hindrance = await _cluster(shelf, embedder, context)
    clusters = await asyncio.to_thread(compute_metrics, shelf)
    return {
        "found": hits.total,
        "new": new,
        "clusters": clusters,
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
    except ToolError as error:  # The papers are saved; the next search embeds them.
        return f"; not clustered yet: {error}"
    vectors = {p.pmid: v for p, v in zip(papers, made, strict=True) if v is not None}
    await asyncio.to_thread(shelf.set_vectors, embedder.name, vectors)
    await asyncio.to_thread(sort_in, shelf, embedder.name)
    return ""


async def embed_text(
    text: str | list[str], *, embedder: Embedder, context: Context
) -> dict[str, Any]:
    """Return a vector for each text in order; a single text has one."""
    if embedder.name == WORDS:
        raise ToolError(BY_WORDS, code="not_configured")
    texts = [text] if isinstance(text, str) else text
    vectors = await embedder.vectors(context.http, texts)
    rows = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, DIMENSIONS)
    return {"dimensions": DIMENSIONS, "vectors": await asyncio.to_thread(rows.tolist)}


async def run_pico(
    cluster_id: str | None = None,
    pmid_list: list[int] | None = None,
    *,
    library: Library,
    pubmed: PubMed,
    model: Model,
    context: Context,
) -> dict[str, Any]:
    """Write one line per paper to `pico/<cluster_id>.jsonl`; the same call writes the same file."""
    if cluster_id is not None:
        # The name comes from the table, which contains only generated names.
        name = (await asyncio.to_thread(library.cluster, context.user, cluster_id)).cluster_id
        papers = await asyncio.to_thread(library.papers, context.user, name)
        wanted = [paper.pmid for paper in papers]
    else:
        wanted = sorted(pmid_list or [])
        name = f"pmids-{fingerprint(library.of(context.user).owner, *wanted)[:SHORT]}"
        papers = await _listed_papers(library, pubmed, wanted, context)
    told = [paper for paper in papers if paper.abstract]

    async def tell(done: int, all_: int) -> None:
        await context.progress(f"{done} of {all_} abstracts", done / all_ if all_ else 1.0)

    extractor = Extractor(library, model, context.http)
    found = await extractor.extract(told, tell)
    if told and not found:
        raise unreadable("fields")
    nothing: dict[str, Any] = {**dict.fromkeys(FIELDS), "quotes": {}}
    rows = [
        {"pmid": paper.pmid, **found.get(paper.pmid, nothing)}
        for paper in papers
        if paper.pmid in found or not paper.abstract
    ]
    file = await asyncio.to_thread(library.write_lines, name, rows)
    there = {paper.pmid for paper in papers}
    return {
        "file": file,
        "extracted": len(found),
        "unsupported_fields": extractor.unsupported,
        "without_abstract": len(papers) - len(told),
        "failed_pmids": sorted({paper.pmid for paper in told} - found.keys()),
        "unknown_pmids": sorted(set(wanted) - there),
        "message": f"{len(found)} of {len(wanted)} papers extracted to {file}",
    }


async def _listed_papers(
    library: Library, pubmed: PubMed, wanted: Sequence[int], context: Context
) -> list[Paper]:
    """Return the papers of a list; those that are not candidates come from PubMed."""
    saved = {p.pmid: p for p in await asyncio.to_thread(library.of(context.user).papers)}
    missing = [pmid for pmid in wanted if pmid not in saved]
    fetched = await pubmed.fetch_these(context.http, missing)
    saved |= {paper.pmid: paper for paper in fetched}
    papers = [saved[pmid] for pmid in wanted if pmid in saved]
    if not papers:
        raise ToolError("PubMed has none of these papers.", code="papers_not_found")
    return papers


async def prisma_check(
    cluster_id: str, *, library: Library, model: Model, context: Context
) -> dict[str, Any]:
    """Ask the model once; the result follows from the missing items."""
    cluster = await asyncio.to_thread(library.cluster, context.user, cluster_id)
    written = await asyncio.to_thread(record, library, context.user, cluster)
    missing = missing_items(await model.answer(context.http, PRISMA_TASK, written))
    return {"compliant": not missing, "missing_items": missing}


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


async def propose_alternative_pico(
    exclude_pmids: list[int], *, library: Library, model: Model, context: Context
) -> dict[str, Any]:
    """Ask the model for a question that the candidates outside the list could answer."""
    excluded = set(exclude_pmids)
    papers = await asyncio.to_thread(library.of(context.user).papers)
    left = [paper for paper in papers if paper.pmid not in excluded]
    if not left:
        message = f"None of the {len(papers)} candidates remains: search_pubmed finds more."
        raise ToolError(message, code="no_papers_left")
    theme = new_theme(await model.answer(context.http, THEME_TASK, material(left)))
    book = await asyncio.to_thread(library.begin_handbook, context.user, theme)
    return {"new_PICO": theme, "message": f"Handbook {book.handbook_id} has it as its Seed_query"}


def state_review(
    eligibility: str,
    selection: str = "",
    question: str | None = None,
    *,
    library: Library,
    context: Context,
) -> dict[str, Any]:
    """Record the rules of the current review, or of a new one with its question."""
    goals = library.goals(context.user)
    if question is not None:
        library.begin_handbook(context.user, question)
    elif goals.current() is None:
        raise ToolError("There is no review yet: give its question.", code="no_review")
    goals.settle(eligibility, selection)
    book = goals.all()[0]
    return {"handbook_id": book.handbook_id, "message": f"Recorded for: {book.seed_query}"}


def decide_papers(
    pmids: list[int], decision: str, reason: str, *, library: Library, context: Context
) -> dict[str, Any]:
    """Record a decision on papers of the current review."""
    decided = library.of(context.user).decide(pmids, decision, reason, context.user or "")
    if not decided:
        raise ToolError("None of these papers is a candidate.", code="papers_not_found")
    return {"decided": decided, "message": f"{decided} of {len(pmids)} papers: {decision}"}
