"""The blocks of a page: headings with the paragraphs, lists, tables and fences below them."""

from dataclasses import dataclass, field

from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import comments

_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


@dataclass(slots=True)
class Paragraph:
    """A paragraph with its line breaks kept."""

    mark: Mark


@dataclass(slots=True)
class Fence:
    """A code fence; its content is not parsed."""

    mark: Mark
    info: str
    content: str


@dataclass(slots=True)
class Item:
    """A bullet: its first paragraph and the blocks nested below it."""

    mark: Mark
    line: int
    column: int
    blocks: "list[Block]" = field(default_factory=list)
    checked: bool | None = None
    """Whether the checkbox before its text is ticked; None without a checkbox."""
    comments: tuple[str, ...] = ()
    """The HTML comments after its text."""

    def begin(self, mark: Mark) -> None:
        """Set the text; `[x]` or `[ ]` at its start is a checkbox, comments end it."""
        self.checked = _BOXES.get(mark.text[:4])
        mark = mark if self.checked is None else mark.at(4).strip()
        text, before = mark.text, comments(mark.text) if mark.text.endswith("-->") else []
        while before and text.endswith(before[-1]):
            self.comments = (before[-1], *self.comments)
            text = text.removesuffix(before.pop()).rstrip()
        self.mark = mark._replace(text=text) if self.comments else mark

    @property
    def items(self) -> "list[Item]":
        """Return the bullets nested directly below."""
        return [item for block in self.blocks if isinstance(block, Bullets) for item in block.items]


@dataclass(slots=True)
class Bullets:
    """A list, bulleted or numbered."""

    items: list[Item]
    ordered: bool


@dataclass(slots=True)
class Table:
    """A table: the cells of the header and of each row, as marks."""

    head: list[Mark]
    rows: list[list[Mark]]


@dataclass(slots=True)
class Comment:
    """An HTML comment; not part of the definition."""

    mark: Mark


@dataclass(slots=True)
class Raw:
    """Markdown without fields: quotes, rules, indented code, HTML."""

    mark: Mark


Block = Paragraph | Fence | Bullets | Table | Comment | Raw


def mark_of(block: Block) -> Mark:
    """Return the mark at which a block begins."""
    if isinstance(block, Bullets):
        return block.items[0].mark
    return block.head[0] if isinstance(block, Table) else block.mark


@dataclass(slots=True)
class Part:
    """A heading and the blocks up to the next heading; level 0 is the text above any heading."""

    level: int
    heading: Mark
    blocks: list[Block] = field(default_factory=list)
