"""A policy change that weakens; it is pending until `toolmd accept`."""

import json
from typing import Any, Literal, NamedTuple

from toolmd._types.call_spec import Batch, Rate, seconds

_MOST_SAME = 12
"""The most equal values of two lists that are shown."""


class Weakening(NamedTuple):
    """One restriction that an edit drops or widens, or changes in a way that can't be compared."""

    place: str
    """The field as the file names it: `Safety: Min Confidence`, `Parameters: dose: Maximum`."""
    before: Any
    """The live value, as JSON; None if the field was absent."""
    after: Any
    """The value in the file, as JSON; None if the field is absent."""

    @property
    def diff(self) -> str:
        """Two lines: the live value, and the value in the file."""
        before, after = self._texts
        return f"- {self.place}: {before}\n+ {self.place}: {after}"

    def __str__(self) -> str:
        return f"{self.place}: {' → '.join(self._texts)}"

    @property
    def _texts(self) -> tuple[str, str]:
        """The two values; of long lists only what differs, and how many are the same."""
        before, after = self.before, self.after
        if isinstance(before, list) and isinstance(after, list):
            same = [item for item in before if item in after]
            if len(same) > _MOST_SAME:
                sides = (self._shown([item for item in side if item not in same])
                        for side in (before, after))  # fmt: skip
                old, new = (f"{len(same)} values{f', {text}' if text else ''}" for text in sides)
                return old, new
        return self._shown(before), self._shown(after)

    @property
    def gone(self) -> str:
        """The restriction that is no longer there, in words."""
        return f"{self.place}: {self._shown(self.before)} is gone"

    def _shown(self, value: Any) -> str:
        """Return a value as a file has it."""
        match value, self.place.rpartition(": ")[2]:
            case None, _:
                return "none"
            case {"calls": calls, "per_s": per_s}, "Rate":
                return str(Rate(calls, per_s))
            case {"parameter": parameter, "size": size}, "Max Batch":
                return str(Batch(parameter, size))
            case int() | float(), "Timeout" | "Backoff":
                return seconds(value)
            case list(), _ if all(isinstance(item, str) for item in value):
                return ", ".join(value)
            case str(), _:
                return value
            case _:
                return json.dumps(value, ensure_ascii=False)


class ChangeKey(NamedTuple):
    """An edit of one definition over one live policy: what an acceptance applies to."""

    name: str
    """The name of the tool or skill."""
    live: str
    """Hex sha256 of the policy that stays live until then."""
    edit: str
    """Hex sha256 of the edited file."""


class StoredChange(NamedTuple):
    """A policy change in the store."""

    key: ChangeKey
    """The edit."""
    number: int
    """Its number among the changes of its name: an acceptance is taken once, in their order."""
    accepted: bool
    """Whether a person accepted it."""
    spec: bytes
    """The policy that stays live until then, as JSON."""


class PendingChange(NamedTuple):
    """An edit of a file that weakens its policy; the stricter policy stays live."""

    name: str
    """The name of the tool or skill."""
    kind: Literal["tool", "skill"]
    """The kind of the definition."""
    path: str
    """The path of its file, relative to the project."""
    line: int
    """The line of the definition's title in the file."""
    weakened: tuple[Weakening, ...]
    """Each restriction that the edit drops or widens."""

    @property
    def diff(self) -> str:
        """The difference of the policies: `-` is live, `+` is in the file."""
        return "\n".join(weakening.diff for weakening in self.weakened)

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md)."""
        return {
            "name": self.name,
            "kind": self.kind,
            "path": self.path,
            "line": self.line,
            "weakened": [weakening._asdict() for weakening in self.weakened],
            "diff": self.diff,
        }
