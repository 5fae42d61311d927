"""Embed texts with the tool `embed_text`, within its limits."""

import asyncio
from collections.abc import Sequence
from typing import Any

from toolmd import Context, Result, ToolError
from toolmd_litreview.embedding import WORDS, Embedder
from toolmd_litreview.vectors import is_vector, to_bytes


async def embed(context: Context, texts: Sequence[str], embedder: Embedder) -> list[bytes | None]:
    """Return a float32 vector for each text, None for a skipped one.

    Raises ToolError with the code of embed_text's failure, such as `api_offline`.
    """
    if not texts:
        return []
    if embedder.name == WORDS:
        return list(await embedder.vectors(context.http, texts))
    result = await context.call("embed_text", {"text": list(texts)})
    if not result.success:
        raise failure(result)
    rows = result.data["vectors"] if isinstance(result.data, dict) else None
    if not isinstance(rows, list) or len(rows) != len(texts):
        message = "Some texts were skipped for want of memory: try again with fewer papers."
        raise ToolError(message, code="embeddings_incomplete")
    # Two thousand vectors take half a second, which must not block the loop.
    return await asyncio.to_thread(_packed, rows)


def _packed(rows: Sequence[Any]) -> list[bytes | None]:
    return [to_bytes(row) if is_vector(row) else None for row in rows]


def failure(result: Result) -> ToolError:
    """Return the error that passes on another tool's failure."""
    error = result.error
    if error is None:
        return ToolError(f"{result.tool} was not run: {result.outcome}.", code="not_run")
    return ToolError(f"{result.tool}: {error.message}", code=error.code)
