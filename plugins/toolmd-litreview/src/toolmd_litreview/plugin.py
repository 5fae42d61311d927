"""Register the tools, and provide PubMed, a model and the table of candidates."""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any, Final

from toolmd import Action, Call, Resources, Result, Settings, ToolSpec, Verdict, hookimpl
from toolmd_litreview.asking import Model
from toolmd_litreview.configuration import origin, read
from toolmd_litreview.embedding import Embedder
from toolmd_litreview.library import Library
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


class Litreview:
    """The plugin; tests pass their own environment, clock and pace."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], datetime] = lambda: datetime.now(tz=UTC),
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
            with closing(Library(settings.state, self._clock)) as library:
                papers = len(library.papers(call.caller.user, cluster))
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
        error = None if result.error is None else result.error.code
        with closing(Library(settings.state, self._clock)) as library:
            library.goals(call.caller.user).advance(spec.name, error)

    @hookimpl
    def toolmd_approved_origins(self, spec: ToolSpec) -> Iterable[str]:
        """Return the servers that the environment names for this tool."""
        configuration = read(self._environ)
        asked = (getattr(configuration, name) for name in _ASKS.get(spec.name, ()))
        return [origin(server.url) for server in asked if server is not None]

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        """Register the resources of the tools; the first call reads the environment."""
        registry.register_shared(
            Library, lambda: Library(settings.state, self._clock), lambda library: library.close()
        )
        # Its vectors stay in memory until the snapshot ends.
        registry.register_shared(
            Embedder, lambda: Embedder(read(self._environ).embeddings), Embedder.forget
        )
        registry.register_factory(
            PubMed, lambda: PubMed(read(self._environ).ncbi, self._pace, self._apart_s)
        )
        registry.register_factory(Model, lambda: Model(read(self._environ).model))


plugin = Litreview()
