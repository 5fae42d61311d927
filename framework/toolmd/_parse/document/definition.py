"""Steps that tools and skills share: read a file down to its sections, and build the spec."""

from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike, fspath
from typing import Any, TypeVar

from toolmd._parse.blocks.block import Paragraph, Part
from toolmd._parse.blocks.outline import outline
from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.document.front_matter import FrontMatter, read_front_matter
from toolmd._parse.document.sections import Document, Section, read_sections
from toolmd._parse.fields.entries import Entry, item_entry
from toolmd._parse.fields.table import TABLES, SectionTable, section_of
from toolmd._parse.source.page import Mark, Page, replace
from toolmd._parse.source.places import Places
from toolmd._parse.source.text import MAX_BYTES
from toolmd._parse.unread import report_kept
from toolmd._parse.words.keys import fold, plain
from toolmd._parse.words.scalars import listed
from toolmd._types.code import Code
from toolmd._types.definition import Noun
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.operation import read_operation
from toolmd._types.source import Position, Source

_N = TypeVar("_N", bound=Noun)
_CALLEES = frozenset(("required_tools", "required_skills", "allowed_tools", "disallowed_tools"))
_NEAR = 0.75
"""The share of equal letters from which a title is close to a section's name."""


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
            help_ = f"add `## {name}`" + (" with `None` below it" if name == "Parameters" else "")
            titled = self._titled(table)
            meant = titled or self._labelled(table)
            if meant is not None:
                help_ = f"write `## {name}` instead of '{meant.text}'"
            message = f"the section '{name}' is missing"
            fix = replace(titled, name) if titled is not None else ()
            self.page.error(Code.MISSING_SECTION, meant or self._end(), message, help_, fix)
        return found

    def _titled(self, table: SectionTable) -> Mark | None:
        """Return the title that contains a missing section's name, or else one close to it."""
        marks = [section.mark for section in self.document.others]
        for section in self.document.known.values():  # read as a parameter: it has a Type
            marks += [p.heading for p in section.parts if p.level <= section.level]
        titles = {fold(mark.text): mark for mark in marks}
        stem = fold(table.name).removesuffix("s")
        holding = next((mark for title, mark in titles.items() if stem in title), None)
        names = [fold(name) for name in (table.name, *table.aliases)]
        near = (mark for title, mark in titles.items() if get_close_matches(title, names, 1, _NEAR))
        return holding or next(near, None)

    def _labelled(self, table: SectionTable) -> Mark | None:
        """Return the paragraph that is only a missing section's name, if there is one."""
        names = {fold(name) for name in (table.name, *table.aliases)}
        known = [section.blocks for section in self.document.known.values()]
        for block in [b for blocks in (self.document.head, *known) for b in blocks]:
            if isinstance(block, Paragraph) and fold(block.mark.text) in names:
                return block.mark
        return None

    def _swallowed(self) -> bool:
        """Return whether a reported error hides sections, so that missing ones need no report."""
        hiding = {Code.UNCLOSED_FENCE, Code.NESTED_TOO_DEEP, Code.FRONT_MATTER}
        return any(d.code in hiding for d in self.page.diagnostics)

    def _end(self) -> Mark:
        lines = self.page.lines
        last = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), 1)
        return Mark("", last, len(lines[last - 1]) + 1 if lines else 1)

    def prose_of(self, name: str) -> str:
        """Return a section's whole text."""
        section = self.document.known.get(name)
        if section is None:
            return ""
        report_kept(self.page, section.blocks, section.parts)
        return section.text

    def record(self, attribute: str, entry: Entry) -> None:
        """Record the places of a Metadata value: its own, and those of the names in it."""
        page, at = self.page, entry.value
        self.places[attribute] = entry.mark.place
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
            for key in [one.key for item in entry.items if (one := item_entry(item)) is not None]:
                page.named("parameter", plain(key.text), key)
        elif attribute == "implemented_by":
            said = read_operation(plain(entry.text))
            for name in said.placeholders if said is not None else ():
                page.named("parameter", name, page.mark(f"{{{name}}}", *entry.value[1:]))

    def kept(self) -> dict[str, str]:
        """Return the prose to keep, title to text; report restrictions in it."""
        kept: dict[str, str] = {}
        for section in self.document.others:
            here = section_of(self.kind, section.title)
            whole = [Part(section.level, section.mark, section.blocks)] if here is None else []
            blocks = [] if whole else section.blocks
            report_kept(self.page, blocks, [*whole, *section.parts], here)
            before = kept.get(section.title)
            kept[section.title] = f"{before}\n\n{section.text}" if before else section.text
        return kept

    def finish(
        self, noun: type[_N], said: dict[str, Any]
    ) -> tuple[_N | None, tuple[Diagnostic, ...]]:
        """Build the spec, or None if any error was reported; sort the diagnostics by place."""
        said["source"] = Source(self.page.path, self.document.mark.line)
        spec = None if self.page.has_errors else noun(**said)
        found = sorted(self.page.diagnostics, key=lambda d: (d.span.line, d.span.column))
        return spec, tuple(found)


def open_definition(
    text: str, path: str | PathLike[str], kind: str, places: Places | None = None
) -> tuple[Definition | None, tuple[Diagnostic, ...]]:
    """Read a file down to its sections; return None and the diagnostics if it can't be read."""
    page = Page(fspath(path), source_lines(text), places=places or Places())
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "replace")) > MAX_BYTES:
        page.error(
            Code.FILE_TOO_LARGE,
            Mark("", 1, 1),
            f"the file is over {MAX_BYTES // 1024} KiB",
            "split it, or move its prose elsewhere",
        )
        return None, tuple(page.diagnostics)
    if not text.strip("\ufeff \t\r\n"):
        page.error(
            Code.EMPTY_FILE,
            Mark("", 1, 1),
            "the file is empty",
            "begin with `# Title`, a paragraph and `## Prompt`"
            if kind == "prompt"
            else f"run `toolmd new {kind} NAME` for a file to start from",
        )
        return None, tuple(page.diagnostics)
    front = read_front_matter(page)
    document = read_sections(page, outline(page), kind)
    report_kept(page, document.head)
    return Definition(page, kind, document, front), ()
