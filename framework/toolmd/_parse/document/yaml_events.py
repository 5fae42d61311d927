"""Walk the events of YAML, and accept plain keys and values only, each with its position."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import yaml

from toolmd._parse.fields.entries import Entry
from toolmd._parse.source.page import Mark

MAX_DEPTH = 8
"""The depth to which maps and lists may nest."""


class UnreadableError(Exception):
    """The block is not YAML, or contains unsupported YAML; counts lines and columns from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def compose(block: Sequence[str]) -> tuple[list[Entry], list[tuple[Mark, object]]]:
    """Parse the block's entries and maps.

    Only YAML's events are walked; nothing is constructed, so nothing can run or expand.

    Returns:
        The entries, and the keys whose value is a map, with the map as plain data.

    Raises:
        UnreadableError: the block is not YAML, or contains unsupported YAML.
    """
    try:
        events: list[object] = list(yaml.parse("\n".join(block), Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        line, column = (place.line + 1, place.column + 1) if place else (1, 1)
        raise UnreadableError(error.problem or "it is not YAML", line, column) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableError(str(error).split("\n", 1)[0], 1, 1) from None
    walk = _Walk(events)
    walk.top()
    return walk.entries, walk.nested


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
        raise UnreadableError(str(error), 1, 1) from None
    behind = (line[ends.get(number, 0) :].strip() for number, line in enumerate(block))
    return [words.lstrip("# ").replace("-->", "-- >") for words in behind if words[:1] == "#"]


@dataclass(slots=True)
class _Walk:
    events: Sequence[object]
    position: int = 0
    entries: list[Entry] = field(default_factory=list)
    nested: list[tuple[Mark, object]] = field(default_factory=list)

    def take(self) -> object:
        self.position += 1
        return self.events[self.position - 1]

    def top(self) -> None:
        events = [e for e in self.events if not isinstance(e, yaml.StreamStartEvent)]
        self.events, self.position = events, 1
        if isinstance(events[0], yaml.StreamEndEvent):
            return  # only comments
        first = self.take()
        if not isinstance(first, yaml.MappingStartEvent):
            raise UnreadableError("it is not a list of `key: value`", 1, 1)
        seen: set[str] = set()
        while not isinstance(event := self.take(), yaml.MappingEndEvent):
            key = self.scalar(event)
            if key.text in seen:
                message = f"'{key.text}' is written twice"
                raise UnreadableError(message, key.line - 1, key.column)
            seen.add(key.text)
            self.value(key)
        for event in self.events[self.position :]:
            if not isinstance(event, (yaml.DocumentEndEvent, yaml.StreamEndEvent)):
                raise UnreadableError("it contains a second document", *self.place(event))

    def value(self, key: Mark) -> None:
        event = self.take()
        if isinstance(event, yaml.ScalarEvent):
            self.entries.append(Entry(key, self.scalar(event)))
            return
        data = self.data(event, 1)
        if isinstance(data, list) and all(isinstance(item, Mark) for item in data):
            text = ", ".join(item.text for item in data)
            self.entries.append(Entry(key, Mark(text, key.line, key.column), listed=data))
        else:
            self.nested.append((key, _plain(data)))

    def data(self, event: object, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise UnreadableError(f"it nests deeper than {MAX_DEPTH}", *self.place(event))
        if isinstance(event, yaml.SequenceStartEvent):
            self.check(event)
            items = []
            while not isinstance(inner := self.take(), yaml.SequenceEndEvent):
                items.append(self.data(inner, depth + 1))
            return items
        if isinstance(event, yaml.MappingStartEvent):
            self.check(event)
            values = {}
            while not isinstance(inner := self.take(), yaml.MappingEndEvent):
                key = self.scalar(inner)
                values[key.text] = self.data(self.take(), depth + 1)
            return values
        return self.scalar(event)

    def scalar(self, event: object) -> Mark:
        self.check(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise UnreadableError("a key must be a word", *self.place(event))
        line, column = self.place(event)
        if event.value == "<<" and event.style is None:
            raise UnreadableError("merge keys are not read", line, column)
        return Mark(event.value, line + 1, column)

    def check(self, event: object) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise UnreadableError("anchors and aliases are not read", *self.place(event))
        if getattr(event, "tag", None) not in (None, "!"):
            raise UnreadableError("tags are not read", *self.place(event))

    def place(self, event: object) -> tuple[int, int]:
        mark = event.start_mark  # type: ignore[attr-defined]
        return mark.line + 1, mark.column + 1


def _plain(data: object) -> object:
    if isinstance(data, Mark):
        return data.text
    if isinstance(data, list):
        return [_plain(item) for item in data]
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    return data
