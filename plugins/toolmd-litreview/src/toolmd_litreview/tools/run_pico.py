"""Extract P, I, C, O and the study design of a cluster's papers, or of a list of papers."""

import asyncio
from collections.abc import Sequence
from typing import Any

from toolmd import Context, ToolError
from toolmd_litreview.extraction import FIELDS, Extractor
from toolmd_litreview.fingerprint import SHORT, fingerprint
from toolmd_litreview.library import Library
from toolmd_litreview.model import Model, unreadable
from toolmd_litreview.paper import Paper
from toolmd_litreview.pubmed import PubMed


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
        papers = await _papers(library, pubmed, wanted, context)
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
    report = _report(file, wanted, papers, found)
    return {**report, "unsupported_fields": extractor.unsupported}


def _report(
    file: str, wanted: Sequence[int], papers: Sequence[Paper], found: dict[int, Any]
) -> dict[str, Any]:
    there = {paper.pmid for paper in papers}
    told = {paper.pmid for paper in papers if paper.abstract}
    return {
        "file": file,
        "extracted": len(found),
        "without_abstract": len(there - told),
        "failed_pmids": sorted(told - found.keys()),
        "unknown_pmids": sorted(set(wanted) - there),
        "message": f"{len(found)} of {len(wanted)} papers extracted to {file}",
    }


async def _papers(
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
