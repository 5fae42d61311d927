"""Find the tools of a catalogue: below headings, and where they are listed."""

import re
from dataclasses import dataclass, field

from toolmd.importing import words_of
from toolmd_catalog.layout.blocks import Part, Table
from toolmd_catalog.layout.context import mark_lists
from toolmd_catalog.layout.labels import role_of
from toolmd_catalog.layout.listed import DEEPEST, listed
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.spans import TextSpan, spans
from toolmd_catalog.layout.tables import columns, rows_of
from toolmd_catalog.layout.tool_headings import ToolHeading, heading_of
from toolmd_catalog.words import clean

_HIDDEN = re.compile(
    r"\b(?:not exposed|not callable|internal(?: only)?|private|not available|removed|hidden)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(r"\b(?:example|sample|adding|template|how to|future|planned)\b", re.IGNORECASE)


@dataclass(slots=True)
class ToolEntry:
    """A tool as the catalogue shows it."""

    heading: ToolHeading
    line: int
    spans: list[TextSpan] = field(default_factory=list)

    def of(self, role: str) -> list[TextSpan]:
        """Return the spans of a role."""
        return [span for span in self.spans if span.role == role]

    @property
    def evident(self) -> bool:
        """Whether anything but the name says that this is a tool."""
        return any(s.role in {"parameters", "returns", "example", "safety"} for s in self.spans)


@dataclass(slots=True)
class ToolsFound:
    """The tools, the parts that are no tool's, and what was passed over."""

    entries: list[ToolEntry]
    others: list[Part]
    passed: list[tuple[str, str, int]] = field(default_factory=list)
    """A name, why it is not a tool here, and the line."""


def find(page: Page, parts: list[Part]) -> ToolsFound:
    """Find the tools in each way in which the catalogue sets them out."""
    elsewhere = not mark_lists(parts)
    found = _by_headings(page, parts, elsewhere=elsewhere)
    if elsewhere and not found.entries:
        found = _by_headings(page, parts, plain=True)
    others = listed(page, found.others, telling=elsewhere and not found.entries)
    more = _by_headings(page, others, elsewhere=elsewhere)
    found.entries += more.entries
    found.passed += more.passed
    return found


def find_plain(page: Page, parts: list[Part]) -> ToolsFound:
    """Find the tools whose headings are plain words, by the parameters below them."""
    return _by_headings(page, parts, plain=True)


def _by_headings(
    page: Page, parts: list[Part], *, elsewhere: bool = True, plain: bool = False
) -> ToolsFound:
    """Find the tools that have a heading.

    `elsewhere` allows tools with little evidence outside of a list of tools, `plain` allows names
    in plain words.
    """
    found = ToolsFound([], [])
    at = 0
    while at < len(parts):
        part = parts[at]
        heading = heading_of(part.heading.text, listed=bool(part.lists)) if part.level else None
        end = _end(parts, at)
        entry = _entry(page, parts[at:end], heading, plain=plain) if heading else None
        if entry and not (part.lists or elsewhere or _shows(page, entry)):
            entry = None
        if entry is None:
            found.others.append(part)
            at += 1
            continue
        why = _why_not(parts, at)
        if why:
            found.passed.append((entry.heading.name, why, entry.line))
            found.others += parts[at:end]
        else:
            found.entries.append(entry)
        at = end
    return found


def _entry(page: Page, parts: list[Part], heading: ToolHeading, *, plain: bool) -> ToolEntry | None:
    """Return the tool below a heading, unless it is a group of tools, a label, or a chapter."""
    part, *below = parts
    labels = {role_of(part.heading.text), role_of(heading.name)} - {"", "name"}
    if labels and not (heading.signature or "_" in heading.name or part.level == DEEPEST):
        return None
    inside_parameters = 0
    for inner in below:
        if inside_parameters and inner.level > inside_parameters:
            continue
        inside_parameters = inner.level if role_of(inner.heading.text) == "parameters" else 0
        found = None if role_of(inner.heading.text) else heading_of(inner.heading.text)
        if found is not None and found.strong:
            return None
    entry = ToolEntry(heading, part.heading.line, spans(page, part.blocks, below))
    for span in entry.of("name"):
        named = heading_of(span.text)
        if named is not None and " " not in named.name:
            heading.words = heading.words or heading.name
            heading.name, heading.strong = named.name, True
    lone = part.lists is not False and heading.name.islower() and " " not in heading.name
    if lone and part.level > 1 and _shows(page, entry):
        return entry
    if heading.strong:
        # The title of a document about one program looks the same.
        noted = entry.evident or (entry.spans and part.level > 1 and not heading.aside)
        return entry if noted or heading.signature or part.lists else None
    chapter = part.level == 1 and any(not role_of(inner.heading.text) for inner in below)
    if not plain or chapter or part.lists is False or _is_group(page, below):
        return None
    return entry if entry.of("parameters") and words_of(heading.name) else None


def _shows(page: Page, entry: ToolEntry) -> bool:
    """Return whether a tool has parameters: below a label, or in a table."""
    tables = [b for s in entry.of("") for b in s.blocks if isinstance(b, Table)]
    return bool(entry.of("parameters")) or any(columns(rows_of(page, t)[0]) for t in tables)


def _is_group(page: Page, below: list[Part]) -> bool:
    """Return whether several headings have parameters of their own: then each is a tool."""
    tools = 0
    for at, inner in enumerate(below):
        if not role_of(inner.heading.text) and heading_of(inner.heading.text) is not None:
            own = spans(page, inner.blocks, below[at + 1 : _end(below, at)])
            tools += any(span.role == "parameters" for span in own)
    return tools > 1


def _end(parts: list[Part], at: int) -> int:
    end = at + 1
    while end < len(parts) and parts[end].level > parts[at].level:
        end += 1
    return end


def _why_not(parts: list[Part], at: int) -> str:
    """Return why a heading is not a tool's: the headings above it rule it out; else empty."""
    above = [parts[at].heading.text]
    level = parts[at].level
    for part in reversed(parts[:at]):
        if 0 < part.level < level:
            above.append(part.heading.text)
            level = part.level
    for text in above:
        if _HIDDEN.search(text):
            return f"it stands under {clean(text)!r}"
    for text in above[1:]:
        if _SAMPLE.search(text):
            return f"it stands under {clean(text)!r}: an example"
    return ""
