"""A file from its sections to the finished spec: the steps that all kinds share."""

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, TypeVar

from toolmd._parse.blocks import (
    Block,
    Bullets,
    Comment,
    Node,
    Paragraph,
    Part,
    Table,
    prose,
    with_headings,
)
from toolmd._parse.document.front_matter import FrontMatter, read_front_matter
from toolmd._parse.fields.table import PARAMETER, TABLES, SectionTable, section_of
from toolmd._parse.outline import outline, source_lines
from toolmd._parse.page import MAX_BYTES, Mark, Page, Places, replace
from toolmd._parse.scalars import listed
from toolmd._parse.unread import report_kept
from toolmd._parse.words import fold, heading_text, is_slip, plain, section_title, split
from toolmd._types.code import Code
from toolmd._types.diagnostic import Diagnostic, Position, Source
from toolmd._types.identity import Identity
from toolmd._types.remote import read_operation
from toolmd._types.tool import Noun

_SURE = 6
"""Another name of a section with this many letters is also found if it is misspelt."""


@dataclass(slots=True)
class Section:
    """A section with its own blocks and the parts below it."""

    table: SectionTable | None
    title: str
    mark: Mark
    level: int
    blocks: list[Block]
    parts: list[Part] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Return the whole section as markdown."""
        texts = prose(self.blocks), with_headings(self.parts, self.level + 1)
        return "\n\n".join(text for text in texts if text)


@dataclass(slots=True)
class Document:
    """A definition's title, head and sections."""

    title: str
    mark: Mark
    description: str
    notes: str
    head: list[Block] = field(default_factory=list)
    """The blocks between the title and the first section."""
    known: dict[str, Section] = field(default_factory=dict)
    others: list[Section] = field(default_factory=list)

    def keep(self, section: Section, blocks: list[Block], parts: list[Part]) -> None:
        """Keep the prose of a section, besides its fields, under the section's canonical title."""
        if prose(blocks) or parts:
            title = section.table.name if section.table else section.title
            self.others.append(Section(None, title, section.mark, section.level, blocks, parts))


def read_sections(page: Page, parts: list[Part], kind: str) -> Document:
    """Sort a page's parts into title, head and sections."""
    head, rest = parts[0], parts[1:]
    title = _title(page, rest, kind)
    blocks = list(head.blocks)
    if title is not None:
        rest = rest[1:]
        blocks += title.blocks
    mark = title.heading if title else Mark("", 1, 1)
    document = Document(heading_text(mark.text), mark, *_head(blocks), blocks)
    _sort(page, document, rest, kind)
    return document


def _title(page: Page, rest: list[Part], kind: str) -> Part | None:
    if rest and rest[0].level == 1:
        return rest[0]
    words = section_title(rest[0].heading.text) if rest else ""
    if rest and not section_of(kind, words):
        return rest[0]
    what = "the title is missing"
    help_ = "begin with `# Title` and a paragraph that says what the definition does"
    page.error(Code.MISSING_TITLE, rest[0].heading if rest else Mark("", 1, 1), what, help_)
    return None


def _head(blocks: list[Block]) -> tuple[str, str]:
    """Return the first paragraph on one line, and the prose after it."""
    found: list[Block] = [b for b in blocks if not isinstance(b, Comment)]
    for at, block in enumerate(found):
        if isinstance(block, Paragraph) and (text := " ".join(prose([block]).split())):
            return text, prose(found[:at] + found[at + 1 :])
    return "", prose(found)


def _sort(page: Page, document: Document, rest: list[Part], kind: str) -> None:
    current: Section | None = None
    titles = [section_title(part.heading.text) for part in rest]
    tables = [section_of(kind, title) for title in titles]
    named = {t.name for t in tables if t}
    top = min((p.level for p, t in zip(rest, tables, strict=True) if t), default=0)
    for at, part in enumerate(rest):
        if tables[at] is None and part.level == top:
            tables[at] = _find_repair(page, part, titles[at], kind, named)
    at_top = {t.name for p, t in zip(rest, tables, strict=True) if t and p.level == top}
    for at, (part, table) in enumerate(zip(rest, tables, strict=True)):
        text = titles[at] if table else heading_text(part.heading.text)
        if current is not None and _below(current, part, text, table, at_top):
            current.parts.append(part)
            continue
        mark = page.mark(text, part.heading.line)
        section = Section(table, text, mark, part.level, part.blocks)
        if table is None:
            document.others.append(section)
        elif table.name in document.known:
            what = f"there are two sections '{table.name}'"
            help_ = f"join them; the first is in line {document.known[table.name].mark.line}"
            page.error(Code.DUPLICATE_SECTION, section.mark, what, help_)
        else:
            document.known[table.name] = section
        current = section


