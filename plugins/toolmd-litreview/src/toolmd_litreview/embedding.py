"""Embed texts: by a server with the OpenAI API, or by a model in this process."""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from math import sqrt
from threading import Lock
from typing import Any, Protocol

from toolmd import Context, Result, ToolError
from toolmd_litreview.asking import Server
from toolmd_litreview.configuration import Endpoint
from toolmd_litreview.labels import title_words
from toolmd_litreview.paper import fingerprint
from toolmd_litreview.vectors import DIMENSIONS, is_vector, to_bytes

CYCLE_S = 15 * 60
"""How long an unused vector stays in memory, in seconds."""
MOST = 10_000
"""Limit of the vectors in memory: 40 MB."""
MOST_TOKENS = 32_768
"""Estimated tokens of one request: what a card with 8 GB embeds at once."""
_BYTES_A_TOKEN = 3
_SERVER = Server("The embeddings server", "embeddings", largest=256 * 1024 * 1024)


class Source(Protocol):
    """A source of vectors."""

    name: str
    """The model; vectors of two models are never compared."""

    async def embed(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Return a float32 vector for each text; raises MemoryError without enough memory."""


class EndpointSource:
    """A server's model."""

    def __init__(self, endpoint: Endpoint, *, shorten: bool) -> None:
        """Use a server; `shorten` asks it to cut its vectors to 1024 numbers."""
        self.name = endpoint.model
        self._endpoint = endpoint
        self._extra = {"dimensions": DIMENSIONS} if shorten else {}

    async def embed(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Embed all texts in one request; the answer's indexes give the order."""
        asked = {
            "model": self._endpoint.model,
            "input": list(texts),
            "encoding_format": "float",
            **self._extra,
        }
        url = f"{self._endpoint.url}/embeddings"
        answer = await _SERVER.ask(http, url, document=asked, headers=self._endpoint.headers)
        return await asyncio.to_thread(_read, answer, len(texts))


def _read(answer: bytes, count: int) -> list[bytes]:
    try:
        items = json.loads(answer)["data"]
        vectors = {item["index"]: item["embedding"] for item in items}
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


class LocalSource:
    """A sentence-transformers model that runs in this process."""

    def __init__(self, name: str, load: Callable[[str], Any] | None = None) -> None:
        """Use a model by its folder or name; the first text loads it."""
        self.name = name
        self._load = load or _sentence_transformer
        self._model: Any = None
        self._lock = Lock()

    async def embed(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Run the model in a worker thread, one call at a time."""
        del http
        return await asyncio.to_thread(self._run, list(texts))

    def _run(self, texts: list[str]) -> list[bytes]:
        with self._lock:
            try:
                if self._model is None:
                    self._model = self._load(self.name)
                rows = self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)
            except RuntimeError as error:
                # CUDA and Metal report it as a RuntimeError.
                if "out of memory" in str(error).lower():
                    raise MemoryError(f"{self.name} ran out of memory") from error
                raise
        if rows.shape != (len(texts), DIMENSIONS):
            message = f"{self.name} makes vectors of {rows.shape[-1]} numbers, not of {DIMENSIONS}"
            raise ToolError(f"{message}: choose another model.", code="embeddings_misfit")
        return [to_bytes(row) for row in rows]


def _sentence_transformer(name: str) -> Any:
    try:
        module = import_module("sentence_transformers")
    except ImportError as error:
        message = "A local model is set, but its library is missing: install "
        raise ToolError(f"{message}'toolmd-litreview[local]'.", code="not_configured") from error
    return module.SentenceTransformer(name)


WORDS = "words"
"""The name of the vectors that need no model."""
BY_WORDS = (
    "No embeddings are set, so papers are compared and grouped by their words, not by their "
    "meaning: set LITREVIEW_EMBEDDINGS_URL or LITREVIEW_EMBEDDINGS_LOCAL."
)


class WordSource:
    """Makes a vector of a text's words, for a host without a model."""

    name = WORDS

    async def embed(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Count each word of a text at a place of its own; common words are left out."""
        del http
        return await asyncio.to_thread(lambda: [_by_words(text) for text in texts])


def _by_words(text: str) -> bytes:
    counts = [0.0] * DIMENSIONS
    for word in title_words(text):
        # The beginning of a word stands for its inflections.
        counts[int(fingerprint(word[:7])[:8], 16) % DIMENSIONS] += 1.0
    return to_bytes([sqrt(count) for count in counts])


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """Split texts into batches of at most MOST_TOKENS estimated tokens; order is kept."""
    batch: list[str] = []
    tokens = 0
    for text in texts:
        own = len(text.encode(errors="replace")) // _BYTES_A_TOKEN + 1
        if batch and tokens + own > MOST_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += own
    if batch:
        yield batch


def as_query(model: str, query: str) -> str:
    """Return a query as its model expects it; Qwen3 embeds a query with an instruction."""
    if "qwen3-embedding" not in model.casefold():
        return query
    return f"Instruct: {_TASK}\nQuery:{query}"


_TASK = "Given a question of a literature review, retrieve abstracts of papers that answer it"


class Embedder:
    """Embeds texts, and caches the vectors for a cycle."""

    def __init__(self, source: Source, clock: Callable[[], float] = time.monotonic) -> None:
        """Wrap a source; `clock` is monotonic."""
        self._source = source
        self._clock = clock
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._source.name

    async def vectors(self, http: Any, texts: Sequence[str]) -> list[bytes]:
        """Return a float32 vector for each text in order, from the cache where possible."""
        found = self._recall(texts)
        wanted = [text for text in dict.fromkeys(texts) if text not in found]
        for batch in batches(wanted):
            made = dict(zip(batch, await self._source.embed(http, batch), strict=True))
            self._remember(made.items())
            found |= made
        return [found[text] for text in texts]

    def _recall(self, texts: Sequence[str]) -> dict[str, bytes]:
        now = self._clock()
        with self._lock:
            while self._kept and next(iter(self._kept.values()))[0] <= now - CYCLE_S:
                self._kept.popitem(last=False)
            found = {text: self._kept[text][1] for text in texts if text in self._kept}
            self._put(found.items(), now)
        return found

    def _remember(self, made: Iterable[tuple[str, bytes]]) -> None:
        with self._lock:
            self._put(made, self._clock())
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)

    def _put(self, made: Iterable[tuple[str, bytes]], now: float) -> None:
        for text, vector in made:
            self._kept[text] = now, vector
            self._kept.move_to_end(text)


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
