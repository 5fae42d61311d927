"""Embed texts by a server with the OpenAI API, or by their words without one."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from threading import Lock
from typing import Any

from toolmd import Context, Result, ToolError
from toolmd_litreview.asking import Server
from toolmd_litreview.clusters import DIMENSIONS, is_vector, title_words, to_bytes
from toolmd_litreview.configuration import WORDS, Endpoint
from toolmd_litreview.paper import fingerprint

CYCLE_S = 15 * 60
"""How long an unused vector stays in memory, in seconds."""
MOST = 10_000
"""Limit of the vectors in memory: 40 MB."""
_SERVER = Server("The embeddings server", "embeddings", largest=256 * 1024 * 1024)
_TASK = "Given a question of a literature review, retrieve abstracts of papers that answer it"
BY_WORDS = (
    "No embeddings are set, so papers are compared and grouped by their words, not by their "
    "meaning: set LITREVIEW_EMBEDDINGS_URL."
)


class Embedder:
    """Embeds texts, and caches the vectors for a cycle."""

    def __init__(
        self, endpoint: Endpoint | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Use the model of a server, or words where there is None; `clock` is monotonic."""
        self.name = endpoint.model if endpoint else WORDS
        """The model; vectors of two models are never compared."""
        self._endpoint = endpoint
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def as_query(self, query: str) -> str:
        """Return a query as its model expects it; Qwen3 embeds a query with an instruction."""
        if "qwen3-embedding" not in self.name.casefold():
            return query
        return f"Instruct: {_TASK}\nQuery:{query}"

    async def vectors(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Return a float32 vector for each text in order, from the cache where possible.

        Raises MemoryError where the server runs out of memory.
        """
        if self._endpoint is None:
            return await asyncio.to_thread(lambda: [_by_words(text) for text in texts])
        with self._lock:
            while self._kept and next(iter(self._kept.values()))[0] <= self._clock() - CYCLE_S:
                self._kept.popitem(last=False)
            found = {text: self._kept[text][1] for text in texts if text in self._kept}
            self._keep(found.items())
        if wanted := [text for text in dict.fromkeys(texts) if text not in found]:
            made = dict(zip(wanted, await self._ask(http, self._endpoint, wanted), strict=True))
            with self._lock:
                self._keep(made.items())
            found |= made
        return [found[text] for text in texts]

    def forget(self) -> None:
        """Delete the vectors in memory."""
        self._kept.clear()

    def _keep(self, made: Iterable[tuple[str, bytes]]) -> None:
        for text, vector in made:
            self._kept[text] = self._clock(), vector
            self._kept.move_to_end(text)
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    async def _ask(self, http: Any, endpoint: Endpoint, texts: list[str]) -> list[bytes]:
        asked: dict[str, Any] = {
            "model": endpoint.model,
            "input": texts,
            "encoding_format": "float",
            **({"dimensions": DIMENSIONS} if endpoint.shorten else {}),
        }
        url = f"{endpoint.url}/embeddings"
        answer = await _SERVER.ask(http, url, document=asked, headers=endpoint.headers)
        return await asyncio.to_thread(_read, answer, len(texts))


def _read(answer: bytes, count: int) -> list[bytes]:
    """Read the vectors of an answer; its indexes give the order."""
    try:
        vectors = {item["index"]: item["embedding"] for item in json.loads(answer)["data"]}
        ordered = [vectors[index] for index in range(count)]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _SERVER.garbled() from error
    for vector in ordered:
        if not is_vector(vector):
            size = f"{len(vector)} numbers" if isinstance(vector, list) else "none"
            message = (
                f"vectors of {size}, not of {DIMENSIONS}; set LITREVIEW_EMBEDDINGS_MODEL to a "
                "model of that size, or LITREVIEW_EMBEDDINGS_SHORTEN=true where it can shorten"
            )
            raise ToolError(f"{_SERVER.name} answered: {message}.", code="embeddings_misfit")
    return [to_bytes(vector) for vector in ordered]


def _by_words(text: str) -> bytes:
    """Count each word of a text at a place of its own; common words are left out."""
    counts = [0.0] * DIMENSIONS
    for word in title_words(text):
        # The beginning of a word stands for its inflections.
        counts[int(fingerprint(word[:7])[:8], 16) % DIMENSIONS] += 1.0
    return to_bytes([sqrt(count) for count in counts])


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
        raise _failure(result)
    rows = result.data["vectors"] if isinstance(result.data, dict) else None
    if not isinstance(rows, list) or len(rows) != len(texts):
        message = "Some texts were skipped for want of memory: try again with fewer papers."
        raise ToolError(message, code="embeddings_incomplete")
    # Two thousand vectors take half a second, which must not block the loop.
    return await asyncio.to_thread(
        lambda: [to_bytes(row) if is_vector(row) else None for row in rows]
    )


def _failure(result: Result) -> ToolError:
    """Return the error that passes on another tool's failure."""
    error = result.error
    if error is None:
        return ToolError(f"{result.tool} was not run: {result.outcome}.", code="not_run")
    return ToolError(f"{result.tool}: {error.message}", code=error.code)
