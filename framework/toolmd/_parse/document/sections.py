"""Sort the parts of a page into the sections of a tool or a skill, at any level, in any order."""

from dataclasses import dataclass, field

from toolmd._parse.blocks.block import Block, Bullets, Comment, Item, Paragraph, Part, Table
from toolmd._parse.blocks.prose import prose, with_headings
from toolmd._parse.fields.entries import item_entry
from toolmd._parse.fields.field import SectionTable
from toolmd._parse.fields.parameter import PARAMETER
from toolmd._parse.fields.table import TABLES, section_of
from toolmd._parse.source.page import Mark, Page, insert_below, replace
from toolmd._parse.words.keys import fold, heading_text, section_title, split
from toolmd._parse.words.slips import is_slip
from toolmd._types.code import Code

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
    _report_headless(page, document, kind)
    return document


def _title(page: Page, rest: list[Part], kind: str) -> Part | None:
    if rest and rest[0].level == 1:
        return rest[0]
    words = section_title(rest[0].heading.text) if rest else ""
    if rest and not section_of(kind, words):
        return rest[0]
    page.error(
        Code.MISSING_TITLE,
        rest[0].heading if rest else Mark("", 1, 1),
        "the title is missing",
        "begin with `# Title` and a paragraph that says what the definition does",
    )
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
            tables[at] = _repaired(page, part, titles[at], kind, named)
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
            page.error(
                Code.DUPLICATE_SECTION,
                section.mark,
                f"there are two sections '{table.name}'",
                f"join them; the first is in line {document.known[table.name].mark.line}",
            )
        else:
            document.known[table.name] = section
        current = section


def _report_meant(page: Page, mark: Mark, table: SectionTable, why: str) -> None:
    """Report a title that means a section: an error for restrictions, otherwise a warning."""
    fix = replace(mark, table.name)
    if table.restricts:
        message = f"unknown section '{mark.text}'; {why}"
        page.error(Code.MISSPELT_SECTION, mark, message, f"did you mean '{table.name}'?", fix)
    else:
        message = f"the section '{mark.text}' was read as '{table.name}'"
        page.warn(Code.MISSPELT_SECTION, mark, message, f"write '{table.name}'", fix)


def _report_headless(page: Page, document: Document, kind: str) -> None:
    """Report parameters without the heading of their section, and read them as that section."""
    missing = (
        t for t in TABLES[kind] if t.children == "parameters" and t.name not in document.known
    )
    table = next(missing, None)
    for section in [*document.known.values()] if table else ():
        first = next((at for at, part in enumerate(section.parts) if _has_type(part)), None)
        if table is None or first is None or section.table is None or section.table.children:
            continue
        parts, section.parts = section.parts[first:], section.parts[:first]
        mark, heading = parts[0].heading, f"{'#' * section.level} {table.name}"
        page.error(
            Code.MISSING_SECTION,
            mark,
            f"the section '{table.name}' is missing",
            f"add `{heading}` before line {mark.line}",
            insert_below(mark.line - 1, f"{heading}\n"),
        )
        document.known[table.name] = Section(table, table.name, mark, section.level, [], parts)
        return


def _repaired(
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
        _report_meant(page, mark, table, "restrictions are never guessed")
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


def _sets(item: Item) -> bool:
    return item.mark.text.startswith("`") or item_entry(item) is not None


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
                entry = item_entry(item)
                known = PARAMETER.field(entry.key.text) if entry else None
                if known is not None and known.attribute in {"types", "required"}:
                    return True
    return False
