"""Types as people write them: in the words of JSON Schema, Python and TypeScript."""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from toolmd._parse.words import fold, nearest
from toolmd._types.field import JsonType
from toolmd._types.schema import Parameter, Schema

_MAX_DEPTH = 16
_NAMES: dict[JsonType, str] = {
    "string": "string str text char enum",
    "integer": "integer int long bigint",
    "number": "number float double decimal num numeric",
    "boolean": "boolean bool",
    "object": "object dict dictionary map hashmap mapping record obj json",
    "array": "array list arraylist sequence iterable tuple set",
    "null": "null none undefined nonetype",
}
_FORMATS = {
    "date": "date",
    "time": "time",
    "datetime": "date-time",
    "timestamp": "date-time",
    "uuid": "uuid",
    "email": "email",
    "url": "uri",
    "uri": "uri",
}
ANY = Schema()
WORDS: dict[str, Schema] = (
    {word: Schema(types=(kind,)) for kind, words in _NAMES.items() for word in words.split()}
    | {word: Schema(types=("string",), format=name) for word, name in _FORMATS.items()}
    | dict.fromkeys(("any", "anything", "unknown"), ANY)
)
"""The schema that each folded word stands for."""
_UNIONS = frozenset(("union", "literal", "enum"))
_TOKEN = re.compile(r"""\s*(?:"[^"]*"?|'[^']*'?|[|\[\]<>(){},:;?]|[^\s`"'|\[\]<>(){},:;?]+)""")


class TypeProblem(Exception):  # noqa: N818 - a finding on its way to the page, not an error
    """The text is not a type."""

    def __init__(self, message: str, word: str, offset: int, suggestion: str | None) -> None:
        super().__init__(message)
        self.word, self.offset, self.suggestion = word, offset, suggestion


def known_type(word: str) -> Schema | None:
    """Return the schema of a bare word, which may be a plural; None for any other word."""
    folded = fold(word)
    singular = folded.removesuffix("ies") + "y" if folded.endswith("ies") else folded[:-1]
    return WORDS.get(folded) or (WORDS.get(singular) if folded.endswith("s") else None)


def read_type(text: str) -> Schema:
    """Parse a whole type expression; raise TypeProblem with the position of an unknown word."""
    reader = _Reader(text.replace("`", " "))
    shape = reader.union(0)
    if reader.peek():
        raise reader.problem("is left over")
    return shape


def attributes(shape: Schema) -> dict[str, Any]:
    """Return the attributes that a type sets, its types among them."""
    values = {field.name: getattr(shape, field.name) for field in fields(Schema)}
    return {k: v for k, v in values.items() if k == "types" or v != getattr(ANY, k)}


def is_type(text: str) -> bool:
    """Return whether a text is a type, not a single value: two values are an enum."""
    try:
        shape = read_type(text)
    except TypeProblem:
        return False
    return shape.enum is None or len(shape.enum) > 1


def nearest_type(word: str) -> str | None:
    """Return the type that a whole text misspells; None for any other text."""
    try:
        read_type(word)
    except TypeProblem as problem:
        return problem.suggestion if problem.word == word else None
    return None


