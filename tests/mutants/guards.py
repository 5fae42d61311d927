"""What is broken on purpose, the tests that must notice it, and what none can notice."""

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = Path("framework", "toolmark")
REASONS: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("survivors.toml").read_text("utf-8")
)
"""Why no test notices a change, by its file and its words."""


class Guard(NamedTuple):
    """A guard's files, below the package, each with the tests that are likely to notice."""

    files: dict[str, tuple[str, ...]]
    """By glob; the likeliest test first."""
    broader: tuple[str, ...] = ()
    """The tests that are asked where none of those noticed."""


def _of_call(words: str) -> tuple[str, ...]:
    """Give tests of calls by the ends of their names, in whichever room they stand."""
    rooms = {
        file.name: file.relative_to(ROOT).as_posix()
        for file in (ROOT / "tests/call").rglob("test_*.py")
    }
    return tuple(rooms[f"test_{word}.py"] for word in words.split())


def _of_edits(words: str) -> tuple[str, ...]:
    return tuple(f"tests/bind/edits/test_{word}.py" for word in words.split())


_OF_HOLDS = _of_call(
    "approvals_bind held_calls broken_holds holds_of_runs audit who_redeems locked"
)
GUARDS = {
    "judge": Guard(
        {
            "_call/judge/intent.py": _of_call("said_words policy"),
            "_call/judge/p*.py": _of_call("verbatim policy strictest audit broken_gates ladder"),
            "_model/verdict.py": ("tests/model/test_verdict.py", *_of_call("policy")),
        },
        ("tests/call",),
    ),
    "confirm": Guard(
        {
            "_call/confirm/prompt.py": _of_call("prompts"),
            "_call/confirm/[dh]*.py": _OF_HOLDS,
            "_model/held.py": _OF_HOLDS,
            "_call/redact.py": _of_call("redacted held_calls audit"),
        },
        ("tests/call",),
    ),
    "limits": Guard(
        {
            "_call/limits/deadline.py": _of_call("deadlines"),
            "_call/limits/fleet.py": ("tests/durability/test_shared_rates.py",),
            "_call/limits/p*.py": _of_call("places counts rates shared_starts"),
            "_call/limits/[st]*.py": _of_call("places counts shared_starts rates"),
        },
        ("tests/call",),
    ),
    "hash": Guard(
        {
            f"_model/{name}.py": ("tests/model",)
            for name in ("definition", "canonical", "contract", "tool", "skill", "schema")
        },
    ),
    "gate": Guard(
        {
            f"_gate/{name}.py": ("tests/gate",)
            for name in ("gate", "tokens", "sessions", "addresses", "headers")
        },
        ("tests/http", "tests/console"),
    ),
    "edits": Guard(
        {
            "_bind/edits/loosening.py": _of_edits("held_shapes tightened loosening"),
            "_bind/edits/strictness.py": _of_edits("strictness loosening"),
            "_bind/edits/settings.py": _of_edits("held_settings"),
            "_bind/edits/keeping.py": ("tests/watch/test_held_edits.py", "tests/watch"),
        },
        ("tests/watch",),
    ),
}
