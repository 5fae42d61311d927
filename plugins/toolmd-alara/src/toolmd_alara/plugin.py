"""Register the tools, their default confidence, and the health log."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING

from toolmd import Resources, Settings, ToolSpec, hookimpl
from toolmd_alara.guards import TOOLS, adds_nothing, at_another_time, may_be_in_danger
from toolmd_alara.log import HealthLog
from toolmd_alara.zone import Zone

if TYPE_CHECKING:
    import typer

    from toolmd.hooks import Guard

DEFAULT_MIN = 0.7
"""Seed 001: "All tool calls require confidence of at least 0.7"; for tools without their own."""
CRISIS_WORDS = (
    "suicide", "suicidal", "kill myself", "killing myself", "end my life", "take my own life",
    "end my own life", "want to die", "wanna die", "wish I were dead", "wish I was dead",
    "better off dead", "no reason to live", "don't want to live", "dont want to live",
    "want to hurt myself", "want to harm myself", "want to cut myself", "hurting myself",
    "harming myself", "self harm", "selfharm", "worthless, end it", "took an overdose",
    "can't go on like this", "cannot go on like this", "can't go on living",
)  # fmt: skip
"""Words of a user in danger; a hyphen or a comma between them does not matter.

They stop every call for an operator. Words that can be harmless, too, ask first: see `guards`.
"""
DOUBT_WORDS = (
    "nicht", "nie", "niemals", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "ohne",
    "weder", "nein", "statt", "anstatt", "vergiss", "vergessen", "wenn", "falls", "ob", "soll",
    "sollte", "vielleicht", "morgen", "mein mann", "meine frau",
    "no", "nunca", "jamás", "tampoco", "ni", "sin", "nadie", "nada", "en vez de", "olvida", "si",
    "debo", "debería", "quizás", "tal vez", "mañana", "mi marido", "mi esposa", "mi mujer",
    "pas", "jamais", "rien", "aucun", "aucune", "sans", "non", "au lieu", "oublie", "si", "dois-je",
    "devrais-je", "peut-être", "demain", "mon mari", "ma femme",
    "不", "没", "别", "勿", "未", "取消", "停止", "如果", "要是", "也许", "可能", "明天", "吗",
)  # fmt: skip
"""The words of doubt in German, Spanish, French and Chinese; the core has those of English."""
FILE = "alara.sqlite3"
"""The file of the health log in the project's state folder."""


def machine_time() -> datetime:
    """Return the time of this machine."""
    return datetime.now(tz=UTC)


class Alara:
    """The plugin; tests pass their own clock and zone."""

    def __init__(
        self, clock: Callable[[], datetime] = machine_time, zone: Zone | None = None
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
        return CRISIS_WORDS

    @hookimpl
    def toolmd_doubt_words(self) -> Iterable[str]:
        """Return the words of doubt of the languages of the tools' Intent Keywords."""
        return DOUBT_WORDS

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
        keeper = _Keeper(settings, self._clock, self._zone)
        registry.register_factory(HealthLog, keeper.open, on_registry_close=keeper.close)


class _Keeper:
    """Opens the one log of a snapshot on first use."""

    def __init__(
        self, settings: Settings, clock: Callable[[], datetime], zone: Zone | None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._zone = zone
        self._lock = Lock()
        self._log: HealthLog | None = None

    def open(self) -> HealthLog:
        with self._lock:
            if self._log is None:
                self._log = HealthLog(self._settings.state / FILE, self._clock, self._zone)
            return self._log

    def close(self) -> None:
        with self._lock:
            if self._log is not None:
                self._log.close()
                self._log = None


plugin = Alara()
