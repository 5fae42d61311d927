"""YAML at the head of a file: plain keys and values only, each with its position."""

from dataclasses import dataclass, field

from toolmd._parse.blocks import Node
from toolmd._parse.page import Mark, Page
from toolmd._types.code import Code
from toolmd._types.diagnostic import Edit

_TOML = "+++"
_FENCES = {"---": ("---", "..."), _TOML: (_TOML,)}
"""The line that opens front matter, and the lines that close it."""
MAX_BYTES = 4096
MAX_BRACKETS = 64
"""YAML's scanner takes seconds for a few thousand brackets."""


@dataclass(slots=True)
class FrontMatter:
    """The content of the YAML block."""

    entries: list[Node] = field(default_factory=list)
    nested: list[tuple[Mark, object]] = field(default_factory=list)
    """The keys whose value is a map, with the map as plain data."""


def read_front_matter(page: Page) -> FrontMatter:
    """Read the block between `---` lines at the head and blank it out; line numbers stay."""
    start = next((i for i, line in enumerate(page.lines) if line.strip()), 0)
    sign = page.lines[start].rstrip()
    if sign not in _FENCES:
        return FrontMatter()
    ends = _FENCES[sign]
    behind = enumerate(page.lines[start + 1 :], start + 1)
    end = next((i for i, line in behind if line.rstrip() in ends), 0)
    below = page.lines[start + 1 : end or start + 2]
    if (start or not end) and not (below and _is_key(below[0])):
        return FrontMatter()  # a horizontal rule above the title
    block = page.lines[:end]
    block[: start + 1] = [""] * (start + 1)
    page.hidden = page.lines[: end + 1]
    page.lines[: end + 1] = [""] * (end + 1)
    if sign == _TOML or end == 0:
        _report_block(page, sign, start)
        return FrontMatter()
    return _parse(page, block[1:]) if any(line.strip() for line in block) else FrontMatter()


def front_comments(page: Page) -> list[str]:
    """Return the text of the comments in a page's front matter, and blank the block out."""
    before = list(page.lines)
    read_front_matter(page)
    block = [line if not left else "" for line, left in zip(before, page.lines, strict=True)]
    block = [line for line in block if line.strip() and line.rstrip() not in _FENCES]
    if not any("#" in line for line in block):
        return []
    from toolmd._parse.document.yaml_events import UnreadableError, comments

    for lines in (block, [line for line, _ in _quoted(block)]):
        try:
            return comments(lines)
        except UnreadableError:
            continue
    return []


def _is_key(line: str) -> bool:
    """Return whether the line below `---` begins a block of YAML rather than a page."""
    key, sign, _ = line.partition(":")
    return bool(sign) and key.replace("_", "").replace("-", "").isalnum()


def _report_block(page: Page, sign: str, start: int) -> None:
    never = f"the front matter that begins with {sign} is never closed"
    what = "front matter is read as YAML only" if sign == _TOML else never
    help_ = "write `key: value` lines between two lines of `---`"
    page.error(Code.FRONT_MATTER, Mark(sign, start + 1, 1), what, help_)


def _parse(page: Page, block: list[str]) -> FrontMatter:
    text = "\n".join(block).strip("\n")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        _report(page, block, f"the front matter is over {MAX_BYTES} bytes")
        return FrontMatter()
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        _report(page, block, f"it has more than {MAX_BRACKETS} lists and maps")
        return FrontMatter()
    # Most files have no front matter, and importing YAML takes some milliseconds.
    from toolmd._parse.document.yaml_events import UnreadableError, compose

    try:
        return FrontMatter(*compose(block))
    except UnreadableError as error:
        quoted = _quoted(block)
        try:
            found = FrontMatter(*compose([line for line, _ in quoted]))
        except UnreadableError:
            _report(page, block, str(error), error.line, error.column)
            return FrontMatter()
    for number, (_, edit) in enumerate(quoted, 2):
        if edit is not None:
            value = Mark(block[number - 2][edit.column - 1 :].rstrip(), number, edit.column)
            what = "a value that contains a colon needs quotes; it was read as quoted"
            page.warn(Code.FRONT_MATTER_COLON, value, what, f"write {edit.text}", (edit,))
    return found


def _quoted(block: list[str]) -> list[tuple[str, Edit | None]]:
    """Quote each plain value that contains a colon, the commonest slip in front matter."""
    lines: list[tuple[str, Edit | None]] = []
    for number, line in enumerate(block, 2):
        key, sign, value = line.partition(": ")
        value = value.strip()
        if not sign or ": " not in value or value[0] in "\"'[{|>&*!" or not key.strip():
            lines.append((line, None))
            continue
        text = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        column = line.index(value, len(key) + len(sign)) + 1
        edit = Edit(number, column, number, column + len(value), text)
        lines.append((f"{key}: {text}", edit))
    return lines


def _report(page: Page, block: list[str], why: str, line: int = 1, column: int = 1) -> None:
    number = min(max(line, 1), len(block))
    page.error(
        Code.FRONT_MATTER,
        Mark(block[number - 1][column - 1 :] or " ", number + 1, column),
        f"the front matter can't be read: {why}",
        "write plain `key: value` lines, with quotes around a value that contains a colon",
    )
