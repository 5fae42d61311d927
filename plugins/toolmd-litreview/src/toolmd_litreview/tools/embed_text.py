"""Embed texts."""

import asyncio

import numpy as np

from toolmd import Context
from toolmd_litreview.embedding import Embedder


async def embed_text(
    text: str | list[str], *, embedder: Embedder, context: Context
) -> list[list[float]]:
    """Return a vector for each text in order; a single text has one."""
    texts = [text] if isinstance(text, str) else text
    vectors = await embedder.vectors(context.http, texts)
    return await asyncio.to_thread(_numbers, vectors)


def _numbers(vectors: list[bytes]) -> list[list[float]]:
    return [np.frombuffer(vector, dtype="<f4").tolist() for vector in vectors]
