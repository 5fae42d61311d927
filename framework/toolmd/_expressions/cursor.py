"""Find what an expression has at a cursor: its names, their types, and the functions that fit."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from toolmd._expressions.checker import Checker, type_of
from toolmd._expressions.functions import FUNCTIONS, Function
from toolmd._expressions.syntax import ExpressionError, Token, tokens
from toolmd._types.schema import Schema

_OPENS, _CLOSES = {"(", "[", "{"}, {")", "]", "}"}
_MACROS = frozenset(key[1:] for key, row in FUNCTIONS.items() if row.is_macro)
_NOTHING = Token("mark", "", 0)


@dataclass(frozen=True)
class CursorScope:
    """The word at a cursor, the value it is a field of, and the names in scope."""

    word: Token
    """The name at the cursor; empty between names."""
    receiver: str
    """The source of the value before the dot; empty for a name of its own."""
    names: Mapping[str, Schema]
    """The names in scope, with those that macros such as `filter(x, …)` bind."""

    def type_of(self, source: str) -> Schema | None:
        """Return the type of a part of the expression; None if it can't be computed."""
        try:
            return Checker(self.names).check(source).schema
        except ExpressionError:
            return None

    @property
    def shape(self) -> Schema | None:
        """The type of the word at the cursor, with the value that it is a field of."""
        found = (what for name, what in self.words if name == self.word.text)
        return next((what for what in found if isinstance(what, Schema)), None)

    @property
    def words(self) -> list[tuple[str, Schema | Function]]:
        """The words that may be written here: names and fields with types, and functions."""
        if not self.receiver:
            calls = [key for key in FUNCTIONS if key[0].isalpha() and key != "in"]
            return [*self.names.items(), *((key, FUNCTIONS[key]) for key in calls)]
        over = self.type_of(self.receiver) or Schema()
        fields = [(p.name, p.shape) for one in over.objects for p in one.properties or ()]
        kind = type_of(over)
        methods = [key for key, row in FUNCTIONS.items() if key[0] == "." and row.follows(kind)]
        return [*fields, *((key[1:], FUNCTIONS[key]) for key in sorted(methods))]


def at_cursor(source: str, at: int, names: Mapping[str, Schema]) -> CursorScope | None:
    """Return the scope at an offset of an expression; None within a string or a number.

    The expression may be unfinished. `names` are those that it may read.
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
    is_field = dot > 0 and marks[dot].text == "."
    receiver = source[marks[_chain(marks, dot - 1)].at : marks[dot].at] if is_field else ""
    scope = CursorScope(word, receiver, {**names})
    for macro, end in _macros(marks):
        if macro + 2 < index <= end:
            over = source[marks[_chain(marks, macro - 2)].at : marks[macro - 1].at]
            items = (scope.type_of(over) or Schema()).items or Schema()
            own = {**scope.names, marks[macro + 2].text: items}
            scope = CursorScope(word, receiver, own)
    return scope


def names_read(source: str) -> list[Token]:
    """Return the tokens of variables, without fields, functions, and names that macros bind."""
    marks = tokens(source)
    own: set[int] = set()
    for macro, end in _macros(marks):
        text = marks[macro + 2].text
        own |= {i for i in range(macro + 2, min(end, len(marks))) if marks[i].text == text}
    return [
        mark
        for i, (before, mark) in enumerate(pairwise([_NOTHING, *marks]))
        if mark.kind == "name"
        and i not in own
        and not (before.text == "." or (before.text == "?" and i > 1 and marks[i - 2].text == "."))
        and (i + 1 == len(marks) or marks[i + 1].text != "(")
    ]


def _macros(marks: list[Token]) -> list[tuple[int, int]]:
    """Return each macro that binds a name: the index of its word, and of its end."""
    return [
        (i, _end(marks, i + 1))
        for i in range(1, len(marks) - 3)
        if marks[i].text in _MACROS
        and [marks[i - 1].text, marks[i + 1].text, marks[i + 3].text] == [".", "(", ","]
        and marks[i + 2].kind == "name"
    ]


def _chain(marks: list[Token], index: int) -> int:
    """Return the first token of the value that ends at a token: `a.b(c)[0]` is one value."""
    depth = 0
    for at in range(index, -1, -1):
        text, before = marks[at].text, marks[at - 1] if at else _NOTHING
        depth += (text in _CLOSES) - (text in _OPENS)
        is_called = before.kind == "name" or before.text in _CLOSES
        goes_on = depth or "." in (text, before.text) or text in _CLOSES
        if not goes_on and not (text in ("(", "[") and is_called):
            return at
    return 0


def _end(marks: list[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(marks)):
        depth += (marks[at].text in _OPENS) - (marks[at].text in _CLOSES)
        if depth == 0:
            return at
    return len(marks)
