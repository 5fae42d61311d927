"""Keep the settings of a running project to what they were: an edit may tighten them only."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from toolmd._load.edits.weakening import least
from toolmd._types.settings import AuditSettings, SafetySettings, Settings


def hold_settings(old: Settings, new: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the new settings with each dropped restriction restored, and their keys.

    A half-written file looks like one that drops the rest. A restart accepts the new settings.
    """
    if old.trust_edits:
        return new, ()
    whole: dict[str, Any] = {}
    found: list[str] = []
    for table, fields in _LOOSER.items():
        before, after = getattr(old, table), getattr(new, table)
        kept = {
            name: getattr(before, name)
            for name, looser in fields.items()
            if looser(getattr(before, name), getattr(after, name))
        }
        if table == "safety" and (lost := _lost(before.crisis_words, after.crisis_words)):
            kept["crisis_words"] = (*after.crisis_words, *lost)
        if kept:
            whole[table] = replace(after, **kept)
            found += [f"{table}.{name}" for name in kept]
    if new.trust_edits:
        whole["trust_edits"] = False
        found.append("trust_edits")
    return replace(new, **whole) if whole else new, tuple(found)


def _lost(old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    return [word for word in old if word not in new]


def _asks(old: str, new: str) -> bool:
    return old == "deny" and new == "confirm"


def _deletes(old: float | None, new: float | None) -> bool:
    return new is not None and (old is None or new < old)


_LOOSER: Mapping[str, Mapping[str, Callable[[Any, Any], bool]]] = {
    "safety": {"default_min": least, "floor": least, "on_missing_confidence": _asks},
    "audit": {
        "enabled": lambda old, new: old and not new,
        "sync": lambda old, new: old == "batch" and new == "none",
        "keep_days": _deletes,
    },
}
"""For each setting that is a restriction, whether a new value drops it."""
assert {*_LOOSER["safety"], "crisis_words"} == {*SafetySettings.__dataclass_fields__}
assert {*_LOOSER["audit"]} == {*AuditSettings.__dataclass_fields__}
