"""Warn where a description states a policy that no field enforces (seed 003).

The five policies below are all that prose is searched for; every other sentence is prose.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from toolmd._parse.outline import source_lines
from toolmd._parse.page import Mark, Page
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.tool import ToolSpec

_SIGNS = ".,:;!?()[]{}*_`'\"—–-"  # noqa: RUF001 - the dashes that people write
_CONDITION = (
    "only must after before until unless requires require required first once always never "
    "need needs without should"
)
_CONFIRMATION = "Requires Confirmation: true"
_ASIDE = re.compile(
    r"\b(?:that|which|who) (?:(?:the|a|an) \w+ )?(?:still )?(?:needs?|requires?|must)"
    r"(?: (?:be )?\w+)?|\b(?:that|which) (?:is|are) (?:still )?(?:without|required)\b(?: \w+)?|"
    r"\bwhose \w+ (?:is|are) required|\bwhether .*?(?=,|$| and )|^once confirmed\b",
    re.IGNORECASE,
)
"""What describes a thing or a result: `the orders that need approval`."""
_READING = frozenset(
    "returns lists gives shows finds reads counts gets fetches searches tells contains".split()
)
_STRICT = frozenset("only unless until requires require needs without".split())
"""Words with which a sentence that begins with a reading verb restricts its calls."""
_FENCED = re.compile(r"^[ ]*(`{3,}|~{3,}).*?^[ ]*\1[`~]*[ ]*$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+|>#]|\d+[.)])\s)")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_BULLET = re.compile(r"(?:[-*+|>#]+|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_SHOWN = 60


class _Policy(NamedTuple):
    """Words that state a policy together, and the field that would enforce it."""

    words: str
    with_any_of: str
    what: str
    field: str
    leading: bool = False
    """Whether the other word must come first: `is confirmed only after payment` asks nobody."""


_POLICIES = (
    _Policy(
        "confirms confirmed confirming agrees agreed consents approves approved",
        _CONDITION, "asks for a person's confirmation", _CONFIRMATION, leading=True,
    ),
    _Policy(
        "confirm confirmation consent approval permission",
        "requires require required must without ask needs need only with",
        "asks for a person's confirmation", _CONFIRMATION,
    ),
    _Policy(
        "explicitly", "asks ask asked mentions mention mentioned requests user users",
        "asks for the user's explicit intent", "Explicit Intent: true",
    ),
    _Policy(
        "confidence confident", f"{_CONDITION} above below least threshold",
        "asks for confidence", "Min Confidence: 0.8",
    ),
    _Policy(
        "authenticated authentication login", _CONDITION,
        "asks for a signed-in user", "Requires Auth: true",
    ),
)  # fmt: skip


def lint_tool(spec: ToolSpec, text: str) -> tuple[Diagnostic, ...]:
    """Warn once for each policy that the description states and no field enforces."""
    page = Page(spec.source.path, source_lines(text))
    reported: set[str] = set()
    for prose in (spec.description, spec.notes, spec.when_to_use):
        for sentence in sentences(prose):
            for policy in find_policies(sentence):
                if policy.field not in reported and not is_enforced(policy, spec):
                    reported.add(policy.field)
                    _report(page, sentence, policy)
    return tuple(sorted(page.diagnostics, key=lambda found: found.span.line))


def _report(page: Page, sentence: str, policy: _Policy) -> None:
    section = "Metadata" if policy.field.startswith("Requires Auth") else "Safety"
    name, _, value = policy.field.partition(": ")
    short = sentence.rstrip(".;")
    short = short if len(short) <= _SHOWN else short[: _SHOWN - 1] + "…"
    what = f"'{short}' {policy.what}, but no field enforces it"
    help_ = f"add `- **{name}**: {value}` under `## {section}`, or reword it"
    page.warn(Code.PROSE_POLICY, _place(page, sentence), what, help_)


def find_policies(sentence: str) -> list[_Policy]:
    """Return the policies that a sentence states."""
    words = [word.strip(_SIGNS) for word in _ASIDE.sub(" ", sentence).lower().split()]
    if words and words[0] in _READING and _STRICT.isdisjoint(words):
        return []
    found = []
    for policy in _POLICIES:
        places = [at for at, word in enumerate(words) if word in policy.words.split()]
        others = words[: places[-1]] if places and policy.leading else words
        if places and not set(policy.with_any_of.split()).isdisjoint(others):
            found.append(policy)
    return found


def is_enforced(policy: _Policy, spec: ToolSpec) -> bool:
    """Return whether a field of the tool enforces a policy."""
    safety = spec.safety
    asks = safety.requires_confirmation is not None or safety.confirm_when
    return {
        "Requires Confirmation": bool(asks or safety.sensitivity == "critical"),
        "Explicit Intent": safety.explicit_intent is not None,
        "Min Confidence": safety.min_confidence is not None,
        "Requires Auth": spec.requires_auth,
    }[policy.field.partition(":")[0]]


def sentences(prose: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, bullets and rows; code fences are skipped."""
    for block in _BLOCK.split(_FENCED.sub("\n\n", prose)):
        line = _BULLET.sub("", " ".join(block.split()), count=1)
        yield from (sentence.strip("*_ ") for sentence in _SENTENCE.split(line) if sentence)


def _place(page: Page, sentence: str) -> Mark:
    """Find the line in which a sentence begins by its first words."""
    for length in (len(sentence), 24, 12, 6):
        start = sentence[:length]
        for number, line in enumerate(page.lines, 1):
            if (at := line.find(start)) >= 0:
                return Mark(start, number, at + 1)
    return Mark("", 1, 1)
