"""Find what an expression has at a cursor: its names, their types, and the functions that fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from toolmd._expressions.check import Checker
from toolmd._expressions.error import ExpressionError
from toolmd._expressions.lexer import Token, tokens
from toolmd._expressions.messages import FUNCTIONS
from toolmd._types.schema import Parameter, Schema

_OPENS, _CLOSES = {"(", "[", "{"}, {")", "]", "}"}
_OVER_ITEMS = frozenset("all exists exists_one filter map sortBy".split())
_BINDS = _OVER_ITEMS | {"optMap", "optFlatMap", "bind"}
_MEMBERS: Mapping[str, str] = {
    "string": """charAt contains endsWith indexOf lastIndexOf lowerAscii matches replace reverse
        size split startsWith substring trim upperAscii""",
    "array": """all distinct exists exists_one filter first flatten join last map reverse size
        slice sort sortBy""",
    "object": "all exists exists_one filter map size",
}
"""The functions that are called on a value, by its type."""


@dataclass(frozen=True)
class CursorScope:
    """The word at a cursor, the value it is a field of, and the names in scope."""

    word: Token
    """The name at the cursor; empty between names."""
    receiver: str
    """The source of the value before the dot; empty for a name of its own."""
    names: Mapping[str, Schema]
    """The names in scope, with those that macros such as `filter(x, …)` bind."""
    functions: bool

    def type_of(self, source: str) -> Schema | None:
        """Return the type of a part of the expression; None if it can't be computed."""
        try:
            return Checker(self.names, functions=self.functions).check(source).schema
        except ExpressionError:
            return None

    @property
    def shape(self) -> Schema | None:
        """The type of the word at the cursor, with the value that it is a field of."""
        if not self.receiver:
            return self.names.get(self.word.text)
        return dict(self._fields).get(self.word.text)

    @property
    def _fields(self) -> list[tuple[str, Schema]]:
        shape = self.type_of(self.receiver) or Schema()
        found: list[Parameter] = [p for one in shape.objects for p in one.properties or ()]
        return [(field.name, field.shape) for field in found]

    @property
    def words(self) -> list[tuple[str, Schema | None]]:
        """What may be written here: names or fields with their types, and functions."""
        if not self.receiver:
            members = {word for words in _MEMBERS.values() for word in words.split()} - {"size"}
            clock = () if self.functions else ("now", "next_days")
            calls = [name for name in FUNCTIONS if name not in {*members, *clock}]
            return [*self.names.items(), *((name, None) for name in calls)]
        shape = self.type_of(self.receiver) or Schema()
        types: tuple[str, ...] = shape.types or tuple(_MEMBERS)
        calls = list(dict.fromkeys(w for t in types for w in _MEMBERS.get(t, "").split()))
        return [*self._fields, *((name, None) for name in calls)]


def at_cursor(
    source: str, at: int, names: Mapping[str, Schema], *, functions: bool
) -> CursorScope | None:
    """Return the scope at an offset of an expression; None within a string or a number.

    Args:
        source: The expression, which may be unfinished.
        at: The offset of the cursor.
        names: The names that the expression may read, with their types.
        functions: Whether `now()` and `next_days()` are available.
    """
    marks = tokens(source)
    index = next((i for i, m in enumerate(marks) if at <= m.at + len(m.text)), len(marks))
    word = marks[index] if index < len(marks) and marks[index].at <= at else Token("mark", "", at)
    if word.kind in {"string", "number"} and word.at < at < word.at + len(word.text):
        return None
    if word.kind != "name":  # the cursor is behind a sign
        index += 1 if word.text and word.at < at else 0
        word = Token("name", "", at)
    dot = index - 2 if index > 1 and marks[index - 1].text == "?" else index - 1
    receiver = ""
    if dot > 0 and marks[dot].text == ".":
        start = _chain(marks, dot - 1)
        receiver = source[marks[start].at : marks[dot].at]
    scope = CursorScope(word, receiver, {**names}, functions)
    for macro, end in _macros(marks):
        if macro + 2 < index <= end:
            bound = marks[macro + 2].text
            scope = CursorScope(
                word, receiver, {**scope.names, bound: _bound(source, marks, macro, scope)},
                functions,
            )  # fmt: skip
    return scope


def names_read(source: str) -> list[Token]:
    """Return the tokens of variables, without fields, functions, and names that macros bind."""
    marks = tokens(source)
    bound: set[int] = set()
    for macro, end in _macros(marks):
        text = marks[macro + 2].text
        bound |= {i for i in range(macro + 2, min(end, len(marks))) if marks[i].text == text}
    return [
        mark
        for i, (before, mark) in enumerate(pairwise([Token("mark", "", 0), *marks]))
        if mark.kind == "name"
        and i not in bound
        and not (before.text == "." or (before.text == "?" and i > 1 and marks[i - 2].text == "."))
        and (i + 1 == len(marks) or marks[i + 1].text != "(")
    ]


def _macros(marks: list[Token]) -> list[tuple[int, int]]:
    """Return each macro that binds a name: the index of its word, and of its end."""
    return [
        (i, _end(marks, i + 1))
        for i in range(1, len(marks) - 3)
        if marks[i].text in _BINDS
        and marks[i - 1].text == "."
        and marks[i + 1].text == "("
        and marks[i + 2].kind == "name"
        and marks[i + 3].text == ","
    ]


def _bound(source: str, marks: list[Token], macro: int, scope: CursorScope) -> Schema:
    """Return the type of the name that a macro binds."""
    name = marks[macro].text
    if name == "bind":
        comma = next((i for i in range(macro + 4, len(marks)) if marks[i].text == ","), len(marks))
        end = marks[comma].at if comma < len(marks) else len(source)
        return scope.type_of(source[marks[macro + 3].at + 1 : end]) or Schema()
    shape = scope.type_of(source[marks[_chain(marks, macro - 2)].at : marks[macro - 1].at])
    if shape is None:
        return Schema()
    return (shape.items or Schema()) if name in _OVER_ITEMS else shape


def _chain(marks: list[Token], index: int) -> int:
    """Return the first token of the value that ends at a token: `a.b(c)[0]` is one value."""
    depth = 0
    for at in range(index, -1, -1):
        text, before = marks[at].text, marks[at - 1] if at else Token("mark", "", 0)
        if marks[at].kind != "mark" or text not in _OPENS | _CLOSES:
            called = depth or text == "." or before.text == "."
        elif text in _CLOSES:
            depth += 1
            called = True
        else:
            depth -= 1
            called = depth > 0 or (
                text != "{" and (before.kind == "name" or before.text in _CLOSES)
            )
        if not called:
            return at
    return 0


def _end(marks: list[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(marks)):
        depth += (marks[at].text in _OPENS) - (marks[at].text in _CLOSES)
        if depth == 0:
            return at
    return len(marks)
