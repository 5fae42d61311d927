"""The guarded files, the tests that must notice a change, and the excused changes."""

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
    "guards": Guard(
        {
            "_call/guards/[ip]*.py": (
                "tests/call/guards",
                "tests/call/test_problems_of_a_check.py",
                "tests/call/test_pipeline.py",
                "tests/workspace/test_added_language.py",
                "tests/call/audit",
            ),
            "_call/guards/stated.py": (
                "tests/call/guards",
                "tests/call/test_problems_of_a_check.py",
                "tests/workspace/test_added_language.py",
            ),
            "_types/verdict.py": ("tests/types/test_verdict.py", "tests/call/guards"),
        },
        ("tests/call",),
    ),
    "confirmation": Guard(
        {
            "_call/confirmation/*.py": ("tests/call/confirmation", "tests/call/test_locked.py"),
            "_store/confirmations.py": ("tests/store/test_parts.py", "tests/call/confirmation"),
            "_types/confirmation.py": ("tests/call/confirmation",),
            "_validation/redact.py": (
                "tests/validation/test_redacted.py",
                "tests/call/confirmation",
            ),
        },
        ("tests/call",),
    ),
    "audit": Guard(
        {
            "_call/audit/chain.py": ("tests/call/audit/test_chain.py", "tests/call/audit"),
            "_call/audit/reader.py": ("tests/call/audit/test_verify.py", "tests/call/audit"),
            "_store/records.py": ("tests/store/test_parts.py", "tests/call/audit"),
        },
        ("tests/cli/test_audit_verb.py", "tests/durability/test_audit_heads.py"),
    ),
    "limits": Guard(
        {
            "_store/limits.py": (
                "tests/store/test_parts.py",
                "tests/call/test_locked.py",
            ),
            "_call/limits/[drst]*.py": ("tests/call/limits", "tests/call/test_locked.py"),
            "_call/limits/counter.py": ("tests/call/limits",),
        },
        ("tests/call",),
    ),
    "hash": Guard(
        {
            f"_types/{name}.py": ("tests/types",)
            for name in ("definition", "canonical", "call_spec", "tool", "skill", "schema")
        },
        # The names and phrases of the keywords stand in the pages and in what a model reads.
        ("tests/docs/test_reference.py", "tests/export", "tests/call/limits"),
    ),
    "authentication": Guard(
        {
            f"_auth/{name}.py": ("tests/auth",)
            for name in ("authentication", "tokens", "sessions", "addresses", "headers")
        },
        ("tests/http", "tests/console"),
    ),
    "edits": Guard(
        {
            "_load/weakening.py": tuple(
                f"tests/load/edits/test_{name}.py"
                for name in (
                    "pending_settings",
                    "pending_shapes",
                    "strictness",
                    "tightened",
                    "weakening",
                )
            ),
        },
        ("tests/load/edits", "tests/watch"),
    ),
}
