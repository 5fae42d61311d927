"""Find restrictions in the prose of a tool that no field enforces."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.fields.table import section_of
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words.keys import fold
from toolmd._parse.words.limiting import limiting
from toolmd._parse.words.restricting import OF_CALLS, restricts, restricts_calls
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.tool import ToolSpec

_SIGNS = ".,:;!?()[]{}*_`'\"—–-"  # noqa: RUF001 - the dashes that people write
_CONDITION = frozenset(
    "only must after before until unless requires require required first once always never "
    "need needs without should".split()
)


@dataclass(frozen=True, slots=True)
class _Policy:
    """Words that state a restriction, and the field that would enforce it."""

    words: frozenset[str]
    with_any_of: frozenset[str]
    what: str
    field: str
    leading: bool = False
    """Whether the other word must come first: `is confirmed only after payment` asks nobody."""

    def stated(self, words: Sequence[str]) -> bool:
        places = [at for at, word in enumerate(words) if word in self.words]
        others = words[: places[-1]] if places and self.leading else words
        return bool(places) and not self.with_any_of.isdisjoint(others)


_POLICIES = (
    _Policy(
        frozenset("confirms confirmed confirming agrees agreed consents approves approved".split()),
        _CONDITION,
        "asks for a person's confirmation",
        "Requires Confirmation: true",
        leading=True,
    ),
    _Policy(
        frozenset({"confirm"}),
        frozenset({"with"}),
        "asks for a person's confirmation",
        "Requires Confirmation: true",
    ),
    _Policy(
        frozenset("confirmation consent approval permission".split()),
        frozenset("requires require required must without ask needs need only".split()),
        "asks for a person's confirmation",
        "Requires Confirmation: true",
    ),
    _Policy(
        frozenset({"explicitly"}),
        frozenset("asks ask asked mentions mention mentioned requests user users".split()),
        "asks for the user's explicit intent",
        "Explicit Intent: true",
    ),
    _Policy(
        frozenset({"confidence", "confident"}),
        _CONDITION | {"above", "below", "least", "threshold"},
        "asks for confidence",
        "Min Confidence: 0.8",
    ),
    _Policy(
        frozenset("authenticated authentication login".split()),
        _CONDITION,
        "asks for a signed-in user",
        "Requires Auth: true",
    ),
)


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
_RESTRICTING = ("Safety", "Limits", "Rules")
_TITLES = frozenset(
    "guardrail guardrails policy policies safety security compliance authorization safeguard "
    "safeguards warning warnings caution prohibitions rule rules".split()
)
"""Words of a title below which each restricting sentence counts, besides those of a key."""
_REMEDY = (
    "write a field below `## Safety` or `## Limits`, a rule below `## Rules`, or a guard in "
    "Python; move advice for the model to `## When to use`"
)


def lint_tool(spec: ToolSpec, text: str) -> tuple[Diagnostic, ...]:
    """Warn about sentences that state a restriction which no field of the tool enforces.

    A model reads prose; the call pipeline does not (006-prose-is-not-policy.md, seed 003). In
    descriptions, each of five well-known policies counts once. In a section, the first sentence
    that restricts calls counts: any in Safety, Limits, Rules and sections of a restricting title,
    elsewhere one that begins with a restricting word or speaks about calls.
    """
    page = Page(spec.source.path, source_lines(text))
    reported: set[str] = set()
    for prose in (spec.description, spec.notes, spec.when_to_use):
        for sentence in sentences(prose):
            for policy in _stated(sentence):
                if policy.field not in reported and not _enforced(policy, spec):
                    reported.add(policy.field)
                    _report(page, _place(page, sentence), sentence, policy)
    for title, prose in spec.sections.items():
        found = _first_restriction(spec, title, prose)
        if found is not None:
            _report(page, _place(page, found[0], title), *found)
    return tuple(sorted(page.diagnostics, key=lambda found: found.span.line))


def unexpressed(spec: ToolSpec) -> Iterator[str]:
    """Yield the sentences of a tool's prose that restrict calls, and that no field enforces."""
    fields = _words_of_fields(spec)
    for prose in (spec.description, spec.notes, spec.when_to_use):
        for sentence in sentences(prose):
            known = _stated(sentence)
            if known:
                if not all(_enforced(policy, spec) for policy in known):
                    yield sentence
            elif restricts_calls(sentence) and not _words(sentence) & fields:
                yield sentence


