"""An edit that weakens a policy, pending until it is accepted."""

import json
from typing import Any, Literal, NamedTuple


class Weakening(NamedTuple):
    """One restriction that an edit drops, widens, or changes beyond comparing."""

    place: str
    """The field, as the file names it: `Safety: Min Confidence`, `Parameters: dose: Maximum`."""
    before: Any
    """The value that stays in force, as JSON; None where there was none."""
    after: Any
    """The value in the file, as JSON; None where the file has none."""

    @property
    def diff(self) -> str:
        """Two lines: what stays live, and what the file says."""
        return f"- {self.place}: {_shown(self.before)}\n+ {self.place}: {_shown(self.after)}"

    def __str__(self) -> str:
        return f"{self.place}: {_shown(self.before)} → {_shown(self.after)}"


class PendingChange(NamedTuple):
    """The weakened policy of a file, while the stricter policy stays in force."""

    name: str
    """The name of the tool or skill."""
    kind: Literal["tool", "skill"]
    """`tool` or `skill`."""
    path: str
    """The path of its file, below the project."""
    line: int
    """The line of the definition's title in the file."""
    weakened: tuple[Weakening, ...]
    """Each restriction that the edit drops or widens."""

    @property
    def diff(self) -> str:
        """The difference of the policies: `-` is live, `+` is what the file says."""
        return "\n".join(weakening.diff for weakening in self.weakened)

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON (json.md, "A policy change")."""
        return {
            "name": self.name,
            "kind": self.kind,
            "path": self.path,
            "line": self.line,
            "weakened": [weakening._asdict() for weakening in self.weakened],
            "diff": self.diff,
        }


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
