"""Turn text into headings with their paragraphs, lists, tables and fences (CommonMark)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, takewhile
from textwrap import dedent, indent

from markdown_it import MarkdownIt
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from toolmd._parse.blocks import Block, Bullets, Comment, Fence, Node, Paragraph, Part, Raw, Table
from toolmd._parse.page import Mark, Page, replace
from toolmd._parse.words import comments, without_comments
from toolmd._types.code import Code

PLAIN_BULLETS = "plain_bullets"
"""The token's type; its map contains the lines. Each level is indented by two columns."""
BULLET_INDENT = 2

_OPENS_A_BLOCK = r"[-+#<>~\d]|\*[ \t]|```|[*_ \t]+(?:\n|\Z)"
"""Text after a marker that opens another list, a heading, a quote, HTML, a fence or a rule."""
_RUN = re.compile(
    rf"(?:(?:  ){{0,7}}- (?!{_OPENS_A_BLOCK})[^\s\ufffd][^\n\ufffd]*(?:\n|\Z))++"
    r"(?:\Z|(?=\n++(?:[^\s-]|\Z)))"
)
"""One-line bullets, followed by the end of the text or by an empty line and another block."""


def _plain_bullets(state: StateBlock, line: int, _end: int, silent: bool) -> bool:  # noqa: FBT001 - as called
    """Read a run of one-line `-` bullets as one token.

    Definitions consist mostly of such runs. The stock rule starts a nested parser for each bullet
    and emits five tokens for it, which is most of the time that reading a file takes.
    """
    start = state.bMarks[line]
    if silent or state.level or not state.src.startswith("- ", start):
        return False
    run = _RUN.match(state.src, start)
    if run is None:
        return False
    after = line + state.src.count("\n", start, run.end() - 1) + 1
    shifts = state.tShift[line:after]
    if shifts[0] or any(below > above + BULLET_INDENT for above, below in pairwise(shifts)):
        return False
    state.line = after
    state.push(PLAIN_BULLETS, "", 0).map = [line, after]
    return True


MAX_NESTING = 144
"""Two levels for each list; markdown-it-py drops deeper lines, which `report_unread` reports."""

_NEEDS = {
    "table": ("|",),
    "fence": ("```", "~~~"),
    "blockquote": (">",),
    "html_block": ("<",),
    "code": ("    ", "\t"),
}
"""The signs that a text must contain for a block rule to match anything in it.

Every rule is tried at every line, so leaving out those that can't match halves the time.
"""
_RULED = ("hr", "lheading")
_RULE_SIGNS = "=-_* \t>+0123456789.)"
"""The characters of rules and heading underlines, also within a list or a quote."""


@cache
def markdown(rules: tuple[str, ...]) -> MarkdownIt:
    """Build the block parser: CommonMark and tables, without inline rules and references."""
    md = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    # References would swallow lines like `[key]: value` without a token.
    md.block.ruler.disable(
        ["reference", *(rule for rule in (*_NEEDS, *_RULED) if rule not in rules)]
    )
    md.core.ruler.disable(["inline", "text_join"])
    md.block.ruler.before("list", PLAIN_BULLETS, _plain_bullets)
    return md


def source_lines(text: str) -> list[str]:
    """Split at newlines as markdown-it-py does; drop a byte order mark and carriage returns."""
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def parser_for(lines: list[str]) -> MarkdownIt:
    """Return the parser with only the rules that these lines can need."""
    text = "\n".join(lines)
    rules = tuple(rule for rule, signs in _NEEDS.items() if any(sign in text for sign in signs))
    if any(line and not line.strip(_RULE_SIGNS) for line in lines):
        rules += _RULED
    return markdown(rules)


MAX_LIST_DEPTH = 68
"""Four lists for each of the 16 levels that shapes of One Of may nest, and the lists around."""

_HOLDING = frozenset(("tr_open", "blockquote_open", "table_open"))


def report_unread(page: Page, stream: list[Token]) -> None:
    """Report the first line without a token: markdown-it-py drops lists that nest too deep."""
    read: set[int] = set()
    for token in stream:
        if token.map is not None and (token.nesting == 0 or token.type in _HOLDING):
            read.update(range(*token.map))
    for number in sorted(set(range(len(page.lines))) - read):
        line = page.lines[number]
        if line.strip(" \t\xa0-*+>#|:=1234567890.)"):
            too_deep(page, page.mark(line.strip(), number + 1))
            return


