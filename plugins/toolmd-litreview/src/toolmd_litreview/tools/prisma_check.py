"""Check a cluster's review against PRISMA's items 4 to 8."""

import asyncio
from typing import Any

from toolmd import Context
from toolmd_litreview.library import Library
from toolmd_litreview.model import Model
from toolmd_litreview.prisma import TASK, Counts, missing_items, record


async def prisma_check(
    cluster_id: str, *, library: Library, model: Model, context: Context
) -> dict[str, Any]:
    """Ask the model once; the result follows from the missing items."""
    cluster = await asyncio.to_thread(library.cluster, context.user, cluster_id)
    shelf = library.of(context.user)
    papers = await asyncio.to_thread(shelf.papers, cluster.cluster_id)
    searches = await asyncio.to_thread(shelf.searches)
    handbook = await asyncio.to_thread(library.goals(context.user).current)
    everything = await asyncio.to_thread(shelf.papers)
    decisions = await asyncio.to_thread(shelf.decisions)
    counts = Counts(len(everything), len(papers), sum(not paper.abstract for paper in papers))
    material = record(cluster, counts, searches, handbook, decisions.values())
    missing = missing_items(await model.answer(context.http, TASK, material))
    return {"compliant": not missing, "missing_items": missing}
