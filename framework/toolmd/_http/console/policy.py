"""Describe in words the requirements of each check of a tool's calls."""

from toolmd._call.checks import on_missing, threshold
from toolmd._types.call_spec import Limits
from toolmd._types.registry import BoundTool
from toolmd._types.settings import SafetySettings, Settings
from toolmd._types.tool import ToolSpec


def demands(bound: BoundTool, settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the requirements by the check's name; checks without any are left out."""
    spec, safety = bound.spec, settings.safety
    found = {
        "context": _caller(spec),
        "arguments": _arguments(spec),
        "confidence": _confidence(bound, safety),
        "intent": _intent(spec),
        "review": _escalation(spec, safety),
        "confirmation": _confirmation(spec),
        "limits": _limits(spec.limits),
        "run": _running(spec),
    }
    return {name: tuple(words) for name, words in found.items() if words}


def _caller(spec: ToolSpec) -> list[str]:
    words = ["a signed-in user"] if spec.requires_auth else []
    return [*words, *(f"the {fact}, supplied by the host" for fact in spec.requires_context)]


def _arguments(spec: ToolSpec) -> list[str]:
    if not spec.parameters:
        return [
            "no arguments" if spec.unknown_parameters == "reject" else "none; others are ignored"
        ]
    needed = sum(p.required for p in spec.parameters)
    words = [f"{_counted(len(spec.parameters), 'parameter')}, {needed or 'none'} required"]
    if spec.unknown_parameters == "ignore":
        words.append("unknown ones are ignored")
    return [*words, *(rule.message for rule in spec.rules)]


def _confidence(bound: BoundTool, safety: SafetySettings) -> list[str]:
    least = threshold(bound.spec, bound.default_min, safety)
    if least is None:
        return []
    words = [f"a confidence of at least {least:g}"]
    if on_missing(bound.spec, safety) == "confirm":
        words.append("without one, a person is asked")
    return words


def _intent(spec: ToolSpec) -> list[str]:
    words = []
    if spec.safety.explicit_intent:
        words.append(f"the user says {_either(spec.safety.intent_keywords)}")
    verbatim = [p.name for p in spec.parameters if p.shape.verbatim]
    if verbatim:
        words.append(f"{', '.join(verbatim)} in the user's own words")
    return words


def _escalation(spec: ToolSpec, safety: SafetySettings) -> list[str]:
    words = ["no crisis words"] if safety.crisis_words else []
    when = spec.safety.escalate_when
    return [*words, f"a person reviews it when {when}"] if when is not None else words


def _confirmation(spec: ToolSpec) -> list[str]:
    own = spec.safety
    if own.sensitivity == "critical":
        return ["a person confirms every call, and every edit of one"]
    if own.requires_confirmation:
        return ["a person confirms every call"]
    return [f"a person confirms when {own.confirm_when}"] if own.confirm_when is not None else []


def _limits(limits: Limits) -> list[str]:
    words = []
    if limits.rate is not None:
        words.append(f"{_counted(limits.rate.calls, 'call')} in {limits.rate.per_s:g} s")
    if limits.max_concurrent is not None:
        words.append(f"{limits.max_concurrent} at once")
    if limits.max_calls is not None:
        words.append(f"{_counted(limits.max_calls, 'call')} in a conversation")
    if limits.allowed_domains:
        words.append(f"reaches only {', '.join(limits.allowed_domains)}")
    return words


def _running(spec: ToolSpec) -> list[str]:
    limits = spec.limits
    words = [f"within {limits.timeout_s:g} s"] if limits.timeout_s is not None else []
    if limits.retries:
        words.append(f"{_counted(limits.retries, 'retry', 'retries')} after a broken connection")
    if limits.max_rows is not None:
        words.append(f"at most {limits.max_rows} rows")
    if limits.max_bytes is not None:
        words.append(f"at most {limits.max_bytes} bytes")
    if limits.max_batch is not None:
        words.append(f"{limits.max_batch.parameter} in pieces of {limits.max_batch.size}")
    return words


def chips(bound: BoundTool, settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return a policy as short labels with their tones, for a list."""
    spec = bound.spec
    own = spec.safety
    least = threshold(spec, bound.default_min, settings.safety)
    found = [
        (own.sensitivity == "critical", "critical", "danger"),
        (own.requires_confirmation and own.sensitivity != "critical", "confirmed", "guard"),
        (own.confirm_when is not None, "confirmed when…", "guard"),
        (own.escalate_when is not None, "reviewed when…", "guard"),
        (least is not None, f"confidence ≥ {least or 0:g}", "guard"),
        (own.explicit_intent, "explicit intent", "guard"),
        (spec.requires_auth, "user", "plain"),
        *((True, fact, "plain") for fact in spec.requires_context),
        (spec.limits.rate is not None, "rate", "plain"),
        (spec.read_only, "read only", "calm"),
    ]
    return tuple((word, tone) for holds, word, tone in found if holds)


def _either(words: tuple[str, ...]) -> str:
    quoted = [f"“{word}”" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def _counted(number: int, thing: str, things: str = "") -> str:
    return f"{number} {thing if number == 1 else things or thing + 's'}"
