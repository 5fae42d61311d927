"""What tools and skills share: a file opened down to its sections, and the books closed."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from toolmd._parse.blocks.block import Paragraph
from toolmd._parse.blocks.outline import outline
from toolmd._parse.blocks.prose import prose, with_headings
from toolmd._parse.blocks.tokens import source_lines
from toolmd._parse.document.front_matter import FrontMatter, read_front_matter
from toolmd._parse.document.sections import Document, Section, read_sections
from toolmd._parse.document.strays import report_strays
from toolmd._parse.fields.field import SectionTable
from toolmd._parse.fields.table import TABLES, section_of
from toolmd._parse.source.mojibake import report_mojibake
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.source.text import MAX_BYTES
from toolmd._parse.words.keys import fold
from toolmd._types.code import Code
from toolmd._types.definition import Noun
from toolmd._types.diagnostic import Diagnostic
from toolmd._types.source import Position, Source

_N = TypeVar("_N", bound=Noun)


@dataclass(slots=True)
class Definition:
    """A file on its way to a spec."""

    page: Page
    kind: str
    document: Document
    front: FrontMatter
    missing: set[str] = field(default_factory=set)
    places: dict[str, Position] = field(default_factory=dict)
    """Where the values of the Metadata stand."""

    def section(self, name: str) -> Section | None:
        """Find a section; a needed one that is not there is reported, once."""
        found = self.document.known.get(name)
        table = next(t for t in TABLES[self.kind] if t.name == name)
        if found is None and table.needed and name not in self.missing:
            self.missing.add(name)
            if self._swallowed():
                return None
            help_ = f"add `## {name}`" + (" with `None` below it" if name == "Parameters" else "")
            meant = self._meant(table)
            if meant is not None:
                help_ = f"write `## {name}` instead of '{meant.text}'"
            message = f"there is no section '{name}'"
            self.page.error(Code.MISSING_SECTION, meant or self._end(), message, help_)
        return found

    def _meant(self, table: SectionTable) -> Mark | None:
        """Give the title that holds a missing section's name, if there is one."""
        names = {fold(name) for name in (table.name, *table.aliases)}
        for section in self.document.others:
            if fold(table.name).removesuffix("s") in fold(section.title):
                return section.mark
        known = [section.blocks for section in self.document.known.values()]
        for block in [b for blocks in (self.document.head, *known) for b in blocks]:
            if isinstance(block, Paragraph) and fold(block.mark.text) in names:
                return block.mark
        return None

    def _swallowed(self) -> bool:
        """Whether an error reported already hides sections, so that missing ones are no news."""
        hiding = {Code.UNCLOSED_FENCE, Code.NESTED_TOO_DEEP, Code.FRONT_MATTER}
        return any(d.code in hiding for d in self.page.diagnostics)

    def _end(self) -> Mark:
        lines = self.page.lines
        last = next((n for n in range(len(lines), 0, -1) if lines[n - 1].strip()), 1)
        return Mark("", last, len(lines[last - 1]) + 1 if lines else 1)

    def prose_of(self, name: str) -> str:
        """Give a section's text whole."""
        section = self.document.known.get(name)
        if section is None:
            return ""
        report_strays(self.page, section.blocks, section.parts, None)
        texts = prose(section.blocks), with_headings(section.parts, section.level + 1)
        return "\n\n".join(text for text in texts if text)

    def kept(self) -> dict[str, str]:
        """Give the prose that is kept, by section; a restriction in it closes the door."""
        for section in self.document.others:
            here = section_of(self.kind, fold(section.title))
            report_strays(self.page, section.blocks, section.parts, here)
        return self.document.prose()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Give what was found, in the order of the file."""
        return tuple(sorted(self.page.diagnostics, key=lambda d: (d.span.line, d.span.column)))

    def finish(
        self, noun: type[_N], said: dict[str, Any]
    ) -> tuple[_N | None, tuple[Diagnostic, ...]]:
        """Make the noun, unless an error keeps the door closed."""
        said["source"] = Source(self.page.path, self.document.line)
        spec = None if self.page.has_errors else noun(**said)
        return spec, self.diagnostics


def open_definition(
    text: str, path: str, kind: str
) -> tuple[Definition | None, tuple[Diagnostic, ...]]:
    """Read a file down to its sections; None where there is nothing to read."""
    page = Page(path, source_lines(text))
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
            f"`toolmd new {kind} NAME` writes one to begin with",
        )
        return None, tuple(page.diagnostics)
    report_mojibake(page)
    front = read_front_matter(page)
    document = read_sections(page, outline(page), kind)
    report_strays(page, document.head, (), None)
    return Definition(page, kind, document, front), ()
