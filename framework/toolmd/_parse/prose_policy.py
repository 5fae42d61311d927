"""Find restrictions in the prose of a tool that no field enforces."""

from dataclasses import dataclass

from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.source.page import Mark, Page
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

    def stated(self, words: set[str]) -> bool:
        return bool(words & self.words) and bool(words & self.with_any_of)


_POLICIES = (
    _Policy(
        frozenset("confirms confirmed confirming agrees agreed consents approves".split()),
        _CONDITION,
        "asks for a person's confirmation",
        "Requires Confirmation: true",
    ),
    _Policy(
        frozenset("confirmation consent approval permission".split()),
        frozenset("requires require required must without ask needs need".split()),
        "asks for a person's confirmation",
        "Requires Confirmation: true",
    ),
    _Policy(
        frozenset({"explicitly"}),
        frozenset("asks ask asked mentions mention mentioned states stated says requests".split()),
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


def lint_tool(spec: ToolSpec, text: str) -> tuple[Diagnostic, ...]:
    """Warn about each sentence that states a restriction which no field of the tool enforces.

    A model reads prose; the call pipeline does not (006-prose-is-not-policy.md, seed 003).
    """
    page = Page(spec.source.path, source_lines(text))
    reported: set[str] = set()
    for sentence in _sentences(spec):
        words = {word.strip(_SIGNS) for word in sentence.lower().split()}
        for policy in _POLICIES:
            if policy.field in reported or not policy.stated(words) or _enforced(policy, spec):
                continue
            reported.add(policy.field)
            section = "Metadata" if policy.field.startswith("Requires Auth") else "Safety"
            name, _, value = policy.field.partition(": ")
            page.warn(
                Code.PROSE_POLICY,
                _place(page, sentence),
                f"'{_short(sentence)}' {policy.what}, but no field enforces it",
                f"add `- **{name}**: {value}` under `## {section}`, or reword it",
            )
    return tuple(page.diagnostics)


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


def _sentences(spec: ToolSpec) -> list[str]:
    prose = f"{spec.description} {spec.notes} {spec.when_to_use}".replace("\n", " ")
    return [
        sentence.strip() for sentence in prose.replace("; ", ". ").split(". ") if sentence.strip()
    ]


def _place(page: Page, sentence: str) -> Mark:
    """Find the line in which a sentence begins by its first words."""
    for length in (len(sentence), 24, 12):
        start = sentence[:length]
        for number, line in enumerate(page.lines, 1):
            if (at := line.find(start)) >= 0:
                return Mark(start, number, at + 1)
    return Mark("", 1, 1)


def _short(sentence: str) -> str:
    sentence = sentence.rstrip(".")
    return sentence if len(sentence) <= 60 else sentence[:59] + "…"  # noqa: PLR2004