def _find_repair(
    page: Page, part: Part, title: str, kind: str, named: set[str]
) -> SectionTable | None:
    """Find the section that a heading misspells; report a misspelt restriction as an error."""
    folded = fold(title)
    for table in TABLES[kind]:
        if table.name in named or not _misspells(folded, table):
            continue
        if table.restricts and not _has_fields(part.blocks):
            continue  # `## Roles` over a paragraph does not misspell `## Rules`
        named.add(table.name)
        mark = page.mark(title, part.heading.line)
        fix = replace(mark, table.name)
        if table.restricts:
            what = f"unknown section '{title}'; restrictions are never guessed"
            page.error(Code.MISSPELT_SECTION, mark, what, f"did you mean '{table.name}'?", fix)
        else:
            what = f"the section '{title}' was read as '{table.name}'"
            page.warn(Code.MISSPELT_SECTION, mark, what, f"write '{table.name}'", fix)
        return table
    return None


def _misspells(folded: str, table: SectionTable) -> bool:
    """Return whether a folded title misspells a section's name, or another name that is long."""
    others = (name for name in map(fold, table.aliases) if len(name) >= _SURE)
    names = (fold(table.name), *others)
    return any(is_slip(folded, name) for name in names)


def _has_fields(blocks: list[Block]) -> bool:
    """Return whether blocks contain more than paragraphs of words."""
    return any(
        isinstance(block, Table)
        or (isinstance(block, Bullets) and any(_sets(item) for item in block.items))
        or (isinstance(block, Paragraph) and split(block.mark) is not None)
        for block in blocks
    )


def _sets(item: Node) -> bool:
    return item.mark.text.startswith("`") or item.entry is not None


def _below(
    current: Section, part: Part, text: str, table: SectionTable | None, at_top: set[str]
) -> bool:
    """Return whether a part belongs to the section above it; levels may be off by one."""
    if part.level > current.level:
        # `### Returns` below `## Parameters` is a section one level too deep; `### returns` is a
        # parameter, and so is `### Returns` if a section of that name already exists.
        # `#### Example` below `### city` is a field.
        is_field = part.level > current.level + 1 and PARAMETER.field(text) is not None
        named = table is None or not text[:1].isupper() or "(" in text
        return named or is_field or (table is not None and table.name in at_top)
    if table is not None or current.table is None or current.table.children != "parameters":
        return False
    return part.level == current.level and _has_type(part)


def _has_type(part: Part) -> bool:
    """Return whether the blocks below a heading describe a parameter."""
    for block in part.blocks:
        if isinstance(block, Bullets):
            for item in block.items:
                entry = item.entry
                known = PARAMETER.field(entry.key.text) if entry else None
                if known is not None and known.attribute in {"types", "required"}:
                    return True
    return False


_N = TypeVar("_N", bound=Noun)
_CALLEES = frozenset(("required_tools", "required_skills", "allowed_tools", "disallowed_tools"))


