"""Make headings of the tools that a part lists as bold lines, bullets or rows of a table."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolmd_catalog.layout.blocks import Block, Bullets, Item, Paragraph, Part, Raw, Table
from toolmd_catalog.layout.labels import labelled, role_of
from toolmd_catalog.layout.page import Mark, Page
from toolmd_catalog.layout.tables import columns, rows_of
from toolmd_catalog.layout.tool_headings import ToolHeading, heading_of
from toolmd_catalog.words import clean, fold

DEEPEST = 7
"""The level of a line that stands for a heading."""
_NAMES = frozenset("tool tools name function toolname functionname command method".split())
_SEVERAL = re.compile(
    r"(?:[^`]{0,80}?[:–—-]\s*)?(?P<names>`[^`]+`(?:(?:\s*(?:,|/|\+|;|and|&)\s*)+`[^`]+`)+)\W*"  # noqa: RUF001
)
_NO_TOOL = re.compile(
    r"\W*(?:optional |required )?(?:string|str|number|int|integer|bool|boolean|array|object|float|"
    r"list|dict|any|enum|required|optional)\s*(?:\[|[),:;|`]|\s[-–—(]|$)|"  # noqa: RUF001
    r"(?:[\w-]+ ){0,4}tools\b(?! (?:in|of|from|by)\b)",
    re.IGNORECASE,
)
"""Words behind a parameter's name, which are a type, and behind the name of a set of tools."""
_INSIDE = frozenset(("parameters", "shared", "returns", "example", "result", "safety"))
"""Roles of a label whose list is part of one tool."""
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
_TAG = re.compile(r"</?\w+[^<>]*>")


@dataclass(slots=True)
class _Lister:
    """Goes through the blocks of one part."""

    page: Page
    part: Part
    telling: bool
    """Whether a list is one of tools where each bullet has arguments."""
    made: list[Part]

    def blocks(self, blocks: list[Block]) -> None:
        label = role_of(self.part.heading.text)
        label = "" if label == "safety" else label  # `Authentication` has tools of its own
        for block in blocks:
            found = [] if label in _INSIDE else list(self._found(block))
            label = _label(block) if isinstance(block, Paragraph) else label
            if isinstance(block, Paragraph | Raw) or not found:
                self.made += found
                if not found:
                    self.made[-1].blocks.append(block)
                continue
            # What follows a list belongs to none of its tools.
            self.made += [*found, Part(DEEPEST, Mark("", found[-1].heading.line))]
        for part in self.made:
            part.lists = self.part.lists

    def _found(self, block: Block) -> Iterator[Part]:
        match block:
            case Paragraph():
                yield from self._lines(block.mark)
            case Raw() if summary := _SUMMARY.search(block.mark.text):
                yield from self._lines(
                    Mark(f"**{_TAG.sub('', summary[1]).strip()}**", block.mark.line)
                )
            case Bullets():
                yield from self._items(block)
            case Table():
                yield from self._rows(block)

    def _lines(self, mark: Mark) -> Iterator[Part]:
        """Yield a part for each line that begins with a bold or coded name."""
        if not (self.part.lists or self.telling):
            return
        if self.part.lists and (several := _several(mark)):
            yield from several
            return
        made: list[Part] = []
        for number, line in enumerate(mark.text.split("\n"), mark.line):
            marked = line.strip()[:2] in {"**", "__"} or line.strip()[:1] == "`"
            heading = (
                heading_of(line, listed=bool(self.part.lists))
                if marked and not role_of(line)
                else None
            )
            if heading is not None and heading.strong and " " not in heading.name:
                made.append(_part(heading, number, []))
            elif not made:
                return
            else:
                made[-1].blocks.append(Paragraph(Mark(line, number)))
        yield from made

    def _items(self, block: Bullets) -> Iterator[Part]:
        """Yield a part for each bullet that names a tool."""
        named: list[tuple[Item, ToolHeading]] = []
        for item in block.items:
            text = " ".join(item.mark.text.split())
            if self.part.lists and (several := _several(Mark(text, item.line))):
                yield from several
                continue
            heading = heading_of(text, listed=bool(self.part.lists))
            marked = self.part.lists or _unsigned(text)[:1] in {"*", "_", "`", "["}
            if heading and heading.strong and " " not in heading.name:
                if (marked or heading.signature) and not _NO_TOOL.match(heading.words):
                    named.append((item, heading))
            elif self.part.lists:
                for inner in item.blocks:
                    yield from self._items(inner) if isinstance(inner, Bullets) else ()
        telling = any(heading.signature or item.items for item, heading in named)
        whole = self.telling and telling and len(named) == len(block.items)
        if whole or (self.part.lists and len(named) * 2 >= len(block.items)):
            yield from (_part(heading, item.line, item.blocks) for item, heading in named)

    def _rows(self, block: Table) -> Iterator[Part]:
        """Yield a part for each row of a table of tools."""
        head, rows = rows_of(self.page, block)
        named = [i for i, cell in enumerate(head) if fold(clean(cell)) in _NAMES][:1]
        roles = [role_of(cell) for cell in head]
        telling = self.telling and named and "parameters" in roles[named[0] + 1 :]
        if columns(head) or not (self.part.lists or telling):
            return
        # Without a header that says so, a column of names in code is one of tools.
        named = named or [i for i in range(len(head)) if _all_code([row[i] for _, row in rows])]
        for line, row in rows:
            for at in named:
                yield from self._cell(head, row, at, line, alone=len(named) > 1)

    def _cell(
        self, head: list[str], row: list[str], at: int, line: int, *, alone: bool
    ) -> Iterator[Part]:
        """Yield the tools that one cell names; `alone` where the rest of the row is not theirs."""
        if several := _several(Mark(row[at], line)):
            yield from several
            return
        heading = heading_of(row[at], listed=at == 0)
        if heading is None or " " in heading.name or not (heading.strong or at == 0):
            return
        told = [pair for pair in zip(head[at + 1 :], row[at + 1 :], strict=False) if pair[1]]
        told = [] if alone else told
        if not (told and _NO_TOOL.match(told[0][1])):
            cells = [Paragraph(Mark(f"**{clean(label)}**: {cell}", line)) for label, cell in told]
            yield _part(heading, line, [*cells])


