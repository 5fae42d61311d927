"""The defaults of a catalogue: shared parameters, and limits outside of any section."""

import re
from dataclasses import dataclass, field

from toolmd_catalog.layout.blocks import Block, Part, Table
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.spans import TextSpan, sentences, spans
from toolmd_catalog.layout.tables import rows_of
from toolmd_catalog.parameters.gather import Gathered, read_span
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import JsonType
from toolmd_catalog.policy.demands import Policy
from toolmd_catalog.policy.statements import read_sentence
from toolmd_catalog.summary import Summaries
from toolmd_catalog.words import clean

_SAMPLE = re.compile(
    r"\b(?:example|sample|adding|template|future|integration|checklist)\b", re.IGNORECASE
)
_EVERY = re.compile(
    r"\b(?:all|every|each|any)\b[^.]{0,40}\b(?:tools?|calls?)\b|"
    r"\b(?:tools|calls) (?:are|must|may)\b|\bapproved domains\b|\bapi\b[^.]*\bretr|"
    r"\bunknown (?:param|arg|field|key)|\bper (?:request|call)\b|\beverything\b|\bglobal(?:ly)?\b|"
    r"\b(?:overall|across the board|in total)\b",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(r"\b(?:all|every|each) tools?\b", re.IGNORECASE)


@dataclass(slots=True)
class Defaults:
    """The statements that hold for more than one tool."""

    summaries: Summaries
    policy: Policy = field(default_factory=Policy)
    shared: dict[str, ParameterFound] = field(default_factory=dict)
    everywhere: bool = False
    """Whether the shared parameters belong to every tool, listed there or not."""
    whole: JsonType = "integer"
    """The type that is guessed for whole numbers."""
    lines: dict[str, int] = field(default_factory=dict)
    """The line of each statement that holds for all tools."""
    unread: list[tuple[str, int]] = field(default_factory=list)
    """Sentences that restrict something and name neither one tool nor all; their lines."""


def read_defaults(page: Page, parts: list[Part], tails: list[Block]) -> Defaults:
    """Read the parts that are no tool's, and what stands behind the last tool's rule."""
    defaults = Defaults(Summaries(page, parts))
    skipped = 99
    for part in [*parts, Part(0, parts[0].heading, tails)]:
        if part.level and part.level > skipped:
            continue
        skipped = part.level if part.level and _SAMPLE.search(part.heading.text) else 99
        if skipped == 99:  # noqa: PLR2004 - deeper than any heading
            for span in spans(page, part.blocks, []):
                _span(page, defaults, span)
            for block in part.blocks:
                if isinstance(block, Table):
                    _rows(page, defaults, block)
    return defaults


def _span(page: Page, defaults: Defaults, span: TextSpan) -> None:
    if span.role == "shared":
        gathered = Gathered()
        read_span(page, span, gathered, set())
        defaults.shared |= gathered.found
        defaults.everywhere = defaults.everywhere or bool(_EVERYWHERE.search(span.label))
        return
    for text, line in sentences(span):
        for sentence in re.split(r"(?<=[.;])\s+", text):
            _sentence(defaults, sentence, line)


def _sentence(defaults: Defaults, sentence: str, line: int) -> None:
    text = clean(sentence)
    if not _EVERY.search(text) or re.search(r"\bsensitive tools?\b", text, re.IGNORECASE):
        trial = Policy()
        if read_sentence(trial, text, line) and (trial.safety or trial.limits):
            defaults.unread.append((text, line))
        return
    before = {**defaults.policy.safety, **defaults.policy.limits, **defaults.policy.facts}
    if read_sentence(defaults.policy, text, line):
        after = {**defaults.policy.safety, **defaults.policy.limits, **defaults.policy.facts}
        defaults.lines |= {key: line for key in after if key not in before}


def _rows(page: Page, defaults: Defaults, table: Table) -> None:
    """Read a table's rows as sentences: `| API timeout | Retry 3× |`."""  # noqa: RUF002
    _, rows = rows_of(page, table)
    for line, row in rows:
        _sentence(defaults, ": ".join(cell for cell in row if cell), line)
