"""Sentences on who may call: confidence, confirmation, intent, sensitivity, reading only."""

import re
from typing import Any

from toolmd_catalog.policy.demands import Condition, Policy
from toolmd_catalog.words import NUMBER, number

_N = rf"({NUMBER})"
_CONFIDENCE = re.compile(
    rf"\bconfidence\b(?P<between>[^0-9.]{{0,60}}){_N}\s*(?P<percent>%)?"
    rf"|(?P<sign>>=|≥|>|at least|minimum)\s*(?P<first>{NUMBER})\s*(?P<of>%)?\s*confidence\b",
    re.IGNORECASE,
)
_SIGN = re.compile(
    r"(?:[\s:=(|]|score|level|threshold|value|rating|of|at least|minimum|min|must|should|be|is|"
    r"above|over|greater|than|or|equal|to|exceeds?|below|under|less|>=|≥|=>|>|<|required|\*)*",
    re.IGNORECASE,
)
_NO = re.compile(
    r"\b(?:no|without|not requir\w*|n't requir\w*|not need\w*|n't need\w*|never asks?)\b"
    r"(?: (?:user|any|explicit|further|for))*\s+confirm|"
    r"\bconfirm\w*\s*(?:is |:\s*)?(?:not (?:needed|required)|no\b|none|never|false|unnecessary)",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\b(?:requires?|needs?|must|always|asks?|obtain|get|wait for|only after|until|seek|with)\b"
    r"[^.;]{0,50}\bconfirm|\bconfirm\w*\s*(?:is |:\s*)?(?:yes|required|needed|always|true|"
    r"mandatory)|\bconfirm\w* (?:with|by) (?:the )?user|\bconfirm (?:details )?before|"
    r"\brequires? (?:user |human |explicit )?(?:approval|consent)",
    re.IGNORECASE,
)
_CONDITIONAL = re.compile(
    r"confirm\w*[^.;]*?\b(?:if|when|unless|for|above|over)\b(?P<when>.*)", re.IGNORECASE
)
_COMPARISON = re.compile(
    rf"(?P<words>[^.<>≥≤]*?)(?P<sign>>=|≥|<=|≤|>|<|more than|over|above|exceeds?|greater than|"
    rf"at least|fewer than|less than|below|under)\s*{_N}(?P<tail>.*)",
    re.IGNORECASE,
)
_WORDED = {
    "≥": ">=",
    "≤": "<=",
    "at least": ">=",
    "fewer than": "<",
    "less than": "<",
    "below": "<",
    "under": "<",
}
_EXPLICIT = re.compile(
    r"\bmust (?:be )?explicit|\bexplicit (?:user )?(?:intent|request|consent)(?: is)? (?:required|"
    r"needed)|\brequires? (?:an )?explicit (?:user )?(?:intent|request)|\bexplicit intent"
    r"(?: required)?\s*:\s*(?:yes|true|required)|\b(?:only|when|if)\b[^.]*\bexplicitly "
    r"(?:ask|request|mention|say|want|tell|state)",
    re.IGNORECASE,
)
_IMPLICIT = re.compile(
    r"\bno explicit (?:user )?(?:intent|request)|\bexplicit intent(?: required)?"
    r"(?: is)?\s*:?\s*(?:not (?:required|needed)|no\b|false)",
    re.IGNORECASE,
)
_SENSITIVITY = re.compile(
    r"\bsensitivity\b(?: level)?\s*(?:is|:|=|\|)?\s*(low|medium|moderate|high|critical)|"
    r"\b(low|medium|moderate|high|critical)[- ]sensitivity\b",
    re.IGNORECASE,
)


def _confidence(policy: Policy, text: str, line: int) -> bool:
    match = _CONFIDENCE.search(text)
    if match is None:
        return False
    between = match["between"]
    if between is not None and not _SIGN.fullmatch(between):
        if not between.isascii():
            policy.guess(f"a sign that can't be read: {text!r}; Min Confidence is not set", line)
        return False
    value = float(number(match["first"] or match[2]))
    if match["percent"] or match["of"] or value > 1:
        value /= 100
    if not 0 <= value <= 1:
        return False
    policy.restrict("min_confidence", line, value=value)
    return True


def _confirmation(policy: Policy, text: str, line: int) -> bool:
    if _NO.search(text):
        policy.restrict("requires_confirmation", line, value=False)
        return True
    if not _YES.search(text):
        return False
    condition = _CONDITIONAL.search(text)
    compared = _COMPARISON.search(condition["when"]) if condition else None
    if compared is not None:
        sign = compared["sign"].lower()
        sign = _WORDED.get(sign, sign if sign in {">", ">=", "<", "<="} else ">")
        words = f"{compared['words']} {compared['tail']}".strip()
        policy.condition = Condition(sign, number(compared[3]), words)
        return True
    if condition and re.search(r"\b(?:if|when|unless)\b", text, re.IGNORECASE):
        policy.guess(f"a condition in words: {text!r}; it is asked for every call", line)
    policy.restrict("requires_confirmation", line, value=True)
    return True


def _intent(policy: Policy, text: str, line: int) -> bool:
    if _IMPLICIT.search(text):
        policy.restrict("explicit_intent", line, value=False)
        return True
    if not _EXPLICIT.search(text):
        return False
    policy.restrict("explicit_intent", line, value=True)
    policy.intents.append(text)
    return True


def _sensitivity(policy: Policy, text: str, line: int) -> bool:
    match = _SENSITIVITY.search(text)
    if match is None:
        return False
    level = (match[1] or match[2]).lower().replace("moderate", "medium")
    policy.restrict("sensitivity", line, value=level)
    return True


_FACTS: tuple[tuple[str, Any, re.Pattern[str]], ...] = (
    (
        "read_only",
        True,
        re.compile(r"(?<!not )\bread[- ]only\b(?!\s*:\s*(?:no|false))", re.IGNORECASE),
    ),
    (
        "idempotent",
        "yes",
        re.compile(r"(?<!not )(?<!non-)\bidempotent\b(?!\s*:\s*(?:no|false))", re.IGNORECASE),
    ),
    (
        "requires_auth",
        True,
        re.compile(
            r"\brequires? (?:user )?(?:auth\w*|login|log-in|a logged-in user)|"
            r"\buser must be (?:authenticated|logged in|signed in)|\bauth\w*(?: required)?\s*:\s*"
            r"(?:yes|true|required)",
            re.IGNORECASE,
        ),
    ),
    (
        "requires_context",
        ("patient",),
        re.compile(
            r"\bscoped to (?:a|one|the) (?:single )?patient|"
            r"\brequires? (?:a )?patient(?: context)?\b",
            re.IGNORECASE,
        ),
    ),
    (
        "unknown_parameters",
        "ignore",
        re.compile(
            r"\bunknown (?:param\w*|arg\w*|fields|keys)\s+(?:are|will be|get)\s+(?:silently )?"
            r"(?:ignored|dropped|discarded)",
            re.IGNORECASE,
        ),
    ),
)


def _facts(policy: Policy, text: str, _line: int) -> bool:
    found = False
    for key, value, pattern in _FACTS:
        if pattern.search(text):
            policy.facts.setdefault(key, value)
            found = True
    return found


READERS = (_confidence, _confirmation, _intent, _sensitivity, _facts)