def _all_code(cells: list[str]) -> bool:
    """Return whether each cell of a column is a name in code, or begins with one."""
    found = [heading_of(cell) if cell.startswith("`") else None for cell in cells if cell]
    return bool(found) and all(heading and heading.strong for heading in found)


def listed(page: Page, parts: list[Part], *, telling: bool) -> list[Part]:
    """Return the parts; a bold line, a bullet or a row that names a tool becomes a heading.

    `telling` allows lists outside of a list of tools, where they show the arguments of each.
    """
    made: list[Part] = []
    for part in parts:
        lister = _Lister(page, part, telling, [Part(part.level, part.heading)])
        lister.blocks(part.blocks)
        made += lister.made
    return made


def _several(mark: Mark) -> list[Part]:
    """Return the tools of a text that is only a list of names in code: `a`, `b` and `c`."""
    match = _SEVERAL.fullmatch(clean(mark.text))
    if match is None:
        return []
    headings = [heading_of(f"`{name}`") for name in re.findall(r"`([^`]+)`", match["names"])]
    named = [heading for heading in headings if heading is not None and " " not in heading.name]
    return [_part(h, mark.line, []) for h in named] if len(named) == len(headings) else []


def _part(heading: ToolHeading, line: int, blocks: list[Block]) -> Part:
    inside, _, gives = heading.signature.partition(" -> ")
    signature = f"({inside.strip()})" if heading.signature else ""
    name = f"`{heading.name}{signature}`" + (f" -> {gives}" if gives else "")
    words: list[Block] = [Paragraph(Mark(heading.words, line))] if heading.words else []
    return Part(DEEPEST, Mark(name, line), [*words, *blocks])


def _label(block: Paragraph) -> str:
    """Return the role of what follows a paragraph: `Parameters:`."""
    last = block.mark.text.rpartition("\n")[2]
    found = labelled(last)
    return found[0] if found is not None and not found[2] else ""


def _unsigned(text: str) -> str:
    """Return a bullet's text without emoji and other signs in front."""
    return re.sub(r"^[^\w`*\[_(]+", "", text)
