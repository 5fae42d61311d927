"""The blocks of markdown: headings with the paragraphs, lists, tables and fences below them."""

from dataclasses import dataclass, field

from toolmd_catalog.layout.page import Mark


@dataclass(slots=True)
class Paragraph:
    """Text as it stands, line for line."""

    mark: Mark


@dataclass(slots=True)
class Fence:
    """A code block."""

    mark: Mark
    info: str
    content: str


@dataclass(slots=True)
class Item:
    """A bullet: its first paragraph, and what is nested below it."""

    mark: Mark
    line: int
    column: int
    """Its indent."""
    blocks: "list[Block]" = field(default_factory=list)

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
    """An HTML comment."""


@dataclass(slots=True)
class Raw:
    """Markdown that describes no tool: quotes, rules, indented code, HTML."""

    mark: Mark


Block = Paragraph | Fence | Bullets | Table | Comment | Raw


@dataclass(slots=True)
class Part:
    """A heading and the blocks below it, up to the next heading; level 0 is the page's head."""

    level: int
    heading: Mark
    blocks: list[Block] = field(default_factory=list)
    lists: bool | None = None
    """Whether the headings above say that tools are listed here; None where they don't say."""
