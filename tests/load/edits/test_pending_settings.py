"""The settings of a running project: what an edit drops stays, what it adds is live."""

from pathlib import Path
from typing import Any

import pytest

from toolmd._load.weakening import hold_settings
from toolmd._types.settings import AuditSettings, SafetySettings, Settings

OFF = {"enabled": False}


def made(*, audit: Any = None, trust_edits: bool = False, **safety: Any) -> Settings:
    kept = AuditSettings(**(audit or {}))
    held = SafetySettings(**safety)
    return Settings(root=Path("project"), audit=kept, trust_edits=trust_edits, safety=held)


@pytest.mark.parametrize(
    ("old", "new", "live", "keys"),
    [
        ({"floor": 0.5}, {"floor": 0.4}, {"floor": 0.5}, ("safety.floor",)),
        ({"floor": 0.5}, {}, {"floor": 0.5}, ("safety.floor",)),
        ({"default_min": 0.5}, {"floor": 0.1}, {"default_min": 0.5, "floor": 0.1},
         ("safety.default_min",)),
        ({"crisis_words": ("a", "b")}, {"crisis_words": ("c", "b")},
         {"crisis_words": ("c", "b", "a")}, ("safety.crisis_words",)),
        ({"on_missing_confidence": "deny"}, {"on_missing_confidence": "confirm"}, {},
         ("safety.on_missing_confidence",)),
        ({}, {"audit": OFF}, {}, ("audit.enabled",)),
        ({"audit": {"sync": "batch"}}, {}, {"audit": {"sync": "batch"}}, ("audit.sync",)),
        ({}, {"audit": {"keep_days": 9}}, {}, ("audit.keep_days",)),
        ({"audit": {"keep_days": 9}}, {"audit": {"keep_days": 8}}, {"audit": {"keep_days": 9}},
         ("audit.keep_days",)),
        ({"trust_edits": False}, {"trust_edits": True}, {}, ("trust_edits",)),
        ({"floor": 0.5}, {"trust_edits": True, "audit": OFF},
         {"floor": 0.5}, ("safety.floor", "audit.enabled", "trust_edits")),
    ],
)  # fmt: skip
def test_a_dropped_setting_stays_in_force_and_is_named(old, new, live, keys) -> None:
    assert hold_settings(made(**old), made(**new)) == (made(**live), keys)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"floor": 0.5}, {"floor": 0.6}),
        ({"crisis_words": ("a",)}, {"crisis_words": ("b", "a")}),
        ({"on_missing_confidence": "confirm"}, {"on_missing_confidence": "deny"}),
        ({"on_missing_confidence": "confirm"}, {"on_missing_confidence": "confirm"}),
        ({"audit": OFF}, {}),
        ({"audit": OFF}, {"audit": OFF}),
        ({}, {"audit": {"sync": "batch"}}),
        ({"audit": {"keep_days": 8}}, {"audit": {"keep_days": 9}}),
        ({"audit": {"keep_days": 8}}, {}),
        # Who trusts edits trusts those of the settings, too.
        ({"trust_edits": True, "floor": 0.5}, {"audit": OFF}),
    ],
)
def test_settings_that_weaken_nothing_are_applied_unchanged(old, new) -> None:
    after = made(**new)

    live, keys = hold_settings(made(**old), after)

    assert (live is after, keys) == (True, ())
