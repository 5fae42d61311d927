"""Find the tools of a catalogue: headings first, else bold lines, bullets, or rows of a table."""

import re
from dataclasses import dataclass, field

from toolmd_catalog.layout.blocks import Block, Bullets, Item, Paragraph, Part, Table
from toolmd_catalog.layout.labels import role_of
from toolmd_catalog.layout.page import Mark, Page
from toolmd_catalog.layout.spans import TextSpan, spans
from toolmd_catalog.layout.tables import columns, rows_of
from toolmd_catalog.names import words
from toolmd_catalog.words import clean, closing, fold

_NUMBERING = re.compile(
    r"(?:\(?\d+(?:\.\d+)*[.):]*|[A-Z][.)]|§\s*\d+(?:\.\d+)*|#\d+[.:]?|[ivx]+\.)\s+(?=\S)"
)
_LEAD = re.compile(
    r"(?:tool|function|method|command|action|endpoint)\s*(?:#?\d+)?\s*(?:[:–—-])\s*",  # noqa: RUF001
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_HIDDEN = re.compile(
    r"\b(?:not exposed|not callable|internal(?: only)?|private|not available|removed|hidden)\b",
    re.IGNORECASE,
)
_SAMPLE = re.compile(r"\b(?:example|sample|adding|template|how to|future|planned)\b", re.IGNORECASE)
_FOLLOWS = re.compile(r"\s*(?:->|→|:|[-–—](?=\s)|$)")  # noqa: RUF001
_DEEPEST = 7
"""The level of a line that stands for a heading."""


@dataclass(slots=True)
class ToolHeading:
    """A tool's name as a heading gives it."""

    name: str
    signature: str = ""
    """The inside of its parentheses, then ` -> ` and what it returns, where they are given."""
    words: str = ""
    """The words behind the name."""
    strong: bool = True
    """Whether the name is code's: in a span, with underscores, with parentheses."""
    aside: bool = False
    """Whether the name stands behind a title: `Get the weather (`get_weather`)`."""


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
    """Find the tools in whichever way the catalogue sets them out."""
    found = _by_headings(page, parts)
    if not found.entries:
        found = _by_headings(page, _bold_lines(parts))
    if not found.entries:
        found = _by_headings(page, _bullets(parts))
    if not found.entries:
        found = _by_rows(page, parts)
    return found


def heading_of(text: str) -> ToolHeading | None:
    """Read a heading as a tool's name; None where it is none."""
    plain = clean(text).strip().rstrip(":").strip()
    start = re.search(r"[A-Za-z0-9_`(§#]", plain)
    plain = plain[start.start() :] if start else ""
    counted = _NUMBERING.match(plain)
    plain = plain[counted.end() :] if counted else plain
    led = _LEAD.match(plain)
    plain = plain[led.end() :] if led else plain
    coded = plain.startswith("`")
    inner = plain[1:].split("`", 1) if coded else [plain, ""]
    whole = "".join(inner) if len(inner) > 1 else inner[0]
    match = _NAME.match(whole)
    if match is None:
        return None
    name, rest = match[0], whole[match.end() :]
    signature = ""
    if rest.startswith("(") and (end := closing(rest, 0)) >= 0:
        signature, rest = rest[1:end], rest[end + 1 :]
        arrow = re.match(r"\s*(?:->|→|:(?=\s*\w[\w\[\]<>{}|]*\s*$))\s*(?P<gives>[^–—]+)", rest)  # noqa: RUF001
        if arrow:
            signature += f" -> {arrow['gives'].strip()}"
            rest = rest[arrow.end() :]
        if not signature:
            signature = " "
    camel = name[:1].islower() and name != name.lower()
    code = coded or bool(led) or bool(signature) or "_" in name.strip("_") or camel
    if _FOLLOWS.match(rest) or (code and re.match(r"\s*\(", rest)):
        behind = re.sub(r"^\s*(?:->|→|:|[-–—])\s*", "", rest).strip()  # noqa: RUF001
        return ToolHeading(name, signature, behind, strong=code)
    aside = re.search(r"`([A-Za-z_][\w-]*)`\)?\s*$", plain)
    if aside and len(plain) < 80:  # noqa: PLR2004 - a heading, no sentence
        return ToolHeading(aside[1], "", plain[: aside.start()].strip(" (-–—:"), aside=True)  # noqa: RUF001
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9 /&'-]{1,60}(?:\([^()]*\))?", plain):
        return ToolHeading(re.sub(r"\s*\(.*", "", plain), "", "", strong=False)
    return None


def _by_headings(page: Page, parts: list[Part]) -> ToolsFound:
    found = ToolsFound([], [])
    at = 0
    while at < len(parts):
        part = parts[at]
        heading = heading_of(part.heading.text) if part.level else None
        end = _end(parts, at)
        entry = _entry(page, parts, at, end, heading) if heading else None
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


def _entry(
    page: Page, parts: list[Part], at: int, end: int, heading: ToolHeading
) -> ToolEntry | None:
    """Return the tool below a heading, unless it is a group of tools, a label, or a chapter."""
    part, below = parts[at], parts[at + 1 : end]
    labels = {role_of(part.heading.text), role_of(heading.name)} - {"", "name"}
    if labels and not (heading.signature or "_" in heading.name):
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
    if heading.strong:
        # The title of a document about one program looks the same.
        noted = entry.evident or (entry.spans and part.level > 1 and not heading.aside)
        return entry if noted or heading.signature else None
    if _is_group(page, below):
        return None
    return entry if entry.of("parameters") and words(heading.name) else None


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


def _bold_lines(parts: list[Part]) -> list[Part]:
    """Return the parts; a line that is only a bold or coded name becomes a heading."""
    made: list[Part] = []
    for part in parts:
        made.append(Part(part.level, part.heading))
        for block in part.blocks:
            if isinstance(block, Paragraph):
                first, _, rest = block.mark.text.partition("\n")
                marked = first.strip()[:2] in {"**", "__"} or first.strip()[:1] == "`"
                heading = heading_of(first) if marked and not role_of(first) else None
                if heading is not None and heading.strong and " " not in heading.name:
                    made.append(Part(_DEEPEST, Mark(first, block.mark.line)))
                    if rest:
                        made[-1].blocks.append(Paragraph(Mark(rest, block.mark.line + 1)))
                    continue
            made[-1].blocks.append(block)
    return made


def _bullets(parts: list[Part]) -> list[Part]:
    """Return the parts; a bullet that names a tool becomes a heading."""
    made: list[Part] = []
    for part in parts:
        made.append(Part(part.level, part.heading))
        for block in part.blocks:
            named = _named_items(block)
            if not named:
                made[-1].blocks.append(block)
                continue
            for item, heading in named:
                made.append(Part(_DEEPEST, Mark(item.mark.text.split("\n")[0], item.line)))
                if heading.words:
                    words_ = Paragraph(Mark(heading.words, item.line))
                    made[-1].blocks.append(words_)
                    made[-1].heading = Mark(_alone(heading), item.line)
                made[-1].blocks += item.blocks
    return made


def _alone(heading: ToolHeading) -> str:
    """Return a bullet's name and signature without the words behind them."""
    inside, _, gives = heading.signature.partition(" -> ")
    signature = f"({inside.strip()})" if heading.signature else ""
    return f"`{heading.name}{signature}`" + (f" -> {gives}" if gives else "")


def _named_items(block: Block) -> list[tuple[Item, ToolHeading]]:
    """Return the bullets of a list of tools: each with a name, and arguments or details below."""
    if not isinstance(block, Bullets):
        return []
    named: list[tuple[Item, ToolHeading]] = []
    for item in block.items:
        marked = item.mark.text.strip()[:1] in {"*", "_", "`"}
        heading = heading_of(" ".join(item.mark.text.split()))
        if heading is None or not heading.strong or not (marked or heading.signature):
            return []
        if " " in heading.name:
            return []
        named.append((item, heading))
    telling = any(heading.signature or item.items for item, heading in named)
    return named if telling else []


def _by_rows(page: Page, parts: list[Part]) -> ToolsFound:
    """Find a table whose rows are tools: a column of names and one of parameters."""
    found = ToolsFound([], list(parts))
    for part in parts:
        for block in part.blocks:
            if not isinstance(block, Table):
                continue
            head, rows = rows_of(page, block)
            roles = [role_of(cell) for cell in head]
            first = fold(clean(head[0])) if head else ""
            named = first in {"tool", "name", "function", "toolname", "functionname", "command"}
            if not named or "parameters" not in roles[1:] or columns(head):
                continue
            for line, row in rows:
                heading = heading_of(row[0])
                if heading is None or not words(heading.name):
                    continue
                cells = [
                    TextSpan(role or "other", label, line, cell)
                    for role, label, cell in zip(roles[1:], head[1:], row[1:], strict=False)
                    if cell
                ]
                found.entries.append(ToolEntry(heading, line, cells))
    return found