def _report(page: Page, mark: Mark, sentence: str, policy: _Policy | None) -> None:
    what, remedy = "restricts calls", _REMEDY
    if policy is not None:
        section = "Metadata" if policy.field.startswith("Requires Auth") else "Safety"
        name, _, value = policy.field.partition(": ")
        what, remedy = (
            policy.what,
            f"add `- **{name}**: {value}` under `## {section}`, or reword it",
        )
    message = f"'{_short(sentence)}' {what}, but no field enforces it"
    page.warn(Code.PROSE_POLICY, mark, message, remedy)


def _stated(sentence: str) -> list[_Policy]:
    words = _in_order(_ASIDE.sub(" ", sentence))
    if words and words[0] in _READING and _STRICT.isdisjoint(words):
        return []
    return [policy for policy in _POLICIES if policy.stated(words)]


def _words(sentence: str) -> set[str]:
    return set(_in_order(sentence))


def _in_order(sentence: str) -> list[str]:
    return [word.strip(_SIGNS) for word in sentence.lower().split()]


def _first_restriction(spec: ToolSpec, title: str, prose: str) -> tuple[str, _Policy | None] | None:
    """Find the first sentence of a section that restricts calls, and its policy if it is known."""
    named = _words(title)
    if any(word.startswith("example") for word in named):
        return None
    if title not in _RESTRICTING and section_of("tool", title) is not None:
        return None
    always = title in _RESTRICTING or named & _TITLES or limiting(title, of_value=False)
    fields = _words_of_fields(spec)
    for sentence in sentences(prose):
        words = _words(sentence)
        if restricts(sentence) if always else restricts_calls(sentence):
            known = _stated(sentence)
            missing = [policy for policy in known if not _enforced(policy, spec)]
            if missing or not (known or words & fields):
                return sentence, next(iter(missing), None)
    return None


def _words_of_fields(spec: ToolSpec) -> set[str]:
    """Return the words by which prose refers to the fields and rules that the tool has."""
    written = {**asdict(spec.safety), **asdict(spec.limits)}
    names = {word for name, value in written.items() if value for word in name.split("_")}
    conditions = [spec.safety.confirm_when or "", spec.safety.escalate_when or ""]
    conditions += [rule.expression for rule in spec.rules]
    read = {word.lower() for text in conditions for word in re.findall(r"[^\W\d]\w+", text)}
    return (names | read) - _SMALL


_SMALL = OF_CALLS | frozenset("max when requires has size true false".split())
"""Words of fields and conditions that say nothing about which field a sentence means."""


def _enforced(policy: _Policy, spec: ToolSpec) -> bool:
    safety = spec.safety
    match policy.field.partition(":")[0]:
        case "Requires Confirmation":
            return bool(
                safety.requires_confirmation is not None
                or safety.confirm_when
                or safety.sensitivity == "critical"
            )
        case "Explicit Intent":
            return safety.explicit_intent is not None
        case "Min Confidence":
            return safety.min_confidence is not None
        case _:
            return spec.requires_auth


def sentences(prose: str) -> Iterator[str]:
    """Yield the sentences of paragraphs, bullets and rows; code fences are skipped."""
    for block in _BLOCK.split(_FENCED.sub("\n\n", prose)):
        line = _BULLET.sub("", " ".join(block.split()), count=1)
        yield from (sentence.strip("*_ ") for sentence in _SENTENCE.split(line) if sentence)


def _place(page: Page, sentence: str, title: str = "") -> Mark:
    """Find the line in which a sentence begins by its first words, below a title if it has one."""
    heads = (n for n, ln in enumerate(page.lines) if ln.startswith("#") and fold(title) in fold(ln))
    first = next(heads, 0) if title else 0
    for length in (len(sentence), 24, 12, 6):
        start = sentence[:length]
        for number, line in enumerate(page.lines[first:], first + 1):
            if (at := line.find(start)) >= 0:
                return Mark(start, number, at + 1)
    return Mark("", first + 1, 1)


def _short(sentence: str) -> str:
    sentence = sentence.rstrip(".;")
    return sentence if len(sentence) <= 60 else sentence[:59] + "…"  # noqa: PLR2004
