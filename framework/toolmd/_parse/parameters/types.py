"""Types as people write them: in the words of JSON Schema, Python and TypeScript."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from toolmd._parse.parameters.type_words import PLURALS, WORDS
from toolmd._parse.words.keys import fold
from toolmd._parse.words.slips import nearest
from toolmd._types.schema import JsonType, Parameter, Schema

_MAX_DEPTH = 16
_SYMBOLS = "|[]<>(){},:;?"


class TypeProblem(Exception):  # noqa: N818 - a finding on its way to the page, not an error
    """The text is not a type."""

    def __init__(self, message: str, word: str, offset: int, suggestion: str | None) -> None:
        super().__init__(message)
        self.word, self.offset, self.suggestion = word, offset, suggestion


@dataclass(slots=True)
class Shape:
    """A type under construction; its attributes are named as in `Schema`."""

    types: list[JsonType] = field(default_factory=list)
    anything: bool = False
    enum: list[JsonValue] | None = None
    items: "Shape | None" = None
    properties: "list[tuple[str, bool, Shape]] | None" = None
    values: "Shape | None" = None
    format: str | None = None
    unique: bool = False

    def schema(self) -> Schema:
        """Build the schema."""
        return Schema(**self.fields())

    def fields(self) -> dict[str, Any]:
        """Return the attributes of `Schema` that this type sets."""
        said: dict[str, Any] = {"types": () if self.anything else tuple(self.types)}
        if self.enum is not None:
            said["enum"] = tuple(self.enum)
        if self.items is not None:
            said["items"] = self.items.schema()
        if self.properties is not None:
            said["properties"] = tuple(
                Parameter(name=name, required=required, shape=shape.schema())
                for name, required, shape in self.properties
            )
        if self.values is not None:
            said["values"] = self.values.schema()
        if self.format is not None:
            said["format"] = self.format
        if self.unique:
            said["unique"] = True
        return said


def is_type_word(word: str) -> bool:
    """Return whether a bare word names a type."""
    folded = fold(word)
    return folded in WORDS or folded in PLURALS


def read_type(text: str) -> Shape:
    """Parse a whole type expression; raise TypeProblem with the position of an unknown word."""
    reader = _Reader(_words(text))
    shape = reader.union(0)
    if reader.rest():
        word, offset = reader.rest()[0]
        raise TypeProblem("is left over", word, offset, None)
    return shape


def _words(text: str) -> list[tuple[str, int]]:
    """Split into names, quoted literals and symbols, each with its offset."""
    words: list[tuple[str, int]] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char.isspace() or char == "`":
            at += 1
        elif char in "\"'":
            end = text.find(char, at + 1)
            end = len(text) if end < 0 else end + 1
            words.append((text[at:end], at))
            at = end
        elif char in _SYMBOLS:
            words.append((char, at))
            at += 1
        else:
            end = at
            while (
                end < len(text) and not text[end].isspace() and text[end] not in _SYMBOLS + "`\"'"
            ):
                end += 1
            words.append((text[at:end], at))
            at = end
    return words


@dataclass(slots=True)
class _Reader:
    words: list[tuple[str, int]]
    position: int = 0

    def rest(self) -> list[tuple[str, int]]:
        return self.words[self.position :]

    def peek(self, ahead: int = 0) -> str:
        at = self.position + ahead
        return self.words[at][0] if at < len(self.words) else ""

    def take(self) -> tuple[str, int]:
        if self.position >= len(self.words):
            offset = self.words[-1][1] + len(self.words[-1][0]) if self.words else 0
            raise TypeProblem("a type is missing", "", offset, None)
        self.position += 1
        return self.words[self.position - 1]

    def accept(self, symbol: str) -> bool:
        if self.peek().lower() == symbol:
            self.position += 1
            return True
        return False

    def expect(self, symbol: str) -> None:
        word, offset = self.take()
        if word != symbol:
            raise TypeProblem(f"'{symbol}' is missing", word, offset, symbol)

    def union(self, depth: int) -> Shape:
        if depth > _MAX_DEPTH:
            word, offset = self.take()
            raise TypeProblem("is nested too deep", word, offset, None)
        shape = self.suffixed(depth)
        while self.accept("|") or self.accept("or"):
            shape = _either(shape, self.suffixed(depth))
        return shape

    def suffixed(self, depth: int) -> Shape:
        shape = self.atom(depth)
        while True:
            if self.peek() == "[" and self.peek(1) == "]":
                self.position += 2
                shape = Shape(["array"], items=shape)
            elif self.accept("?"):
                shape = _either(shape, Shape(["null"]))
            else:
                return shape

    def atom(self, depth: int) -> Shape:
        word, offset = self.take()
        if word == "(":
            shape = self.union(depth + 1)
            self.expect(")")
            return shape
        if word == "{":
            return self.object(depth)
        if word[0] in "\"'":
            return Shape(["string"], enum=[word.strip(word[0])])
        if (number := _number(word)) is not None:
            return Shape(["integer" if isinstance(number, int) else "number"], enum=[number])
        return self.named(word, offset, depth)

    def named(self, word: str, offset: int, depth: int) -> Shape:
        name = fold(word.rpartition(".")[2])
        special = _GENERICS.get(name)
        if special is not None and self.peek() in ("[", "<") and self.peek(1) != "]":
            closing = "]" if self.take()[0] == "[" else ">"
            inner = [self.union(depth + 1)]
            while self.accept(","):
                inner.append(self.union(depth + 1))
            self.expect(closing)
            return special(inner)
        known = WORDS.get(name) or WORDS.get(PLURALS.get(name, ""))
        if known is None:
            suggestion = nearest(word, WORDS)
            raise TypeProblem("is not a type", word, offset, suggestion)
        kind, format_ = known
        shape = Shape([kind] if kind else [], anything=kind is None, format=format_)
        if kind == "array":
            shape.unique = name == "set"
            if self.accept("of"):
                shape.items = self.suffixed(depth + 1)
        return shape

    def object(self, depth: int) -> Shape:
        properties: list[tuple[str, bool, Shape]] = []
        while not self.accept("}"):
            word, offset = self.take()
            name = word.strip("\"'")
            if not name.replace("_", "").isalnum():
                raise TypeProblem("is not a valid field name", word, offset, None)
            required = not self.accept("?")
            shape = Shape(anything=True)
            if self.accept(":"):
                shape = self.union(depth + 1)
            properties.append((name, required, shape))
            if self.peek() in (",", ";"):
                self.take()
        return Shape(["object"], properties=properties)


def _number(word: str) -> int | float | None:
    try:
        return int(word) if word.lstrip("-").isdigit() else float(word) if "." in word else None
    except ValueError:
        return None


def _either(a: Shape, b: Shape) -> Shape:
    """Join two types; JSON Schema's keywords each apply to one type, so both sets stay."""
    both = Shape(anything=a.anything or b.anything, unique=a.unique or b.unique)
    both.types = [*a.types, *(t for t in b.types if t not in a.types)]
    if a.enum is not None and b.enum is not None:
        both.enum = [*a.enum, *b.enum]
    elif a.enum is not None and b.types == ["null"]:
        both.enum = [*a.enum, None]
    elif b.enum is not None and a.types == ["null"]:
        both.enum = [None, *b.enum]
    both.items = a.items if b.items is None else b.items if a.items is None else None
    if a.items is not None and b.items is not None:
        both.items = _either(a.items, b.items)
    both.properties = a.properties if b.properties is None else b.properties
    both.values = a.values or b.values
    both.format = a.format or b.format
    return both


def _list_of(inner: list[Shape]) -> Shape:
    return Shape(["array"], items=inner[0])


def _set_of(inner: list[Shape]) -> Shape:
    return Shape(["array"], items=inner[0], unique=True)


def _map_of(inner: list[Shape]) -> Shape:
    values = inner[-1]
    return Shape(["object"], values=None if values.anything else values)


def _optional(inner: list[Shape]) -> Shape:
    return _either(inner[0], Shape(["null"]))


def _any_of(inner: list[Shape]) -> Shape:
    shape = inner[0]
    for other in inner[1:]:
        shape = _either(shape, other)
    return shape


_GENERICS: dict[str, Callable[[list[Shape]], Shape]] = {
    "list": _list_of,
    "array": _list_of,
    "sequence": _list_of,
    "iterable": _list_of,
    "set": _set_of,
    "dict": _map_of,
    "record": _map_of,
    "map": _map_of,
    "mapping": _map_of,
    "optional": _optional,
    "union": _any_of,
    "literal": _any_of,
    "enum": _any_of,
}
