"""An edit that drops restrictions, held until somebody acknowledges it."""

import json
from typing import Any, Literal, NamedTuple


class Weakening(NamedTuple):
    """One restriction that an edit drops, widens, or changes beyond comparing."""

    place: str
    """As the author knows it: `Safety: Min Confidence`, `Parameters: dose: Maximum`."""
    before: Any
    """The value that stays live, as JSON; None where there was none."""
    after: Any
    """The value that the file gives, as JSON; None where it gives none."""

    @property
    def diff(self) -> str:
        """Two lines: what stays live, and what the file says."""
        return f"- {self.place}: {_shown(self.before)}\n+ {self.place}: {_shown(self.after)}"

    def __str__(self) -> str:
        return f"{self.place}: {_shown(self.before)} → {_shown(self.after)}"


class PendingChange(NamedTuple):
    """What a definition's file loosened, while the stricter policy stays live."""

    name: str
    """Of the tool or skill."""
    kind: Literal["tool", "skill"]
    """Which of the two."""
    path: str
    """Of its file, below the project."""
    line: int
    """The line of the definition's title in the file."""
    weakened: tuple[Weakening, ...]
    """Each restriction that it drops or widens."""

    @property
    def diff(self) -> str:
        """The difference of the policies: `-` is live, `+` is what the file says."""
        return "\n".join(weakening.diff for weakening in self.weakened)

    def to_dict(self) -> dict[str, Any]:
        """Give its JSON (json.md, "A held edit")."""
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
