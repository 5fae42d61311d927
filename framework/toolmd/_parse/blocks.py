"""The blocks of a page, and the canonical markdown of blocks that are kept as prose."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolmd._parse.page import Mark
from toolmd._parse.words import comments, flow, plain, split, without_comments
from toolmd._types.field import Row

_NOWHERE = Mark("", 1, 1)
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
class Node:
    """A bullet, a row or a line: `key: value` where it has a key, and the blocks below it."""

    key: Mark
    """The whole text of a node without a value."""
    value: Mark
    blocks: "list[Block]" = field(default_factory=list)
    mark: Mark = _NOWHERE
    """The whole text of a bullet."""
    column: int = 0
    """The indentation of a bullet."""
    keyed: bool = True
    """Whether it is `key: value`; `- Required` is not."""
    checked: bool | None = None
    """Whether the checkbox before a bullet's text is ticked; None without a checkbox."""
    comments: tuple[str, ...] = ()
    """The HTML comments after a bullet's text."""
    headed: bool = False
    """Whether it is a heading, read as a bullet."""
    listed: list[Mark] | None = None
    """The value as a list, if front matter has one."""
    implied: bool = False
    """Whether a word or a sign implies it, as in `name?`."""
    known: Row | None = None
    """The field that the key names, if it was already found."""

    @classmethod
    def bullet(cls, mark: Mark, column: int = 0) -> "Node":
        """Build a bullet from its text; `[x]` or `[ ]` at its start is a checkbox."""
        node = cls(mark, mark, column=column)
        node.begin(mark)
        return node

    def begin(self, mark: Mark) -> None:
        """Set the text; `[x]` or `[ ]` at its start is a checkbox, comments end it."""
        self.checked = _BOXES.get(mark.text[:4])
        mark = mark if self.checked is None else mark.at(4).strip()
        text, before = mark.text, comments(mark.text) if mark.text.endswith("-->") else []
        while before and text.endswith(before[-1]):
            self.comments = (before[-1], *self.comments)
            text = text.removesuffix(before.pop()).rstrip()
        self.mark = mark = mark._replace(text=text) if self.comments else mark
        pair = split(mark)
        self.keyed = pair is not None
        self.key, self.value = (pair.key, pair.value) if pair else (mark, mark._replace(text=""))

    @property
    def items(self) -> "list[Node]":
        """Return the bullets nested directly below."""
        return [item for block in self.blocks if isinstance(block, Bullets) for item in block.items]

    @property
    def entry(self) -> "Node | None":
        """Return the node if it is `key: value`, or None."""
        return self if self.keyed else None

    @property
    def written(self) -> Mark:
        """Return the value, or the key where there is none."""
        return self.value if self.value.text else self.key

    @property
    def spot(self) -> Mark:
        """Return the key, or the value where a column or its place implies the key."""
        return self.value if self.key[1:] == self.value[1:] else self.key

    @property
    def name(self) -> str:
        """Return the key without markup."""
        return plain(self.key.text)

    @property
    def text(self) -> str:
        """Return the value on one line, without comments."""
        return flow(self.value.text)


@dataclass(slots=True)
class Bullets:
    """A list, bulleted or numbered."""

    items: list[Node]
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


def prose(blocks: Sequence[Block]) -> str:
    """Return blocks as markdown; blocks with the same meaning give the same text."""
    if not blocks:
        return ""
    return "\n\n".join(text for text in map(_block, blocks) if text)


def with_headings(parts: list[Part], above: int) -> str:
    """Return parts as markdown, with heading levels counted from the heading above them."""
    texts = []
    for part in parts:
        if part.heading.text:
            texts.append(f"{'#' * max(part.level - above + 2, 3)} {_lines(part.heading.text)}")
        texts.append(prose(part.blocks))
    return "\n\n".join(text for text in texts if text)


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _lines(block.mark.text)
        case Fence():
            ticks = "`" * max(3, _longest_run(block.content, "`") + 1)
            return f"{ticks}{block.info}\n{block.content.rstrip(chr(10))}\n{ticks}"
        case Bullets():
            return _list(block)
        case Table():
            return _table(block)
        case Comment():
            return ""
        case Raw():
            return block.mark.text


def _list(block: Bullets) -> str:
    lines = []
    for number, item in enumerate(block.items, 1):
        sign = f"{number}. " if block.ordered else "- "
        indent = " " * len(sign)
        body = [_item(item), *(_block(b) for b in item.blocks)]
        text = body[0]
        for block_, more in zip(item.blocks, body[1:], strict=True):
            text += ("\n" if isinstance(block_, Bullets) else "\n\n") + more if more else ""
        lines.append(
            sign + "\n".join(f"{indent}{ln}" if ln else "" for ln in text.split("\n"))[len(sign) :]
        )
    return "\n".join(lines)


def _item(item: Node) -> str:
    """Return a bullet's text, with a bold key written as `**Key**: value`."""
    text = _lines(item.mark.text)
    if item.checked is not None:
        return f"[{'x' if item.checked else ' '}] {text}"
    pair = split(Mark(text, 1, 1))
    if pair is not None and pair.marked and text.startswith(("**", "__")):
        return f"**{pair.key.text.strip()}**: {pair.value.text}".rstrip()
    return text


def _table(block: Table) -> str:
    rows = [block.head, *block.rows]
    cells = [[_lines(cell.text).replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(block.head), *lines[1:]])


def _lines(text: str) -> str:
    return "\n".join(line.strip() for line in without_comments(text).split("\n")).strip()


def _longest_run(text: str, char: str) -> int:
    longest = run = 0
    for c in text:
        run = run + 1 if c == char else 0
        longest = max(longest, run)
    return longest
