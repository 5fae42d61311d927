"""Register the tools, and provide PubMed, a model and the table of candidates."""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from toolmd import Action, Call, Resources, Result, Settings, ToolSpec, Verdict, hookimpl
from toolmd_litreview.configuration import Configuration, origin, read
from toolmd_litreview.embedding import (
    WORDS,
    Embedder,
    EndpointSource,
    LocalSource,
    Source,
    WordSource,
)
from toolmd_litreview.library import Library
from toolmd_litreview.model import Model
from toolmd_litreview.pubmed import PubMed, RateLimiter

if TYPE_CHECKING:
    from toolmd.hooks import Guard

MOST_UNASKED: Final = 800
"""Abstracts of a cluster that are extracted without a confirmation (seed 004)."""

_ASKS = {
    "search_pubmed": ("ncbi",),
    "embed_text": ("embeddings",),
    "run_pico": ("ncbi", "model"),
    "prisma_check": ("model",),
    "find_existing_sr": ("ncbi",),
    "propose_alternative_pico": ("model",),
    "state_review": (),
    "decide_papers": (),
}
"""The servers of each tool."""
_NO_STEP = ("embed_text", "state_review", "decide_papers")
"""Tools that leave the status of a review as it is."""


def machine_time() -> datetime:
    """Return the time of this machine."""
    return datetime.now(tz=UTC)


class Litreview:
    """The plugin; tests pass their own environment, clock and pace."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], datetime] = machine_time,
        apart_s: float | None = None,
        pace: RateLimiter | None = None,
    ) -> None:
        """Create the plugin; `clock` has a time zone, `apart_s` spaces the requests to NCBI."""
        self._environ = environ
        self._clock = clock
        self._apart_s = apart_s
        # Shared by all snapshots, since their requests count together.
        self._pace = pace or RateLimiter()

    @hookimpl
    def toolmd_definitions(self) -> Iterable[Traversable]:
        """Return the folder of the tools."""
        return [files("toolmd_litreview") / "tools"]

    @hookimpl
    def toolmd_guards(self, spec: ToolSpec, settings: Settings) -> "Iterable[Guard]":
        """Return the guard that has a person confirm a large cluster before it is extracted."""
        return [self._large_cluster(settings)] if spec.name == "run_pico" else []

    def _large_cluster(self, settings: Settings) -> "Guard":
        def guard(call: Call, arguments: Mapping[str, Any]) -> Verdict | None:
            cluster = arguments.get("cluster_id")
            if not isinstance(cluster, str):
                return None
            library = Library(settings.state, self._clock)
            try:
                papers = len(library.papers(call.caller.user, cluster))
            finally:
                library.close()
            if papers <= MOST_UNASKED:
                return None
            message = f"The cluster has {papers} abstracts, more than {MOST_UNASKED}."
            return Verdict(Action.CONFIRM, "large_batch", message)

        return guard

    @hookimpl
    def toolmd_after_call(
        self, call: Call, spec: ToolSpec, result: Result, settings: Settings
    ) -> None:
        """Record in the goal state how far a review is, and which call failed."""
        if spec.name not in _ASKS or spec.name in _NO_STEP or result.outcome == "allowed":
            return
        if not (result.success or result.error):
            return
        library = Library(settings.state, self._clock)
        try:
            error = None if result.error is None else result.error.code
            library.goals(call.caller.user).advance(spec.name, error)
        finally:
            library.close()

    @hookimpl
    def toolmd_approved_origins(self, spec: ToolSpec) -> Iterable[str]:
        """Return the servers that the environment names for this tool."""
        configuration = read(self._environ)
        servers = {
            "ncbi": configuration.ncbi,
            "model": configuration.model,
            "embeddings": configuration.embeddings,
        }
        asked = (servers[name] for name in _ASKS.get(spec.name, ()))
        return [origin(server.url) for server in asked if server is not None]

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        """Register the resources of the tools; the first call reads the environment."""
        desk = _Desk(settings, self._clock, lambda: read(self._environ))

        def pubmed() -> PubMed:
            return PubMed(read(self._environ).ncbi, self._pace, self._apart_s)

        def model() -> Model:
            return Model(read(self._environ).model)

        registry.register_factory(Library, desk.library, on_registry_close=desk.close)
        registry.register_factory(Embedder, desk.embedder)
        registry.register_factory(PubMed, pubmed)
        registry.register_factory(Model, model)


class _Desk:
    """The shared objects of one snapshot: the file of candidates, and the vectors in memory."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], datetime],
        configuration: Callable[[], Configuration],
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._configuration = configuration
        self._lock = Lock()
        self._library: Library | None = None
        self._embedder: Embedder | None = None

    def library(self) -> Library:
        with self._lock:
            if self._library is None:
                self._library = Library(self._settings.state, self._clock)
            return self._library

    def embedder(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = Embedder(_source(self._configuration()))
            return self._embedder

    def close(self) -> None:
        with self._lock:
            if self._library is not None:
                self._library.close()
                self._library = None


def _source(configuration: Configuration) -> Source:
    if configuration.local == WORDS or not (configuration.local or configuration.embeddings):
        return WordSource()
    if configuration.local:
        return LocalSource(configuration.local)
    assert configuration.embeddings is not None
    return EndpointSource(configuration.embeddings, shorten=configuration.shorten)


plugin = Litreview()
