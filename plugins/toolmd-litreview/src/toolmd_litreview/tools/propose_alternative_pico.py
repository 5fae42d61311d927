"""Propose a new theme from the remaining papers."""

import asyncio
from typing import Any

from toolmd import Context, ToolError
from toolmd_litreview.library import Library
from toolmd_litreview.model import Model
from toolmd_litreview.theme import TASK, material, new_theme


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
    theme = new_theme(await model.answer(context.http, TASK, material(left)))
    book = await asyncio.to_thread(library.begin_handbook, context.user, theme)
    return {"new_PICO": theme, "message": f"Handbook {book.handbook_id} has it as its Seed_query"}
