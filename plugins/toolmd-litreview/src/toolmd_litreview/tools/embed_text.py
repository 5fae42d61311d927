"""Embed texts."""

import asyncio
from typing import Any

import numpy as np

from toolmd import Context, ToolError
from toolmd_litreview.embedding import BY_WORDS, WORDS, Embedder
from toolmd_litreview.vectors import DIMENSIONS


async def embed_text(
    text: str | list[str], *, embedder: Embedder, context: Context
) -> dict[str, Any]:
    """Return a vector for each text in order; a single text has one."""
    if embedder.name == WORDS:
        raise ToolError(BY_WORDS, code="not_configured")
    texts = [text] if isinstance(text, str) else text
    vectors = await embedder.vectors(context.http, texts)
    rows = await asyncio.to_thread(_numbers, vectors)
    return {"dimensions": DIMENSIONS, "vectors": rows}


def _numbers(vectors: list[bytes]) -> list[list[float]]:
    return [np.frombuffer(vector, dtype="<f4").tolist() for vector in vectors]
