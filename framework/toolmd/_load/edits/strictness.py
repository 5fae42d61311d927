"""Compare the old and new value of each restricting field, and find what allows more.

One table for each noun; a value of None, or an empty one, restricts nothing. Where two values
can't be compared, such as two patterns, the new one counts as looser.
"""

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from toolmd._types.call_spec import Batch, Rate
from toolmd._types.schema import KEYWORDS

Looser = Callable[[Any, Any], bool]
"""Reads the old value and the new one."""

SENSITIVITIES = (None, "low", "medium", "high", "critical")
IDEMPOTENCE = ("yes", "keyed", "no")
"""The stricter last: `no` is never tried again."""
UNKNOWN = ("ignore", "reject")
MISSING = ("confirm", None, "deny")
"""Where the file says nothing the project does."""


def least(old: Any, new: Any) -> bool:
    """Compare lower bounds."""
    return old is not None and (new is None or new < old)


def most(old: Any, new: Any) -> bool:
    """Compare upper bounds."""
    return old is not None and (new is None or new > old)


def demand(old: Any, new: Any) -> bool:
    """Compare flags that demand something when true."""
    return bool(old) and not new


def needs(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare names that are all required: more are stricter."""
    return not set(old) <= set(new)


def claim(old: Any, new: Any) -> bool:
    """Compare flags that lift a restriction when true."""
    return bool(new) and not old


def unlike(old: Any, new: Any) -> bool:
    """Compare values that have no order: they are equal or not."""
    return old not in (None, {}) and new != old


def ranked(ranks: tuple[Any, ...]) -> Looser:
    """Compare words by their rank, the strictest last."""
    return lambda old, new: ranks.index(new) < ranks.index(old)


def choices(old: Any, new: Any) -> bool:
    """Compare JSON values to choose from: fewer are stricter, none at all are no restriction."""
    return bool(old) and (not new or not set(map(_text, new)) <= set(map(_text, old)))


def words(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare words of which one must be said, in any case."""
    return bool(old) and (not new or not set(map(str.casefold, new)) <= set(map(str.casefold, old)))


def types(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare types; every integer is a number."""
    known = {*old, "integer"} if "number" in old else {*old}
    return bool(old) and (not new or not known.issuperset(new))


def domains(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Compare hosts; `*.suffix` stands for every host below it."""
    return bool(old) and (not new or not all(any(_within(n, o) for o in old) for n in new))


def rate(old: Rate | None, new: Rate | None) -> bool:
    """Compare rates; as strict is only what allows no more starts in no shorter window."""
    return old is not None and (new is None or new.calls > old.calls or new.per_s < old.per_s)


def batch(old: Batch | None, new: Batch | None) -> bool:
    """Compare batches of the same parameter."""
    return old is not None and (
        new is None or new.parameter != old.parameter or new.size > old.size
    )


_THRESHOLD = re.compile(r"([\w.]+) *(<=?|>=?) *(-?\d+(?:\.\d+)?)")


def condition(old: str | None, new: str | None) -> bool:
    """Compare conditions: as strict is only what surely holds wherever the old one held."""
    if old is None:
        return False
    found = [] if new is None else alternatives(new)
    return not all(any(_follows(one, other) for other in found) for one in alternatives(old))


def alternatives(expression: str) -> list[str]:
    """Return the parts of `a || b`, without their parentheses; the whole where in doubt."""
    parts, depth, begin, quote, at = [], 0, 0, "", 0
    if "?" in expression or "\\" in expression or "//" in expression:
        return [expression.strip()]
    while at < len(expression):
        sign = expression[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif not depth and expression.startswith("||", at):
            parts.append(expression[begin:at])
            at += 1
            begin = at + 1
        at += 1
    parts.append(expression[begin:])
    if len(parts) > 1:
        return [one for part in parts for one in alternatives(part)]
    whole = expression.strip()
    return alternatives(whole[1:-1]) if _is_wrapped(whole) else [whole]


def as_written(live: str, new: str | None) -> str:
    """Return a live condition without what `either` added to it of the edit that waits."""
    added = alternatives(new) if new is not None else []
    written = " || ".join(part for part in alternatives(live) if part not in added)
    return written if new is not None and written and either(written, new) == live else live


def either(old: str, new: str) -> str:
    """Return the condition that holds where one of the two does; `true` where they are many."""
    parts = list(dict.fromkeys((*alternatives(old), *alternatives(new))))
    if "true" in parts or len(parts) > _MOST:
        return "true"
    return " || ".join(f"({part})" for part in parts)


_MOST = 8
"""The most alternatives of a condition whose edits wait; with more it always holds."""


def _is_wrapped(text: str) -> bool:
    """Return whether one pair of parentheses encloses all of a text without quotes."""
    if not text.startswith("(") or not text.endswith(")") or "'" in text or '"' in text:
        return False
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return at == len(text) - 1
    return False


def _follows(old: str, new: str) -> bool:
    """Return whether the new condition surely holds where the old one does."""
    before, after = _THRESHOLD.fullmatch(old), _THRESHOLD.fullmatch(new)
    if old == new or before is None or after is None:
        return old == new
    if before[1] != after[1] or before[2][0] != after[2][0]:
        return False
    was, now = Decimal(before[3]), Decimal(after[3])
    if was == now:
        return len(after[2]) >= len(before[2])
    return now < was if after[2][0] == ">" else now > was


SAFETY: Mapping[str, Looser] = {
    "min_confidence": least,
    "on_missing_confidence": ranked(MISSING),
    "requires_confirmation": demand,
    "confirm_when": condition,
    "sensitivity": ranked(SENSITIVITIES),
    "explicit_intent": demand,
    "intent_keywords": words,
    "escalate_when": condition,
}
LIMITS: Mapping[str, Looser] = {
    "timeout_s": most,
    "retries": most,
    "backoff_s": least,
    "rate": rate,
    "max_rows": most,
    "max_bytes": most,
    "max_batch": batch,
    "max_calls": most,
    "max_concurrent": most,
    "allowed_domains": domains,
}
METADATA: Mapping[str, Looser] = {
    "requires_auth": demand,
    "requires_context": needs,
    "read_only": claim,
    "idempotent": ranked(IDEMPOTENCE),
    "unknown_parameters": ranked(UNKNOWN),
}
_COMPARED = {"least": least, "most": most, "demand": demand, "unlike": unlike}
SCHEMA: Mapping[str, Looser] = {
    "types": types,
    "enum": choices,
    **{name: _COMPARED[row.compared] for name, row in KEYWORDS.items() if row.compared},
}
"""What lies within a value (items, properties, values) is compared field by field."""
RESULT: Mapping[str, Looser] = {"sensitive": demand}
"""A result restricts nobody, but for what must not be recorded."""
SKILL: Mapping[str, Looser] = {
    "durable": demand,
    "context": unlike,
    "model_invocation": claim,
    "user_invocable": claim,
    "allowed_tools": choices,
    "disallowed_tools": needs,
}


def _within(host: str, allowed: str) -> bool:
    host, allowed = host.casefold(), allowed.casefold()
    return host == allowed or (allowed.startswith("*.") and host.endswith(allowed[1:]))


def _text(value: Any) -> str:
    # As JSON, where true is not 1.
    return json.dumps(value, sort_keys=True)