def too_deep(page: Page, mark: Mark) -> None:
    """Report the first line of a list that nests too deep to be read."""
    what = f"lists may nest {MAX_LIST_DEPTH} levels deep; this line is deeper and can't be read"
    page.error(Code.NESTED_TOO_DEEP, mark, what, "make the object flatter")


def extra_cells(page: Page, line: int, after: int, columns: int) -> list[Mark]:
    """Return the cells of a table row that come after the last column of the header."""
    row = page.lines[line - 1].strip().removeprefix("|").removesuffix("|")
    marks = []
    for cell in map(str.strip, escapedSplit(row)[columns:]):
        if cell:
            marks.append(page.mark(cell, line, after))
            after = marks[-1].column + len(cell)
    return marks


_DEEPEST = 6
"""The most signs that a heading can have."""
NESTED_INDENT = 2
"""The columns by which a bullet must be indented further to belong to the one above."""


def outline(page: Page) -> list[Part]:
    """Return the parts of a page in order; the first contains the text above any heading."""
    tokens = parser_for(page.lines).parse("\n".join(page.lines))
    report_unread(page, tokens)
    cursor = _Cursor(page, iter(tokens))
    parts = [Part(0, Mark("", 1, 1))]
    for token in cursor.stream:
        if token.type == "heading_open":
            line = (token.map or [0])[0] + 1
            parts.append(Part(int(token.tag[1]), page.mark(cursor.inside(), line)))
        elif blocks := cursor.blocks(token):
            top = len(parts) == 1 and not parts[0].blocks
            if (part := _crammed(page, blocks[0], top=top)) is not None:
                parts.append(part)
            else:
                parts[-1].blocks += blocks
    for part in parts:
        part.blocks = joined(part.blocks)
        while part.blocks and _is_rule(part.blocks[-1]):
            part.blocks.pop()
    return parts


def _crammed(page: Page, block: Block, *, top: bool) -> Part | None:
    """Read `##Safety`, or `#Title` at the top, a heading without the space after its signs."""
    if not isinstance(block, Paragraph) or not block.mark.text.startswith("#"):
        return None
    first, _, below = block.mark.text.partition("\n")
    words = first.lstrip("#")
    level = len(first) - len(words)
    if level > _DEEPEST or not words.strip() or (level == 1 and not (top and words[0].isalpha())):
        return None
    mark = block.mark.at(0, len(first))
    page.warn(
        Code.MISSPELT_SECTION,
        mark,
        f"'{first}' was read as a heading; a heading needs a space after its signs",
        f"write '{first[:level]} {words.strip()}'",
        replace(mark, f"{first[:level]} {words.strip()}"),
    )
    text = Paragraph(page.mark(below, mark.line + 1))
    return Part(level, mark.at(level).strip(), [text] if below.strip() else [])


def _is_rule(block: Block) -> bool:
    """Return whether a block is a horizontal rule."""
    return isinstance(block, Raw) and not block.mark.text.strip("-*_ \t")


