"""YAML at the head of a file: plain keys and values only, each with its place."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from toolmark._model.code import Code
from toolmark._model.diagnostic import Edit
from toolmark._parse.fields.entries import Entry
from toolmark._parse.source.page import Mark, Page

_TOML = "+++"
_FENCES = {"---": ("---", "..."), _TOML: (_TOML,)}
"""The line that opens front matter, and those that close it."""
MAX_BYTES = 4096
MAX_DEPTH = 8
MAX_BRACKETS = 64
"""YAML's scanner takes seconds over a few thousand brackets."""


@dataclass(slots=True)
class FrontMatter:
    """What the YAML block says."""

    entries: list[Entry] = field(default_factory=list)
    nested: list[tuple[Mark, object]] = field(default_factory=list)
    """Keys whose value is a map, with the map as plain data."""


class _Refused(Exception):  # noqa: N818 - a finding
    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line, self.column = line, column


def read_front_matter(page: Page) -> FrontMatter:
    """Read and blank out the block between `---` lines at the head; lines keep their numbers."""
    start = next((i for i, line in enumerate(page.lines) if line.strip()), 0)
    sign = page.lines[start].rstrip()
    if sign not in _FENCES:
        return FrontMatter()
    ends = _FENCES[sign]
    behind = enumerate(page.lines[start + 1 :], start + 1)
    end = next((i for i, line in behind if line.rstrip() in ends), 0)
    below = page.lines[start + 1 : end or start + 2]
    if (start or not end) and not (below and _is_key(below[0])):
        return FrontMatter()  # a rule above the title
    block = page.lines[:end]
    block[: start + 1] = [""] * (start + 1)
    page.lines[: end + 1] = [""] * (end + 1)
    if sign == _TOML or end == 0:
        _refuse_whole(page, sign, start)
        return FrontMatter()
    return _parse(page, block[1:]) if any(line.strip() for line in block) else FrontMatter()


def _is_key(line: str) -> bool:
    """Whether a line below `---` begins a block of YAML, and not a page."""
    key, sign, _ = line.partition(":")
    return bool(sign) and key.replace("_", "").replace("-", "").isalnum()


def _refuse_whole(page: Page, sign: str, start: int) -> None:
    never = f"the front matter that begins with {sign} is never closed"
    page.error(
        Code.FRONT_MATTER,
        Mark(sign, start + 1, 1),
        "front matter is read as YAML only" if sign == _TOML else never,
        "write `key: value` lines between two lines `---`",
    )


def _parse(page: Page, block: list[str]) -> FrontMatter:
    text = "\n".join(block).strip("\n")
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        _refuse(page, block, _Refused(f"the front matter is over {MAX_BYTES} bytes", 1, 1))
        return FrontMatter()
    if text.count("[") + text.count("{") > MAX_BRACKETS:
        _refuse(page, block, _Refused(f"it has more than {MAX_BRACKETS} lists and maps", 1, 1))
        return FrontMatter()
    try:
        return _compose(block)
    except _Refused as refused:
        quoted = _quoted(block)
        try:
            found = _compose([line for line, _ in quoted])
        except _Refused:
            _refuse(page, block, refused)
            return FrontMatter()
    for number, (_, edit) in enumerate(quoted, 2):
        if edit is not None:
            value = Mark(block[number - 2][edit.column - 1 :].rstrip(), number, edit.column)
            page.warn(
                Code.FRONT_MATTER_COLON,
                value,
                "a value that holds a colon needs quotes; read as quoted",
                f"write {edit.text}",
                (edit,),
            )
    return found


def _quoted(block: list[str]) -> list[tuple[str, Edit | None]]:
    """Quote each plain value that holds a colon, the commonest slip in front matter."""
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


def _refuse(page: Page, block: list[str], refused: _Refused) -> None:
    number = min(max(refused.line, 1), len(block))
    page.error(
        Code.FRONT_MATTER,
        Mark(block[number - 1][refused.column - 1 :] or " ", number + 1, refused.column),
        f"the front matter can't be read: {refused}",
        "write plain `key: value` lines, with quotes around a value that holds a colon",
    )


def _compose(block: list[str]) -> FrontMatter:
    """Walk YAML's events; nothing is constructed, so nothing can be run or blown up."""
    import yaml  # most definitions have no front matter

    found = FrontMatter()
    try:
        events: list[object] = list(yaml.parse("\n".join(block), Loader=yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        place = error.problem_mark or error.context_mark
        line, column = (place.line + 1, place.column + 1) if place else (1, 1)
        raise _Refused(error.problem or "it is no YAML", line, column) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _Refused(str(error).split("\n", 1)[0], 1, 1) from None
    reader = _Events(events)
    reader.top(found)
    return found


@dataclass(slots=True)
class _Events:
    events: Sequence[object]
    position: int = 0

    def take(self) -> object:
        self.position += 1
        return self.events[self.position - 1]

    def top(self, found: FrontMatter) -> None:
        import yaml

        events = [e for e in self.events if not isinstance(e, yaml.StreamStartEvent)]
        self.events, self.position = events, 1
        first = self.take()
        if not isinstance(first, yaml.MappingStartEvent):
            raise _Refused("it is no list of `key: value`", 1, 1)
        seen: set[str] = set()
        while not isinstance(event := self.take(), yaml.MappingEndEvent):
            key = self.scalar(event)
            if key.text in seen:
                message = f"'{key.text}' stands twice"
                raise _Refused(message, key.line - 1, key.column)
            seen.add(key.text)
            self.value(found, key)

    def value(self, found: FrontMatter, key: Mark) -> None:
        import yaml

        event = self.take()
        if isinstance(event, yaml.ScalarEvent):
            found.entries.append(Entry(key, self.scalar(event)))
            return
        data = self.data(event, 1)
        if isinstance(data, list) and all(isinstance(item, Mark) for item in data):
            text = ", ".join(item.text for item in data)
            found.entries.append(Entry(key, Mark(text, key.line, key.column), listed=data))
        else:
            found.nested.append((key, _plain(data)))

    def data(self, event: object, depth: int) -> object:
        import yaml

        if depth > MAX_DEPTH:
            raise _Refused(f"it nests deeper than {MAX_DEPTH}", *self.place(event))
        if isinstance(event, yaml.SequenceStartEvent):
            self.guard(event)
            items = []
            while not isinstance(inner := self.take(), yaml.SequenceEndEvent):
                items.append(self.data(inner, depth + 1))
            return items
        if isinstance(event, yaml.MappingStartEvent):
            self.guard(event)
            values = {}
            while not isinstance(inner := self.take(), yaml.MappingEndEvent):
                key = self.scalar(inner)
                values[key.text] = self.data(self.take(), depth + 1)
            return values
        return self.scalar(event)

    def scalar(self, event: object) -> Mark:
        import yaml

        self.guard(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise _Refused("a key must be a word", *self.place(event))
        line, column = self.place(event)
        if event.value == "<<" and event.style is None:
            raise _Refused("merge keys are not read", line, column)
        return Mark(event.value, line + 1, column)

    def guard(self, event: object) -> None:
        import yaml

        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _Refused("anchors and aliases are not read", *self.place(event))
        if getattr(event, "tag", None) not in (None, "!"):
            raise _Refused("tags are not read", *self.place(event))

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
