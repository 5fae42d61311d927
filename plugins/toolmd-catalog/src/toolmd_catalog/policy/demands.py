"""The policy of a catalogue, gathered from its sentences; the stricter of two stands."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

LEVELS = ("low", "medium", "high", "critical")


class Count(NamedTuple):
    """`Max 256 strings per call`: of what, and whether more of them are split."""

    most: int
    of: str
    splits: bool
    words: str


class Condition(NamedTuple):
    """`asks confirmation if batch > 800 abstracts`: what is compared, still in words."""

    sign: str
    than: int | float
    words: str


@dataclass(slots=True)
class Policy:
    """The policy that sentences set; the stricter of two stands."""

    safety: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    """Fields of the tool itself: read_only, requires_auth, …"""
    counts: list[Count] = field(default_factory=list)
    condition: Condition | None = None
    guesses: list[tuple[str, int]] = field(default_factory=list)
    intents: list[str] = field(default_factory=list)
    """The sentences that ask for an explicit word of the user."""

    def guess(self, text: str, line: int) -> None:
        """Write down what was guessed."""
        if (text, line) not in self.guesses:
            self.guesses.append((text, line))

    def restrict(self, key: str, line: int, *, value: Any) -> None:
        """Set a field of Safety; of two values the stricter one stands, with a note."""
        known = self.safety.get(key)
        if known is None or known == value:
            self.safety[key] = value
            return
        rank: Callable[[Any], Any] = LEVELS.index if key == "sensitivity" else float
        self.safety[key] = max(known, value, key=rank)
        words = key.replace("_", " ")
        noted = f"{words} is {known} in one place and {value} in another: {self.safety[key]}"
        self.guess(noted, line)

    def take(self, other: "Policy") -> None:
        """Fill what is open here with what holds for every tool."""
        for mine, theirs in (
            (self.safety, other.safety),
            (self.limits, other.limits),
            (self.facts, other.facts),
        ):
            for key, value in theirs.items():
                mine.setdefault(key, value)
        self.counts += other.counts
