"""Read the lines of a page into headings with their paragraphs, lists, tables and fences."""

from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from toolmd_catalog.layout.blocks import (
    Block,
    Bullets,
    Comment,
    Fence,
    Item,
    Paragraph,
    Part,
    Raw,
    Table,
)
from toolmd_catalog.layout.headings import without_comments
from toolmd_catalog.layout.page import Mark, Page

_DEEPEST = 6
"""A heading has no more signs."""
_INDENT = 2
"""Columns by which a bullet must stand further right to belong to the one above."""
_MAX_NESTING = 80
"""Two for each list; markdown-it-py drops what is deeper."""
_BOXES = ("[ ] ", "[x] ", "[X] ")
_HOLDING = frozenset(("tr_open", "blockquote_open", "table_open"))


@cache
def _parser() -> MarkdownIt:
    """Return a block parser: CommonMark and tables, without inline rules and references."""
    md = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    # References would swallow lines like `[key]: value` without a token.
    md.block.ruler.disable("reference")
    md.core.ruler.disable(["inline", "text_join"])
    return md


def outline(page: Page) -> list[Part]:
    """Return the parts of a page in order; the first one holds what stands above any heading."""
    stream = _parser().parse("\n".join(page.lines))
    _note_dropped(page, stream)
    cursor = _Cursor(page, stream)
    parts = [Part(0, Mark("", 1))]
    while (token := cursor.take()) is not None:
        if token.type == "heading_open":
            parts.append(Part(int(token.tag[1]), Mark(cursor.inside(), _line(token))))
        elif (block := cursor.block(token)) is not None:
            if (part := _crammed(page, block)) is not None:
                parts.append(part)
            else:
                parts[-1].blocks += [block, *cursor.behind()]
    for part in parts:
        part.blocks = _joined(part.blocks)
        while part.blocks and _is_rule(part.blocks[-1]):
            part.blocks.pop()
    return parts


def _line(token: Token) -> int:
    return (token.map or [0])[0] + 1


def _note_dropped(page: Page, stream: list[Token]) -> None:
    """Note the first line that no token holds: it is nested deeper than the parser reads."""
    read: set[int] = set()
    for token in stream:
        if token.map is not None and (token.nesting == 0 or token.type in _HOLDING):
            read.update(range(*token.map))
    for number in sorted(set(range(len(page.lines))) - read):
        if page.lines[number].strip(" \t\xa0-*+>#|:=1234567890.)"):
            page.notes.append(("nested too deep: not read", number + 1))
            return


def _crammed(page: Page, block: Block) -> Part | None:
    """Read `##Safety`, a heading but for the space that it lacks, and the text right below it."""
    if not isinstance(block, Paragraph) or not block.mark.text.startswith("##"):
        return None
    first, _, below = block.mark.text.partition("\n")
    words = first.lstrip("#")
    level = len(first) - len(words)
    if level > _DEEPEST or not words.strip():
        return None
    line = block.mark.line
    page.notes.append((f"{first!r} is read as a heading: it lacks a space behind its signs", line))
    text = [Paragraph(Mark(below, line + 1))] if below.strip() else []
    return Part(level, Mark(words.strip(), line), [*text])


def _is_rule(block: Block) -> bool:
    """Return whether a block is a line drawn between two parts of the page."""
    return isinstance(block, Raw) and not block.mark.text.strip("-*_ \t")


