"""What is broken on purpose, the tests that must notice it, and what none can notice."""

import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGE = Path("framework", "toolmd")
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


GUARDS = {
    "judge": Guard(
        {
            "_call/judge/[ip]*.py": (
                "tests/call/judge",
                "tests/call/test_whole_rows.py",
                "tests/call/test_ladder.py",
                "tests/call/audit",
            ),
            "_model/verdict.py": ("tests/model/test_verdict.py", "tests/call/judge"),
        },
        ("tests/call",),
    ),
    "confirm": Guard(
        {
            "_call/confirm/*.py": ("tests/call/confirm", "tests/call/test_locked.py"),
            "_model/held.py": ("tests/call/confirm",),
            "_values/redact.py": ("tests/values/test_redacted.py", "tests/call/confirm"),
        },
        ("tests/call",),
    ),
    "limits": Guard(
        {
            "_call/limits/fleet.py": ("tests/durability/test_shared_rates.py",),
            "_call/limits/[dpst]*.py": ("tests/call/limits", "tests/call/test_locked.py"),
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
            "_bind/edits/loosening.py": tuple(
                f"tests/bind/edits/test_{name}.py"
                for name in ("held_shapes", "tightened", "loosening")
            ),
            "_bind/edits/strictness.py": ("tests/bind/edits/test_strictness.py",),
            "_bind/edits/settings.py": ("tests/bind/edits/test_held_settings.py",),
        },
        ("tests/bind/edits", "tests/watch"),
    ),
}
