"""Register the tools, their default confidence, the words of danger and doubt, and the log."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING

from toolmd import Resources, Settings, ToolSpec, hookimpl
from toolmd_alara.guards import TOOLS, WORDS, adds_nothing, at_another_time, may_be_in_danger
from toolmd_alara.log import FILE, HealthLog, Zone

if TYPE_CHECKING:
    import typer

    from toolmd.hooks import Guard

DEFAULT_MIN = 0.7
"""Seed 001: "All tool calls require confidence of at least 0.7"; for tools without their own."""


class Alara:
    """The plugin; tests pass their own clock and zone."""

    def __init__(
        self,
        clock: Callable[[], datetime] = lambda: datetime.now(tz=UTC),
        zone: Zone | None = None,
    ) -> None:
        """Create the plugin.

        Args:
            clock: Returns the time with its zone.
            zone: The zone of users whose host names none; the default is this machine's.
        """
        self._clock = clock
        self._zone = zone
        folder = files("toolmd_alara") / "tools"
        paths = (path.name for path in folder.iterdir() if path.name.endswith(".tool.md"))
        self._names = {name.removesuffix(".tool.md").replace("-", "_") for name in paths}

    @hookimpl
    def toolmd_definitions(self) -> Iterable[Traversable]:
        """Return the folder of the tools."""
        return [files("toolmd_alara") / "tools"]

    @hookimpl
    def toolmd_default_min(self) -> float:
        """Return the confidence that tools without their own require."""
        return DEFAULT_MIN

    @hookimpl
    def toolmd_crisis_words(self) -> Iterable[str]:
        """Return the words that may signal a crisis."""
        words = WORDS["crisis"]
        yield from (f"{wish} {act}" for wish in words["wishes"] for act in words["acts"])
        yield from (f"{wish} {harm}" for wish in words["strong_wishes"] for harm in words["harms"])
        for language, phrases in words["phrases"].items():
            yield from (one if language == "en" else f"{language}: {one}" for one in phrases)

    @hookimpl
    def toolmd_doubt_words(self) -> Iterable[str]:
        """Return the words of doubt of the languages of the tools' Intent Keywords."""
        return [word for words in WORDS["doubt"].values() for word in words]

    @hookimpl
    def toolmd_guards(self, spec: ToolSpec) -> "Iterable[Guard]":
        """Return what asks where a person's words are unclear."""
        if spec.name not in self._names:
            return []
        found: list[Guard] = [] if spec.read_only else [may_be_in_danger]
        found += [adds_nothing] if spec.name in TOOLS else []
        return found + ([at_another_time] if spec.name == "log_medication" else [])

    @hookimpl
    def toolmd_commands(self, app: "typer.Typer") -> None:
        """Add `toolmd alara`."""
        from toolmd_alara.commands import commands

        app.add_typer(commands(self._clock, self._zone), name="alara")

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        """Register the health log; the first call that needs it creates its file."""
        registry.register_shared(
            HealthLog,
            lambda: HealthLog(settings.state / FILE, self._clock, self._zone),
            lambda log: log.close(),
        )


plugin = Alara()
