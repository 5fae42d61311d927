"""YAML at the head of a file: plain keys and values only, each with its position."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolmd._parse.blocks import Node
from toolmd._parse.page import Mark, Page
from toolmd._types.code import Code
from toolmd._types.diagnostic import Edit

if TYPE_CHECKING:
    import yaml

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


_COMMENT = re.compile(
    r"""(?:[^:#]*:\s*(?:"(?:\\.|[^"\\])*"|'[^']*'))?+.*?(?:^|(?<=\S)\s+)#+ ?(.*)"""
)
"""A line with a comment, which begins after a space, and after a value in quotes."""


def front_comments(page: Page) -> list[str]:
    """Return the text of the comments in a page's front matter, and blank the block out."""
    before = list(page.lines)
    read_front_matter(page)
    block = [line for line, left in zip(before, page.lines, strict=True) if line != left]
    found = [match[1].strip() for line in block if (match := _COMMENT.fullmatch(line))]
    return [words.replace("-->", "-- >") for words in found]


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


MAX_DEPTH = 8
"""The depth to which maps and lists may nest."""


class UnreadableError(Exception):
    """The block is not YAML, or contains unsupported YAML; counts lines and columns from 1."""

    def __init__(self, message: str, mark: "yaml.Mark | None" = None) -> None:
        super().__init__(message)
        self.line, self.column = (mark.line + 1, mark.column + 1) if mark else (1, 1)


def compose(block: Sequence[str]) -> tuple[list[Node], list[tuple[Mark, object]]]:
    """Parse the block's entries and maps; no object is constructed, so nothing can run or expand.

    Returns:
        The entries, and the keys whose value is a map, with the map as plain data.

    Raises:
        UnreadableError: the block is not YAML, or contains unsupported YAML.
    """
    import yaml  # most files have no front matter

    text = "\n".join(block)
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
                raise UnreadableError("anchors, aliases and tags are not read", token.start_mark)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        raise UnreadableError(error.problem or "it is not YAML", place) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(str(error).split("\n", 1)[0]) from None
    entries: list[Node] = []
    nested: list[tuple[Mark, object]] = []
    if root is not None and not isinstance(root, yaml.MappingNode):
        raise UnreadableError("it is not a list of `key: value`")
    for key, node in _pairs(root) if root is not None else ():
        match node:
            case yaml.ScalarNode():
                entries.append(Node(key, _mark(node)))
            case yaml.SequenceNode() if all(isinstance(n, yaml.ScalarNode) for n in node.value):
                listed = [_mark(item) for item in node.value]
                text = ", ".join(item.text for item in listed)
                entries.append(Node(key, key._replace(text=text), listed=listed))
            case _:
                nested.append((key, _data(node, 1)))
    return entries, nested


def _pairs(node: "yaml.MappingNode") -> "Iterator[tuple[Mark, yaml.Node]]":
    """Yield the keys of a map with their values; each key is a word that is written once."""
    import yaml

    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise UnreadableError("a key must be a word", key.start_mark)
        if key.tag.endswith(":merge"):
            raise UnreadableError("merge keys are not read", key.start_mark)
        if key.value in seen:
            raise UnreadableError(f"'{key.value}' is written twice", key.start_mark)
        seen.add(key.value)
        yield _mark(key), value


def _mark(node: "yaml.ScalarNode") -> Mark:
    """Return a scalar at its place in the file, whose first line is the opening `---`."""
    return Mark(node.value, node.start_mark.line + 2, node.start_mark.column + 1)


def _data(node: "yaml.Node", depth: int) -> object:
    import yaml

    if depth > MAX_DEPTH:
        raise UnreadableError(f"it nests deeper than {MAX_DEPTH}", node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, depth + 1) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key.text: _data(value, depth + 1) for key, value in _pairs(node)}
    return node.value
