"""A tool's blocks cut at their labels: `Params:`, `**Safety Rules**:`, `| Purpose | … |`."""

import re
from dataclasses import dataclass, field

from toolmd_catalog.layout.blocks import Block, Bullets, Fence, Item, Paragraph, Part, Table
from toolmd_catalog.layout.headings import heading_text
from toolmd_catalog.layout.labels import labelled, role_of
from toolmd_catalog.layout.page import Mark, Page
from toolmd_catalog.layout.tables import Cells, columns, is_aspects, pseudo_rows, rows_of
from toolmd_catalog.words import clean

_NEED = re.compile(r"(?P<label>required|optional)\s*:\s*(?P<rest>.*)", re.IGNORECASE | re.DOTALL)


@dataclass(slots=True)
class TextSpan:
    """The text and the blocks below one label."""

    role: str
    """A role of `labels`, `other` for an unknown label, empty for what has none."""
    label: str
    line: int
    text: str = ""
    """The text behind the label on its line."""
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class _Cutter:
    page: Page
    made: list[TextSpan]

    def block(self, block: Block) -> None:
        match block:
            case Paragraph():
                self._paragraph(block.mark)
            case Bullets():
                self._bullets(block)
            case Table():
                self._table(block)
            case _:
                self.made[-1].blocks.append(block)

    def _paragraph(self, mark: Mark) -> None:
        rows = pseudo_rows(mark)
        if rows and is_aspects(rows):
            self._rows(rows)
            return
        pending: list[str] = []
        start = mark.line
        for number, line in enumerate(mark.text.split("\n"), mark.line):
            found = labelled(line)
            if found is None or (found[0] == "other" and not found[2] and pending):
                pending.append(line.strip())
                continue
            self._plain(pending, start)
            pending, start = [], number + 1
            role, label, rest = found
            self.made.append(TextSpan(role, label, number, rest))
        self._plain(pending, start)

    def _plain(self, lines: list[str], line: int) -> None:
        """Keep lines without a label: they go on with the label's own text, or stand alone."""
        if not lines:
            return
        last = self.made[-1]
        text = "\n".join(lines)
        if last.label and last.text and not last.blocks:
            last.text = f"{last.text}\n{text}"
        else:
            last.blocks.append(Paragraph(Mark(text, line)))

    def _bullets(self, block: Bullets) -> None:
        behind = self._behind(block)
        self._items(block)
        if behind is not None:
            self._paragraph(behind)

    def _behind(self, block: Bullets) -> Mark | None:
        """Cut off a label right below the last bullet, which markdown takes for part of it."""
        last = block.items[-1]
        lines = last.mark.text.split("\n")
        for at, line in enumerate(lines[1:], 1):
            found = labelled(line)
            number = last.mark.line + at
            source = self.page.lines[number - 1] if number <= len(self.page.lines) else " "
            if found is not None and found[0] != "other" and not source[:1].isspace():
                last.mark = Mark("\n".join(lines[:at]), last.mark.line)
                return Mark("\n".join(lines[at:]), number)
        return None

    def _items(self, block: Bullets) -> None:
        waiting = self.made[-1].label and not self.made[-1].text and not self.made[-1].blocks
        found = [_label_of(item) for item in block.items]
        roles = {f[0] for f in found if f} - {"other"}
        known = sum(1 for f in found if f and f[0] != "other")
        # Bullets below a label belong to it, though one of them may look like a label itself.
        aspects = known * 2 > len(block.items) or (known > 1 and "parameters" in roles)
        nested = any(f and f[0] == "parameters" for f in found) and known == len(found)
        aspects = aspects or any(map(_holds_parameters, found, block.items))
        if not aspects or (waiting and not nested and self.made[-1].role not in {"", "other"}):
            self.made[-1].blocks.append(block)
            return
        for item, label in zip(block.items, found, strict=True):
            if label is None:
                self.made.append(TextSpan("other", "", item.line, item.mark.text, item.blocks))
            else:
                self.made.append(TextSpan(label[0], label[1], item.line, label[2], item.blocks))

    def _table(self, block: Table) -> None:
        head, rows = rows_of(self.page, block)
        if columns(head) or self.made[-1].role in {"parameters", "returns"}:
            self.made[-1].blocks.append(block)
        elif is_aspects(rows) and len(head) in {0, 2}:
            # A header of labels is a row as well: people write the first one there.
            first = [(block.head[0].line, head)] if len(head) == 2 and role_of(head[0]) else []  # noqa: PLR2004
            self._rows([*first, *rows])
        else:
            self.made[-1].blocks.append(block)

    def _rows(self, rows: list[tuple[int, Cells]]) -> None:
        for line, row in rows:
            text = " | ".join(cell for cell in row[1:] if cell)
            label = row[0].strip("*_` ")
            self.made.append(TextSpan(role_of(label) or "other", label, line, text))
        # What follows the table is not part of its last row.
        self.made.append(TextSpan("", "", rows[-1][0] + 1))


