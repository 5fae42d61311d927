"""Keep the settings of a running project to what they were: an edit may tighten them only."""

from dataclasses import replace
from typing import Any

from toolmd._load.edits.strictness import least
from toolmd._types.settings import SafetySettings, Settings


def hold_settings(old: Settings, new: Settings) -> tuple[Settings, tuple[str, ...]]:
    """Return the new settings with each dropped restriction restored, and their keys.

    A half-written file looks like one that drops the rest. A restart accepts the new settings.
    """
    if old.trust_edits:
        return new, ()
    kept: dict[str, Any] = {}
    for name, looser in _SAFETY.items():
        before, after = getattr(old.safety, name), getattr(new.safety, name)
        if looser(before, after):
            kept[name] = before
    words = new.safety.crisis_words
    if lost := [word for word in old.safety.crisis_words if word not in words]:
        kept["crisis_words"] = (*words, *lost)
    found = [f"safety.{name}" for name in kept]
    whole: dict[str, Any] = {"safety": replace(new.safety, **kept)} if kept else {}
    if old.audit and not new.audit:
        whole["audit"] = True
        found.append("audit")
    if new.trust_edits:
        whole["trust_edits"] = False
        found.append("trust_edits")
    return replace(new, **whole) if whole else new, tuple(found)


def _asks(old: str, new: str) -> bool:
    return old == "deny" and new == "confirm"


_SAFETY = {
    "default_min": least,
    "floor": least,
    "on_missing_confidence": _asks,
}
assert {*_SAFETY, "crisis_words"} == {*SafetySettings.__dataclass_fields__}
