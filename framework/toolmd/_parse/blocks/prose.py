"""Turn blocks back into markdown, in one canonical form, for the prose that is kept."""

from collections.abc import Sequence

from toolmd._parse.blocks.block import (
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
from toolmd._parse.source.page import Mark
from toolmd._parse.words.keys import split, without_comments


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


def _item(item: Item) -> str:
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