def _label_of(item: Item) -> tuple[str, str, str] | None:
    """Return the label of a bullet; `Required:` is one where parameters follow it."""
    need = _NEED.fullmatch(clean(item.mark.text))
    if need and (need["rest"].startswith("`") or (not need["rest"] and item.items)):
        return "parameters", need["label"], need["rest"]
    return labelled(item.mark.text)


def _holds_parameters(found: tuple[str, str, str] | None, item: Item) -> bool:
    """Return whether a bullet is a label with parameters below it, or `Input: `city` (string)`."""
    if found is None or found[0] != "parameters":
        return False
    return found[2].startswith("`") if found[2] else bool(item.items)


def spans(page: Page, blocks: list[Block], parts: list[Part]) -> list[TextSpan]:
    """Cut the blocks of a tool, and the parts below its heading, at their labels."""
    cutter = _Cutter(page, [TextSpan("", "", 0)])
    for block in blocks:
        cutter.block(block)
    inside = ""
    level = 0
    for part in parts:
        label = heading_text(part.heading.text)
        role = role_of(label)
        if inside == "parameters" and part.level > level:
            cutter.made[-1].blocks.append(_as_item(part))
            continue
        inside, level = role, part.level
        cutter.made.append(TextSpan(role or "other", label, part.heading.line))
        for block in part.blocks:
            if role in {"parameters", "example", "result"}:
                cutter.made[-1].blocks.append(block)
            else:
                cutter.block(block)
    return [s for s in cutter.made if s.text or s.blocks or s.role not in {"", "other"}]


def _as_item(part: Part) -> Bullets:
    """Return a heading that names a parameter as a bullet."""
    heading = part.heading
    item = Item(Mark(f"`{heading_text(heading.text)}`", heading.line), heading.line, 0)
    item.blocks = list(part.blocks)
    return Bullets([item], ordered=False)


def text_of(span: TextSpan) -> str:
    """Return all prose of a span on one line, without code and tables."""
    return " ".join(sentence for sentence, _ in sentences(span))


def sentences(span: TextSpan) -> list[tuple[str, int]]:
    """Return each bullet, paragraph and line of a span, with its line in the source."""
    found = [(span.text, span.line)] if span.text else []
    for block in span.blocks:
        if isinstance(block, Paragraph):
            found.append((" ".join(block.mark.text.split()), block.mark.line))
        elif isinstance(block, Bullets):
            found += _bulleted(block)
    return found


def _bulleted(block: Bullets) -> list[tuple[str, int]]:
    found = []
    for item in block.items:
        found.append((" ".join(item.mark.text.split()), item.line))
        for inner in item.blocks:
            if isinstance(inner, Bullets):
                found += _bulleted(inner)
            elif isinstance(inner, Paragraph):
                found.append((" ".join(inner.mark.text.split()), inner.mark.line))
    return found


def fences(span: TextSpan) -> list[Fence]:
    """Return the code blocks of a span, also those below its bullets."""
    return [block for block in _deep(span.blocks) if isinstance(block, Fence)]


def _deep(blocks: list[Block]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        found.append(block)
        if isinstance(block, Bullets):
            for item in block.items:
                found += _deep(item.blocks)
    return found
