"""What tools and skills share: the head, the metadata, the sections, the closing of the books."""

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeVar

from toolmark._model.code import Code
from toolmark._model.diagnostic import Diagnostic, Edit
from toolmark._model.schema import Noun
from toolmark._model.source import Source
from toolmark._parse.entries import Entry, Fields, flow, name_fields, read_entries
from toolmark._parse.fields import TABLES, SectionTable
from toolmark._parse.front_matter import FrontMatter, read_front_matter
from toolmark._parse.keys import fold, plain
from toolmark._parse.mojibake import report_mojibake
from toolmark._parse.outline import outline
from toolmark._parse.page import Mark, Page, insert_below, replace
from toolmark._parse.prose import prose, with_headings
from toolmark._parse.sections import Document, Section, keep, read_sections
from toolmark._parse.tokens import source_lines
from toolmark._parse.values import read_values

MAX_BYTES = 64 * 1024
_MAX_NAME = 64
_N = TypeVar("_N", bound=Noun)


@dataclass(slots=True)
class Definition:
    """A file on its way to a spec."""

    page: Page
    kind: str
    document: Document
    front: FrontMatter
    missing: set[str] = field(default_factory=set)

    def section(self, name: str) -> Section | None:
        """Find a section; a needed one that is not there is reported, once."""
        found = self.document.known.get(name)
        table = next(t for t in TABLES[self.kind] if t.name == name)
        if found is None and table.needed and name not in self.missing:
            self.missing.add(name)
            if self._swallowed():
                return None
            self.page.error(
                Code.MISSING_SECTION,
                self._end(),
                f"there is no section '{name}'",
                f"add `## {name}`" + (" with `None` below it" if name == "Parameters" else ""),
            )
        return found

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
        texts = prose(section.blocks), with_headings(section.parts, section.level + 1)
        return "\n\n".join(text for text in texts if text)

    def metadata(self) -> dict[str, Any]:
        """Read the head and Metadata: the values for the noun's fields, defaults reported."""
        entries, table = self._metadata_entries()
        fields = name_fields(self.page, entries, table, self.kind)
        values = read_values(self.page, fields)
        values["title"] = self.document.title
        values["description"] = self._description(fields)
        values["notes"] = self.document.notes
        values["extra"] = self._extra(fields)
        self._defaults(values, fields)
        return values

    def _metadata_entries(self) -> tuple[list[Entry], SectionTable]:
        table = TABLES[self.kind][0]
        head = {fold(e.name): e for e in self.front.entries}
        entries = list(self.front.entries)
        section = self.document.known.get("Metadata")
        if section is None and not entries:
            self.section("Metadata")
        if section is not None and section.table is not None:
            read = read_entries(self.page, section.blocks, section.table)
            keep(self.document, section, read.prose, section.parts)
            for entry in read.entries:
                known = table.field(entry.key.text)
                twin = next((e for e in head.values() if known and table.field(e.key.text) is known), None)
                if twin is None:
                    entries.append(entry)
                elif not _same(twin, entry):
                    self.page.error(
                        Code.CONFLICT,
                        entry.value,
                        f"'{entry.name}' is '{entry.text}' here and '{twin.text}' in the front matter",
                        "keep one of the two",
                    )
        return entries, table

    def _description(self, fields: Fields) -> str:
        """Take the first paragraph, else the front matter's description."""
        for entry in list(fields.unknown):
            if fold(entry.name) not in {"description", "title"}:
                continue
            fields.unknown.remove(entry)
            attribute = fold(entry.name)
            said = getattr(self.document, attribute)
            if not said:
                setattr(self.document, attribute, entry.text)
            elif said != entry.text and attribute == "description":
                self.page.error(
                    Code.CONFLICT,
                    entry.value,
                    "the description in the metadata differs from the paragraph below the title",
                    "keep one of the two",
                )
        if not self.document.description:
            self.page.error(
                Code.MISSING_DESCRIPTION,
                self.document.mark,
                "there is no description",
                "write a paragraph below the title that tells what it does",
            )
        return self.document.description

    def _extra(self, fields: Fields) -> dict[str, Any]:
        extra: dict[str, Any] = {}
        for entry in fields.unknown:
            key = "_".join("".join(c if c.isalnum() else " " for c in entry.name.lower()).split())
            nested = prose(entry.blocks)
            extra[key] = (
                [m.text for m in entry.listed]
                if entry.listed is not None
                else "\n\n".join(t for t in (plain(entry.text), nested) if t)
            )
            self._extra_warning(entry.key, entry.name)
        for mark, data in self.front.nested:
            extra[mark.text] = data
            self._refuse_nested(mark)
        return extra

    def _extra_warning(self, mark: Mark, name: str) -> None:
        self.page.warn(
            Code.UNKNOWN_FIELD,
            mark,
            f"Metadata has no field '{name}'; it is kept under `extra`",
            "take it away if it is a slip",
        )

    def _refuse_nested(self, mark: Mark) -> None:
        """A map in front matter may be foreign metadata, but no section of the definition."""
        name = mark.text
        sections = {fold(n): t for t in TABLES[self.kind] for n in (t.name, *t.aliases)}
        if fold(name) in sections:
            self.page.error(
                Code.MISPLACED_FIELD,
                mark,
                f"'{name}' can't stand in the front matter",
                f"write it as `## {sections[fold(name)].name}`",
            )
        else:
            self._extra_warning(mark, name)

    def _defaults(self, values: dict[str, Any], fields: Fields) -> None:
        section = self.document.known.get("Metadata")
        if "Metadata" in self.missing:
            values |= {"name": "unnamed", "version": "", "category": ""}
            return
        mark = section.mark if section else Mark("", self.document.line, 1)
        stem = PurePath(self.page.path).name.split(".")[0] or "tool"
        fallback = _mended_name(stem)
        entry = fields.entry("name")
        if entry is not None and values.get("name"):
            values["name"] = self._name(entry, values["name"])
        elif not self.page.refused or entry is None:
            fix = insert_below(section.mark.line + 1, f"- **Name**: {fallback}") if section else ()
            self.page.warn(
                Code.MISSING_NAME,
                mark,
                f"there is no Name; '{fallback}' was taken from the file's name",
                f"add `- **Name**: {fallback}`",
                fix,
            )
        values.setdefault("name", fallback)
        for name, attribute, code, default in (
            ("Version", "version", Code.MISSING_VERSION, "1.0.0"),
            ("Category", "category", Code.MISSING_CATEGORY, "general"),
        ):
            if values.get(attribute):
                continue
            values[attribute] = default
            anchor = entry.key.line if entry is not None and section is not None else 0
            self.page.warn(
                code,
                mark,
                f"there is no {name}; '{default}' was taken",
                f"add `- **{name}**: {default}`",
                insert_below(anchor, f"- **{name}**: {default}") if anchor else (),
            )

    def _name(self, entry: Entry, name: str) -> str:
        folded = name.replace("-", "_")
        if _is_name(folded):
            return folded
        mended = _mended_name(name)
        mark = self.page.mark(name, entry.value.line, entry.value.column)
        if _is_name(mended) and name.replace(" ", "").replace("-", "").replace("_", "").isalnum():
            self.page.warn(
                Code.INVALID_NAME,
                mark,
                f"'{name}' is no name to call; read as '{mended}'",
                f"write '{mended}'",
                replace(mark, mended),
            )
            return mended
        self.page.error(
            Code.INVALID_NAME,
            mark,
            f"'{name}' is no name to call",
            "use small letters, digits and _, at most 64, a letter first",
        )
        return "unnamed"

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Give what was found, in the order of the file."""
        return tuple(sorted(self.page.diagnostics, key=lambda d: (d.span.line, d.span.column)))

    def finish(self, noun: type[_N], said: dict[str, Any]) -> tuple[_N | None, tuple[Diagnostic, ...]]:
        """Make the noun, unless an error keeps the door closed."""
        said["source"] = Source(self.page.path, self.document.line)
        spec = None if self.page.refused else noun(**said)
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
            f"`toolmark new {kind} NAME` writes one to begin with",
        )
        return None, tuple(page.diagnostics)
    report_mojibake(page)
    front = read_front_matter(page)
    document = read_sections(page, outline(page), kind)
    return Definition(page, kind, document, front), ()


def decode(data: bytes, path: str) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """Give a file's text; None, and where it went wrong, where it is not UTF-8 or too large."""
    page = Page(path, [])
    if len(data) > MAX_BYTES:
        page.error(
            Code.FILE_TOO_LARGE,
            Mark("", 1, 1),
            f"the file has {len(data):,} bytes; at most {MAX_BYTES:,} are read",
            "split it, or move its prose elsewhere",
        )
        return None, tuple(page.diagnostics)
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        page.error(
            Code.NOT_UTF8,
            Mark("", line, column),
            f"the file is not UTF-8: byte {data[error.start]:#04x} at offset {error.start}",
            "save it as UTF-8",
        )
        return None, tuple(page.diagnostics)


def _same(a: Entry, b: Entry) -> bool:
    def said(entry: Entry) -> str:
        words = [m.text for m in entry.listed] if entry.listed is not None else [entry.text]
        return fold(" ".join([*words, *(i.mark.text for i in entry.items)]))

    return said(a) == said(b)


def _is_name(name: str) -> bool:
    return (
        0 < len(name) <= _MAX_NAME
        and name.isascii()
        and name.replace("_", "").isalnum()
        and name[0].isalpha()
        and name == name.lower()
    )


def _mended_name(text: str) -> str:
    """Give the snake-case name that words, kebab or camel case stand for."""
    out = ""
    for at, char in enumerate(text):
        if char.isupper() and at and (text[at - 1].islower() or text[at - 1].isdigit()):
            out += "_"
        out += char.lower() if char.isalnum() and char.isascii() else "_"
    name = "_".join(part for part in out.split("_") if part)[:_MAX_NAME]
    return name if _is_name(name) else "unnamed"
