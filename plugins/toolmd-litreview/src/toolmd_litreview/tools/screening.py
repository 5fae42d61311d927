"""Record what a person states about a review, and decides on its papers."""

import asyncio
from typing import Any

from toolmd import Context, ToolError
from toolmd_litreview.library import Library


async def state_review(
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
        await asyncio.to_thread(library.begin_handbook, context.user, question)
    elif await asyncio.to_thread(goals.current) is None:
        raise ToolError("There is no review yet: give its question.", code="no_review")
    await asyncio.to_thread(goals.settle, eligibility, selection)
    book = await asyncio.to_thread(goals.current)
    assert book is not None
    return {"handbook_id": book.handbook_id, "message": f"Recorded for: {book.seed_query}"}


async def decide_papers(
    pmids: list[int], decision: str, reason: str, *, library: Library, context: Context
) -> dict[str, Any]:
    """Record a decision on papers of the current review."""
    shelf = library.of(context.user)
    decided = await asyncio.to_thread(shelf.decide, pmids, decision, reason, context.user or "")
    if not decided:
        raise ToolError("None of these papers is a candidate.", code="papers_not_found")
    return {"decided": decided, "message": f"{decided} of {len(pmids)} papers: {decision}"}