@dataclass(slots=True)
class _Cursor:
    """A reader of the token stream; each block takes its own tokens."""

    page: Page
    stream: Iterator[Token]
    lists: int = 0

    def inside(self) -> str:
        """Return the text of a paragraph or a heading, and skip its closing token."""
        text = next(self.stream).content
        next(self.stream)
        return text

    def blocks(self, token: Token) -> list[Block]:
        """Return the block that a token begins, and the text that follows a comment."""
        line = (token.map or [0])[0] + 1
        match token.type:
            case "plain_bullets":
                return [self._plain(token)]
            case "paragraph_open":
                return [Paragraph(self.page.mark(self.inside(), line))]
            case "bullet_list_open" | "ordered_list_open":
                return [self._list(token)]
            case "fence":
                return [self._fence(token, line)]
            case "table_open":
                return [self._table()]
            case "html_block" if token.content.lstrip().startswith("<!--"):
                return self._comment(token, line)
            case "blockquote_open":
                for _ in takewhile(lambda inner: inner.level > token.level, self.stream):
                    pass
                return self._raw(token)
            case _:
                return self._raw(token)

    def _plain(self, token: Token) -> Bullets:
        """Read one-line bullets directly from the lines."""
        start, end = token.map or [0, 0]
        levels: list[list[Node]] = [[]]
        for number, line in enumerate(self.page.lines[start:end], start + 1):
            indent = line.index("-")
            level = indent // BULLET_INDENT
            if level >= len(levels):
                nested = Bullets([], ordered=False)
                levels[-1][-1].blocks.append(nested)
                levels.append(nested.items)
            elif level < len(levels) - 1:
                del levels[level + 1 :]
            mark = Mark(mdTrim(line[indent + 2 :]), number, indent + 3)
            levels[-1].append(Node.bullet(mark, indent))
        return Bullets(levels[0], ordered=False)

    def _list(self, opening: Token) -> Bullets:
        self.lists += 1
        openings = takewhile(lambda token: token.type == "list_item_open", self.stream)
        items = [self._fill(self._open(token)) for token in openings]
        self.lists -= 1
        return Bullets(items, opening.type == "ordered_list_open")

    def _open(self, opening: Token) -> Node:
        line = (opening.map or [0])[0] + 1
        source = self.page.lines[line - 1] if line <= len(self.page.lines) else ""
        source = source.expandtabs(4) if "\t" in source else source
        indent = len(source) - len(source.lstrip())
        if self.lists == MAX_LIST_DEPTH + 1:
            too_deep(self.page, self.page.mark(source.strip(), line))
        return Node.bullet(Mark("", line, indent + 1), indent)

    def _fill(self, item: Node) -> Node:
        for token in takewhile(lambda token: token.type != "list_item_close", self.stream):
            if token.type == "heading_open":
                text = "#" * int(token.tag[1]) + " " + self.inside()
                blocks: list[Block] = [Paragraph(self.page.mark(text, (token.map or [0])[0] + 1))]
            else:
                blocks = self.blocks(token)
            match blocks:
                case [Paragraph(mark)] if not item.mark.text and not item.blocks:
                    item.begin(mark)
                case _:
                    item.blocks += blocks
        item.blocks = joined(item.blocks)
        return item

    def _fence(self, token: Token, line: int) -> Fence:
        start, end = token.map or [0, 0]
        last = self.page.lines[end - 1].strip(" \t>") if end <= len(self.page.lines) else ""
        closed = end - start > 1 and last.startswith(token.markup) and not last.strip(last[:1])
        mark = self.page.mark(token.markup, line)
        if not closed:
            what = "this code fence is never closed, so everything below it is code"
            help_ = f"write {token.markup} on a line of its own where the code ends"
            self.page.error(Code.UNCLOSED_FENCE, mark, what, help_)
        return Fence(mark, token.info.strip(), token.content)

    def _comment(self, token: Token, line: int) -> list[Block]:
        """Read a comment; text after it on its last line is kept as a paragraph."""
        text = token.content.rstrip()
        end = text.rfind("-->")
        if end < 0:
            what = "this comment is never closed, so everything below it is hidden"
            help_ = "write --> where the comment ends"
            self.page.error(Code.UNCLOSED_COMMENT, self.page.mark("<!--", line), what, help_)
        comment = Comment(Mark("\n".join(comments(text)) or text.strip(), line, 1))
        behind = without_comments(text).strip()
        if not behind or end <= 0:
            return [comment]
        return [comment, Paragraph(self.page.mark(behind, line + text.count("\n", 0, end)))]

    def _table(self) -> Table:
        rows: list[list[Mark]] = []
        line, after = 1, 1
        for token in takewhile(lambda token: token.type != "table_close", self.stream):
            if token.type == "tr_close" and len(rows) > 1:
                rows[-1] += extra_cells(self.page, line, after, len(rows[0]))
            elif token.type == "tr_open":
                rows.append([])
                line, after = (token.map or [line - 1])[0] + 1, 1
            elif token.type == "inline":
                mark = self.page.mark(token.content, line, after)
                after = mark.column + len(mark.text)
                rows[-1].append(mark)
        return Table(rows[0], rows[1:])

    def _raw(self, token: Token) -> list[Block]:
        if token.map is None:
            return []
        lines = self.page.lines[token.map[0] : token.map[1]]
        # The indentation below a bullet is no part of the text.
        text = dedent("\n".join(line.rstrip() for line in lines)).strip("\n")
        text = indent(text, "    ") if token.type == "code_block" else text
        return [Raw(Mark(text, token.map[0] + 1, 1))]


def joined(blocks: list[Block]) -> list[Block]:
    """Join neighbouring lists, and nest a bullet that is indented further below the one above.

    CommonMark starts a new list at each different marker, and nests below `1.` only from three
    columns on; authors do not count columns.
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
    """Return whether a numbered list after bullets is a list of its own, not nested in the last."""
    right = last.items[-1].column + NESTED_INDENT
    return following.ordered and not last.ordered and following.items[0].column < right


def _join(last: Bullets, following: Bullets) -> None:
    for item in following.items:
        above = last.items[-1]
        if item.column >= above.column + NESTED_INDENT:
            above.blocks = joined([*above.blocks, Bullets([item], following.ordered)])
        else:
            last.items.append(item)
