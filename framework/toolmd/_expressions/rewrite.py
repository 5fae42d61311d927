"""Rewrite an author's expression for the CEL compiler, and map positions back."""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from toolmd._expressions.error import ExpressionError
from toolmd._expressions.lexer import Token, tokens

MAX_LENGTH = 2000
"""Characters of an expression."""
GIVEN = "__given"
"""The map of names that have a value, in which `has(name)` looks."""
RANGE = "__range"
"""Our bounded twin of `lists.range`: CEL's own builds a hundred million items if asked."""
_RESERVED = """
    as break const continue else false for function if import in let loop null package namespace
    return true var void while
"""
_TYPES = """
    bool bytes double dyn google int list map null_type optional_type string type uint
    cel lists math optional strings
"""
CLASHING = frozenset((_RESERVED + _TYPES).split())
"""Words that mean something in CEL; a variable of such a name goes under another."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """An expression in the form that is compiled."""

    source: str
    text: str
    tested: dict[str, str]
    """Names within `has()`, each with the name that it stands for."""
    variables: frozenset[str]
    """Names that stand where a variable can, among them those that macros bind."""
    calls: frozenset[str]
    """Names of the functions that are called."""
    path: tuple[str, ...]
    """The parts of `a.b.c`, where the expression is that and nothing else."""
    aliases: dict[str, str]
    """What a variable is called in the text to the name that it stands for."""
    _shifts: tuple[tuple[int, int], ...] = field(default=())

    def tested_at(self, name: str) -> tuple[int, int]:
        """Return the line and column of the first `has(name)`."""
        for before, mark in pairwise(tokens(self.source)):
            if before.text == "(" and self.tested.get(mark.text) == name:
                return _place(self.source, mark.at)
        return 1, 1

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Return the line and column in the source for those in the text; from 1."""
        offset = _offset(self.text, line, column)
        behind = bisect_right(self._shifts, (offset, len(self.source)))
        if behind:
            offset += self._shifts[behind - 1][1]
        return _place(self.source, min(offset, len(self.source)))


def fold(name: str) -> str:
    """Return an identifier for any name: child_name for `child-name`."""
    folded = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{folded}" if folded[:1].isdigit() else folded


def rewrite(source: str, names: Iterable[str] = ()) -> Rewritten:
    """Rewrite `has(name)`, `lists.range` and names that clash with words of CEL.

    `names` are the variables known to be there. Raises ExpressionError on an expression that is
    too long or empty, or uses an internal name.
    """
    if len(source) > MAX_LENGTH:
        message = f"the expression has {len(source)} characters; at most {MAX_LENGTH} are read"
        raise ExpressionError(message, help="split it, or compute it in a tool")
    if any("\ud800" <= letter <= "\udfff" for letter in source):
        raise ExpressionError("the expression contains an unpaired surrogate")
    if "\0" in source:
        line, column = _place(source, source.index("\0"))
        raise ExpressionError("not understood: the character NUL", column, line=line)
    marks = tokens(source)
    if not marks:
        raise ExpressionError("the expression is empty")
    for mark in marks:
        if mark.kind == "name" and mark.text.startswith("__"):
            line, column = _place(source, mark.at)
            raise ExpressionError("a name can't begin with two underscores", column, line=line)
    return _Rewriter(source, marks, frozenset(names)).rewritten()


class _Rewriter:
    def __init__(self, source: str, marks: list[Token], names: frozenset[str]) -> None:
        self.source = source
        self.marks = marks
        self.renamed = {n: f"v_{n}" for n in names if n in CLASHING}
        self.folded = {fold(n): n for n in names if fold(n) not in names}
        self.tested: set[str] = set()
        self.variables: set[str] = set()
        self.calls: set[str] = set()
        self.edits: list[tuple[int, int, str]] = []

    def rewritten(self) -> Rewritten:
        index = 0
        while index < len(self.marks):
            index += self._step(index)
        text, shifts = self._apply()
        aliases = {f"v_{n}": n for n in self.renamed} | self.folded
        return Rewritten(
            self.source,
            text,
            {n: self.folded.get(n, n) for n in sorted(self.tested)},
            frozenset(self.variables),
            frozenset(self.calls),
            self._path(),
            aliases,
            shifts,
        )

    def _step(self, index: int) -> int:
        mark = self.marks[index]
        if mark.kind != "name":
            return 1
        after = self._text(index + 1)
        if self._is_field(index):
            if after == "(":
                self.calls.add(mark.text)
            return 1
        if mark.text == "has" and after == "(" and self._tests_a_name(index):
            name = self.marks[index + 2]
            self.tested.add(name.text)
            self.edits.append((name.at, 0, f"{GIVEN}."))
            return 4
        if mark.text == "lists" and after == "." and self._text(index + 2) == "range":
            end = self.marks[index + 2]
            self.edits.append((mark.at, end.at + len(end.text) - mark.at, RANGE))
            self.calls.add("lists.range")
            return 3
        if after == "(":
            self.calls.add(mark.text)
            return 1
        if mark.text in self.renamed:
            self.edits.append((mark.at, len(mark.text), self.renamed[mark.text]))
        self.variables.add(mark.text)
        return 1

    def _is_field(self, index: int) -> bool:
        """Check whether the name is a field of the value before it: `a.b`, `a.?b`, not `.b`."""
        dot = index - 2 if self._text(index - 1) == "?" else index - 1
        if dot < 1 or self._text(dot) != ".":
            return False
        kind, text, _ = self.marks[dot - 1]
        return text in {")", "]", "}"} or (kind != "mark" and text != "in")

    def _tests_a_name(self, index: int) -> bool:
        is_name = index + 3 < len(self.marks) and self.marks[index + 2].kind == "name"
        return is_name and self._text(index + 3) == ")"

    def _text(self, index: int) -> str:
        if not 0 <= index < len(self.marks) or self.marks[index].kind == "string":
            return ""
        return self.marks[index].text

    def _path(self) -> tuple[str, ...]:
        texts = [m.text for m in self.marks]
        if len(texts) % 2 == 0 or any(t != "." for t in texts[1::2]):
            return ()
        if any(m.kind != "name" for m in self.marks[::2]):
            return ()
        root = texts[0]
        if root in CLASHING and root not in self.renamed:
            return ()
        return (self.folded.get(root, root), *texts[2::2])

    def _apply(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        pieces: list[str] = []
        shifts: list[tuple[int, int]] = []
        at = made = 0
        for start, length, text in sorted(self.edits):
            kept = self.source[at:start]
            pieces += [kept, text]
            made += len(kept) + len(text)
            at = start + length
            shifts.append((made, at - made))
        pieces.append(self.source[at:])
        return "".join(pieces), tuple(shifts)


def _offset(text: str, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        found = text.find("\n", start)
        if found < 0:
            break
        start = found + 1
    return start + max(column - 1, 0)


def _place(source: str, offset: int) -> tuple[int, int]:
    head = source[:offset]
    return head.count("\n") + 1, offset - (head.rfind("\n") + 1) + 1
