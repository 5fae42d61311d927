"""Compose YAML, and accept plain keys and values only, each with its position."""

from collections.abc import Iterator, Sequence

import yaml

from toolmd._parse.blocks import Node
from toolmd._parse.page import Mark

MAX_DEPTH = 8
"""The depth to which maps and lists may nest."""
_ELSEWHERE = (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)


class UnreadableError(Exception):
    """The block is not YAML, or contains unsupported YAML; counts lines and columns from 1."""

    def __init__(self, message: str, mark: yaml.Mark | None = None) -> None:
        super().__init__(message)
        self.line, self.column = (mark.line + 1, mark.column + 1) if mark else (1, 1)


def compose(block: Sequence[str]) -> tuple[list[Node], list[tuple[Mark, object]]]:
    """Parse the block's entries and maps; no object is constructed, so nothing can run or expand.

    Returns:
        The entries, and the keys whose value is a map, with the map as plain data.

    Raises:
        UnreadableError: the block is not YAML, or contains unsupported YAML.
    """
    text = "\n".join(block)
    try:
        for token in yaml.scan(text, Loader=yaml.SafeLoader):
            if isinstance(token, _ELSEWHERE):
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


def _pairs(node: yaml.MappingNode) -> Iterator[tuple[Mark, yaml.Node]]:
    """Yield the keys of a map with their values; each key is a word that is written once."""
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


def _mark(node: yaml.ScalarNode) -> Mark:
    """Return a scalar at its place in the file, whose first line is the opening `---`."""
    return Mark(node.value, node.start_mark.line + 2, node.start_mark.column + 1)


def _data(node: yaml.Node, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise UnreadableError(f"it nests deeper than {MAX_DEPTH}", node.start_mark)
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, depth + 1) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return {key.text: _data(value, depth + 1) for key, value in _pairs(node)}
    return node.value


def comments(block: Sequence[str]) -> list[str]:
    """Return the text of each comment; raise UnreadableError for invalid YAML."""
    ends: dict[int, int] = {}
    try:
        for token in yaml.scan("\n".join(block), Loader=yaml.SafeLoader):
            if token.start_mark.index == token.end_mark.index:
                continue  # the end of a block or of the stream, which comes after its comments
            for line in range(token.start_mark.line, token.end_mark.line):
                ends[line] = len(block[line])
            ends[token.end_mark.line] = token.end_mark.column
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(str(error)) from None
    behind = (line[ends.get(number, 0) :].strip() for number, line in enumerate(block))
    return [words.lstrip("# ").replace("-->", "-- >") for words in behind if words[:1] == "#"]