class _Reader:
    def __init__(self, text: str) -> None:
        found = list(_TOKEN.finditer(text))
        self.words = [match[0].strip() for match in found]
        self.ends = [match.end() for match in found]
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        return self.words[self.at + ahead] if self.at + ahead < len(self.words) else ""

    def problem(self, message: str, suggestion: str | None = None) -> TypeProblem:
        word = self.peek()
        end = self.ends[min(self.at, len(self.ends) - 1)] if self.ends else 0
        return TypeProblem(message, word, end - len(word), suggestion)

    def take(self) -> str:
        if not self.peek():
            raise self.problem("a type is missing")
        self.at += 1
        return self.words[self.at - 1]

    def accept(self, *symbols: str) -> bool:
        found = self.peek().lower() in symbols
        self.at += found
        return found

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            raise self.problem(f"'{symbol}' is missing", symbol)

    def union(self, depth: int) -> Schema:
        if depth > _MAX_DEPTH:
            raise self.problem("is nested too deep")
        shape = self.suffixed(depth)
        while self.accept("|", "or"):
            shape = _either(shape, self.suffixed(depth))
        return shape

    def suffixed(self, depth: int) -> Schema:
        shape = self.atom(depth)
        while True:
            if self.peek() == "[" and self.peek(1) == "]":
                self.at += 2
                shape = Schema(("array",), items=shape)
            elif self.accept("?"):
                shape = _either(shape, WORDS["null"])
            else:
                return shape

    def atom(self, depth: int) -> Schema:
        if self.accept("("):
            shape = self.union(depth + 1)
            self.expect(")")
            return shape
        if self.accept("{"):
            return self.object(depth)
        word = self.peek()
        if word[:1] in ('"', "'"):
            return Schema(("string",), enum=(self.take().strip(word[0]),))
        if (value := _number(word)) is not None:
            self.at += 1
            return Schema(("integer" if isinstance(value, int) else "number",), enum=(value,))
        return self.named(depth)

    def named(self, depth: int) -> Schema:
        name = fold(self.peek().rpartition(".")[2])
        if (
            self.peek(1) in ("[", "<")
            and self.peek(2) != "]"
            and self.generic(name, []) is not None
        ):
            self.at += 1
            closing = "]" if self.take() == "[" else ">"
            inner = [self.union(depth + 1)]
            while self.accept(","):
                inner.append(self.union(depth + 1))
            self.expect(closing)
            return self.generic(name, inner) or ANY
        if (known := known_type(name)) is None:
            problem = self.problem("is not a type", nearest(self.peek(), WORDS))
            raise problem if self.peek() else self.problem("a type is missing")
        self.at += 1
        if known.types != ("array",):
            return known
        items = self.suffixed(depth + 1) if self.accept("of") else None
        return replace(known, items=items, unique=name == "set")

    def generic(self, name: str, inner: list[Schema]) -> Schema | None:
        """Return the type that a name makes of those in its brackets; None for no such name."""
        first, last = (inner[0], inner[-1]) if inner else (ANY, ANY)
        known = WORDS.get(name, ANY).types
        if name == "optional":
            return _either(first, WORDS["null"])
        if name in _UNIONS:
            for other in inner[1:]:
                first = _either(first, other)
            return first
        if known == ("array",):
            if any(other != first for other in inner) or (len(inner) > 1 and name != "tuple"):
                raise self.problem("has items of several types")
            many = len(inner) if name == "tuple" else None
            return Schema(known, items=first, unique=name == "set", min_items=many, max_items=many)
        if known == ("object",):
            return Schema(known, values=None if last == ANY else last)
        return None

    def object(self, depth: int) -> Schema:
        properties: list[Parameter] = []
        while not self.accept("}"):
            name = self.peek().strip("\"'")
            if not name.replace("_", "").isalnum():
                raise self.problem("is not a valid field name" if name else "a type is missing")
            self.at += 1
            required = not self.accept("?")
            shape = self.union(depth + 1) if self.accept(":") else ANY
            properties.append(Parameter(name, shape, required))
            self.accept(",", ";")
        return Schema(("object",), properties=tuple(properties))


def _number(word: str) -> int | float | None:
    try:
        return int(word) if word.lstrip("-").isdigit() else float(word) if "." in word else None
    except ValueError:
        return None


def _either(a: Schema, b: Schema) -> Schema:
    """Join two types; JSON Schema's keywords each apply to one type, so both sets stay."""
    enums = [(None,) if one == WORDS["null"] else one.enum for one in (a, b)]
    return Schema(
        types=() if ANY in (a, b) else tuple(dict.fromkeys((*a.types, *b.types))),
        enum=(*enums[0], *enums[1]) if enums[0] and enums[1] and enums != [(None,)] * 2 else None,
        items=_either(a.items, b.items) if a.items and b.items else a.items or b.items,
        properties=a.properties if b.properties is None else b.properties,
        values=a.values or b.values,
        format=a.format or b.format,
        unique=a.unique or b.unique,
        min_items=_bound(min, a, b),
        max_items=_bound(max, a, b),
    )


def _bound(pick: Callable[[list[int]], int], a: Schema, b: Schema) -> int | None:
    """Return the least or the most items of an array of one of two types."""
    found = [
        one.min_items if pick is min else one.max_items for one in (a, b) if one.types == ("array",)
    ]
    sizes = [size for size in found if size is not None]
    return pick(sizes) if found and len(sizes) == len(found) else None