@dataclass(slots=True)
class _Cursor:
    """A reader of the token stream."""

    page: Page
    stream: list[Token]
    position: int = 0
    left: list[Block] = field(default_factory=list)

    def take(self) -> Token | None:
        if self.position >= len(self.stream):
            return None
        self.position += 1
        return self.stream[self.position - 1]

    def inside(self) -> str:
        """Consume the text of a paragraph or a heading, and its closing token."""
        self.position += 2
        return self.stream[self.position - 2].content

    def behind(self) -> list[Block]:
        """Consume the text after the last comment."""
        taken, self.left = self.left, []
        return taken

    def block(self, token: Token) -> Block | None:
        match token.type:
            case "paragraph_open":
                return Paragraph(Mark(self.inside(), _line(token)))
            case "bullet_list_open" | "ordered_list_open":
                return self._list(token)
            case "fence":
                return self._fence(token)
            case "table_open":
                return self._table()
            case "html_block" if token.content.lstrip().startswith("<!--"):
                return self._comment(token)
            case "blockquote_open":
                while (inner := self.take()) is not None and inner.level > token.level:
                    pass
                return self._raw(token)
            case _:
                return self._raw(token)

    def _list(self, opening: Token) -> Bullets:
        items: list[Item] = []
        while (token := self.take()) is not None and token.type == "list_item_open":
            line = _line(token)
            source = self.page.lines[line - 1] if line <= len(self.page.lines) else ""
            source = source.expandtabs(4)
            indent = len(source) - len(source.lstrip())
            items.append(self._filled(Item(Mark("", line), line, indent)))
        return Bullets(items, opening.type == "ordered_list_open")

    def _filled(self, item: Item) -> Item:
        while (token := self.take()) is not None and token.type != "list_item_close":
            if token.type == "heading_open":
                text = "#" * int(token.tag[1]) + " " + self.inside()
                block: Block | None = Paragraph(Mark(text, _line(token)))
            else:
                block = self.block(token)
            if isinstance(block, Paragraph) and not item.mark.text and not item.blocks:
                text, line = block.mark
                item.mark = Mark(text[4:].strip(), line) if text[:4] in _BOXES else block.mark
            elif block is not None:
                item.blocks += [block, *self.behind()]
        item.blocks = _joined(item.blocks)
        return item

    def _fence(self, token: Token) -> Fence:
        start, end = token.map or [0, 0]
        last = self.page.lines[end - 1].strip(" \t>") if end <= len(self.page.lines) else ""
        closed = end - start > 1 and last.startswith(token.markup) and not last.strip(last[:1])
        if not closed:
            text = "this code fence is never closed, so everything below it is code: not read"
            self.page.notes.append((text, start + 1))
        return Fence(Mark(token.markup, start + 1), token.info.strip(), token.content)

    def _comment(self, token: Token) -> Comment:
        """Read a comment; what stands behind it in its last line is text."""
        text, line = token.content.rstrip(), _line(token)
        end = text.rfind("-->")
        if end < 0:
            said = "this comment is never closed, so everything below it is hidden: not read"
            self.page.notes.append((said, line))
        behind = without_comments(text).strip()
        if behind and end > 0:
            self.left = [Paragraph(Mark(behind, line + text.count("\n", 0, end)))]
        return Comment()

    def _table(self) -> Table:
        rows: list[list[Mark]] = []
        line = 1
        while (token := self.take()) is not None and token.type != "table_close":
            if token.type == "tr_open":
                rows.append([])
                line = (token.map or [line - 1])[0] + 1
            elif token.type == "inline":
                rows[-1].append(Mark(token.content, line))
        return Table(rows[0], rows[1:])

    def _raw(self, token: Token) -> Raw | None:
        if token.map is None:
            return None
        lines = self.page.lines[token.map[0] : token.map[1]]
        text = "\n".join(line.rstrip() for line in lines).strip("\n")
        return Raw(Mark(text, token.map[0] + 1))


def _joined(blocks: list[Block]) -> list[Block]:
    """Join lists that stand side by side; a bullet further right belongs to the one above it.

    CommonMark starts a new list at another marker, and nests below `1.` from three columns on;
    people do not count columns.
    """
    out: list[Block] = []
    last: Bullets | None = None
    for block in blocks:
        if isinstance(block, Bullets) and last is not None and not _begins_steps(last, block):
            _join(last, block)
            continue
        if isinstance(block, Bullets):
            last = block
        elif not isinstance(block, Comment):
            last = None
        out.append(block)
    return out


def _begins_steps(last: Bullets, following: Bullets) -> bool:
    """Return whether a numbered list behind bullets is one of its own, not nested in the last."""
    right = last.items[-1].column + _INDENT
    return following.ordered and not last.ordered and following.items[0].column < right


def _join(last: Bullets, following: Bullets) -> None:
    for item in following.items:
        above = last.items[-1]
        if item.column >= above.column + _INDENT:
            above.blocks = _joined([*above.blocks, Bullets([item], following.ordered)])
        else:
            last.items.append(item)
