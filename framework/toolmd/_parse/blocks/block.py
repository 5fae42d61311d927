"""Headings with what stands below them: paragraphs, lists, tables and fences, each in its place."""

from dataclasses import dataclass, field

from toolmd._parse.source.page import Mark

_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


@dataclass(slots=True)
class Paragraph:
    """Text as it stands, line for line."""

    mark: Mark


@dataclass(slots=True)
class Fence:
    """Opaque code."""

    mark: Mark
    info: str
    content: str


@dataclass(slots=True)
class Item:
    """A bullet: its first paragraph, and what is nested below it."""

    mark: Mark
    line: int
    column: int
    blocks: "list[Block]" = field(default_factory=list)
    checked: bool | None = None
    """Whether the box before its words is ticked, where there is one."""

    def begin(self, mark: Mark) -> None:
        """Take its words; `[x]` and `[ ]` before them are a box."""
        self.checked = _BOXES.get(mark.text[:4])
        self.mark = mark if self.checked is None else mark.at(4).strip()

    @property
    def items(self) -> "list[Item]":
        """The bullets nested directly below."""
        return [item for block in self.blocks if isinstance(block, Bullets) for item in block.items]


@dataclass(slots=True)
class Bullets:
    """A list, bulleted or numbered."""

    items: list[Item]
    ordered: bool


@dataclass(slots=True)
class Table:
    """Cells as marks, the header apart."""

    head: list[Mark]
    rows: list[list[Mark]]


@dataclass(slots=True)
class Comment:
    """An HTML comment: the author's own, no part of the definition."""

    mark: Mark


@dataclass(slots=True)
class Raw:
    """Markdown that carries no fields: quotes, rules, indented code, HTML."""

    mark: Mark


Block = Paragraph | Fence | Bullets | Table | Comment | Raw


def mark_of(block: Block) -> Mark:
    """Give where a block begins."""
    if isinstance(block, Bullets):
        return block.items[0].mark
    return block.head[0] if isinstance(block, Table) else block.mark


@dataclass(slots=True)
class Part:
    """A heading and the blocks below it, up to the next heading; level 0 is the file's head."""

    level: int
    heading: Mark
    blocks: list[Block] = field(default_factory=list)