@dataclass(slots=True)
class Definition:
    """A file while it is being parsed, from its sections to the finished spec."""

    page: Page
    kind: str
    document: Document
    front: FrontMatter
    missing: set[str] = field(default_factory=set)
    places: dict[str, Position] = field(default_factory=dict)
    """The position of each Metadata value."""

    def section(self, name: str) -> Section | None:
        """Find a section; report a required section that is missing, once."""
        found = self.document.known.get(name)
        table = next(t for t in TABLES[self.kind] if t.name == name)
        if found is None and table.needed and name not in self.missing:
            self.missing.add(name)
            if self._swallowed():
                return None
            help_ = f"add `## {name}`" + (
                ", with `None` below it if there are none" if name == "Parameters" else ""
            )
            what = f"the section '{name}' is missing"
            self.page.error(Code.MISSING_SECTION, self._end(), what, help_)
        return found

    def _swallowed(self) -> bool:
        """Return whether a reported error hides sections, so that missing ones need no report."""
        hiding = {Code.UNCLOSED_FENCE, Code.NESTED_TOO_DEEP, Code.FRONT_MATTER}
        return any(d.code in hiding for d in self.page.diagnostics)

    def _end(self) -> Mark:
        lines = self.page.lines
        last = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), 1)
        return Mark("", last, len(lines[last - 1]) + 1 if lines else 1)

    def when_to_use(self) -> str:
        """Return the text of the section When to use."""
        section = self.document.known.get("When to use")
        if section is None:
            return ""
        report_kept(self.page, section.blocks, section.parts)
        return section.text

    def record(self, attribute: str, entry: Node) -> None:
        """Record the places of a Metadata value: its own, and those of the names in it."""
        page, at = self.page, entry.value
        self.places[attribute] = entry.written.place
        marks: list[Mark] = []
        for word in [] if entry.listed is not None else listed(entry.text):
            marks.append(page.mark(word, at.line, at.column))
            at = at._replace(column=marks[-1].column + len(word))
        for mark in (*marks, *(entry.listed or ()), *(item.mark for item in entry.items)):
            name = plain(mark.text.partition("(")[0]).replace("-", "_")  # `Bash` of `Bash(git:*)`
            self.places[f"{attribute}/{name}"] = mark.place
            if attribute in _CALLEES:
                page.named("definition", name, mark)
            if attribute in {"context", "patient_from"} and self.kind == "skill":
                for word in mark.text.split()[-1:]:
                    page.named("parameter", plain(word), mark.last(word))
        if attribute == "schedule_inputs":
            for key in [one.key for item in entry.items if (one := item.entry) is not None]:
                page.named("parameter", plain(key.text), key)
        elif attribute == "implemented_by":
            operation = read_operation(plain(entry.text))
            for name in operation.placeholders if operation is not None else ():
                page.named("parameter", name, page.mark(f"{{{name}}}", *entry.value[1:]))

    def keep_prose(self) -> dict[str, str]:
        """Return the prose to keep, title to text; report restrictions in it."""
        texts: dict[str, str] = {}
        for section in self.document.others:
            here = section_of(self.kind, section.title)
            whole = [Part(section.level, section.mark, section.blocks)] if here is None else []
            blocks = [] if whole else section.blocks
            report_kept(self.page, blocks, [*whole, *section.parts], here)
            before = texts.get(section.title)
            texts[section.title] = f"{before}\n\n{section.text}" if before else section.text
        return texts

    def finish(
        self, noun: type[_N], values: dict[str, Any]
    ) -> tuple[_N | None, tuple[Diagnostic, ...]]:
        """Build the spec, or None if any error was reported; sort the diagnostics by place."""
        values["source"] = Source(self.page.path, self.document.mark.line)
        spec = None if self.page.has_errors else noun(**values)
        found = sorted(self.page.diagnostics, key=lambda d: (d.span.line, d.span.column))
        return spec, tuple(found)


def open_definition(
    text: str,
    path: str | PathLike[str],
    kind: str,
    places: Places | None = None,
    identity: Identity | None = None,
) -> tuple[Definition | None, tuple[Diagnostic, ...]]:
    """Read a file down to its sections; return None and the diagnostics if it can't be read."""
    page = Page(fspath(path), source_lines(text), places=places or Places(), identity=identity)
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        what = f"the file is over {MAX_BYTES // 1024} KiB"
        help_ = "split it, or move its prose elsewhere"
        page.error(Code.FILE_TOO_LARGE, Mark("", 1, 1), what, help_)
        return None, tuple(page.diagnostics)
    if not text.strip("\ufeff \t\r\n"):
        page.error(
            Code.EMPTY_FILE,
            Mark("", 1, 1),
            "the file is empty",
            f"run `toolmd new {kind} NAME` for a file to start from",
        )
        return None, tuple(page.diagnostics)
    front = read_front_matter(page)
    document = read_sections(page, outline(page), kind)
    report_kept(page, document.head)
    return Definition(page, kind, document, front), ()
