"""Parse an expression: its tokens, its tree and its error; and text with `{expression}` in it."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from toolmd._expressions.functions import FUNCTIONS
from toolmd._types.visible import value_text
from toolmd.errors import ToolmdError

MAX_LENGTH = 2000
"""Characters of an expression."""
MAX_DEPTH = 32
"""Levels of an expression: brackets, calls, and the links of a chain such as `a.b.c`."""
RESERVED: Mapping[str, Any] = {"true": True, "false": False, "null": None, "in": None}
"""The words that are no names."""
_TOKEN = re.compile(
    r"""
    (?P<string> "(?:\\.|[^"\\\r\n])*" | '(?:\\.|[^'\\\r\n])*')
    | (?P<space> \s+ | //[^\n]*)
    | (?P<name> [A-Za-z_][A-Za-z0-9_]*)
    | (?P<number> (?:[0-9]*\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<mark> && | \|\| | ===? | !==? | <[=>]? | >=? | =[<>]? | (?s:.))
    """,
    re.VERBOSE,
)
_BINDS = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
_BINDS |= dict.fromkeys(("<", "<=", ">", ">=", "==", "!=", "in"), 3)
"""How strongly each operator between two values binds."""
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES = dict(zip("nrt\\'\"", "\n\r\t\\'\"", strict=True))
_ELSEWHERE = {
    "and": "&&", "or": "||", "not": "!", "is": "==", "equals": "==", "&": "&&", "|": "||",
    "=": "==", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=<": "<=",
    "“": '"', "”": '"', "„": '"',
}  # fmt: skip
"""The operators and quotation marks of other languages, to those of expressions."""


class ExpressionError(ToolmdError):
    """An expression that can't be compiled, or does not fit the types of its names.

    Its line and its column, in code points, count from 1. Its help is what to write instead, or
    empty. Its code is that of the diagnostic.
    """

    def __init__(
        self,
        message: str,
        column: int = 1,
        *,
        line: int = 1,
        help: str = "",  # noqa: A002 - the word of a diagnostic
        code: str = "invalid-expression",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.help = help


def error_at(
    source: str, at: int, message: str, help_: str = "", code: str = "invalid-expression"
) -> ExpressionError:
    """Build an error at an offset of an expression."""
    before = source[:at].split("\n")
    column = len(before[-1]) + 1
    return ExpressionError(message, column, line=len(before), help=help_, code=code)


class Token(NamedTuple):
    """A piece of an expression: a string, name, number or mark, with the offset where it begins."""

    kind: str
    text: str
    at: int


def tokens(source: str) -> list[Token]:
    """Return the tokens without spaces and comments.

    It never fails: a character that begins no token is a mark, and the parser reports the error.
    """
    return [
        Token(str(match.lastgroup), match.group(), match.start())
        for match in _TOKEN.finditer(source)
        if match.lastgroup != "space"
    ]


class Node(NamedTuple):
    """A node of the tree of an expression, with the offset that an error marks.

    Its name is that of a name, of a field, or of a function: its key in FUNCTIONS. Its value is
    that of a literal, or the name that a macro binds. A field is optional in `a.?b`.
    """

    kind: Literal["value", "name", "has", "field", "index", "call", "macro", "list", "object"]
    at: int
    name: str = ""
    parts: tuple["Node", ...] = ()
    value: Any = None
    optional: bool = False
    depth: int = 1
    size: int = 1
    """The number of nodes."""


def parse(source: str) -> Node:
    """Return the tree of an expression; raises ExpressionError with the place of the mistake."""
    if len(source) > MAX_LENGTH:
        message = f"the expression has {len(source)} characters; at most {MAX_LENGTH} are read"
        raise ExpressionError(message, help="split it, or compute it in a tool")
    if re.search("[\ud800-\udfff]", source):
        raise ExpressionError("the expression contains an unpaired surrogate", help="remove it")
    parser = _Parser(source)
    if not parser.marks:
        raise ExpressionError("the expression is empty", help="write one: `amount > 100`")
    node = parser.expression()
    if parser.at < len(parser.marks):
        raise parser.stuck()
    return node


class _Parser:
    """A parser by precedence: each method reads one form from the marks, and goes on."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.marks = tokens(source)
        self.at = self.nesting = 0

    @property
    def text(self) -> str:
        """The text of the next mark; empty at the end and for a string."""
        if self.at >= len(self.marks) or self.marks[self.at].kind == "string":
            return ""
        return self.marks[self.at].text

    def take(self, *texts: str) -> Token | None:
        if self.text not in texts:
            return None
        self.at += 1
        return self.marks[self.at - 1]

    def need(self, text: str) -> None:
        if self.take(text) is None:
            raise self.stuck()

    def name(self) -> Token:
        if self.at >= len(self.marks) or self.marks[self.at].kind != "name":
            raise self.stuck()
        self.at += 1
        return self.marks[self.at - 1]

    def node(self, kind: Any, at: int, name: str = "", *parts: Node, **more: Any) -> Node:
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > MAX_DEPTH:
            raise self.too_deep(at)
        size = 1 + sum(part.size for part in parts)
        return Node(kind, at, name, parts, depth=depth, size=size, **more)

    def too_deep(self, at: int) -> ExpressionError:
        message = f"the expression is nested too deeply or too long a chain ({MAX_DEPTH} levels)"
        return error_at(self.source, at, message, "split it, or compute it in a tool")

    def stuck(self) -> ExpressionError:
        """Return the error of a mark that can't stand where it does."""
        if self.at >= len(self.marks):
            help_ = "write a value behind the last operator, and close each bracket"
            return error_at(self.source, len(self.source), "the expression ends too early", help_)
        mark = self.marks[self.at]
        before = self.marks[self.at - 1] if self.at else Token("mark", "", 0)
        touches = before.at + len(before.text) == mark.at
        for one in (mark, before):
            if one.kind != "string" and (known := _ELSEWHERE.get(one.text)) is not None:
                message = f"'{one.text}' is no operator"
                return error_at(self.source, one.at, message, f"write `{known}`")
        message = f"not understood at '{mark.text[:40]}'"
        help_ = "remove it, or write values and operators in turn: `a > 1 && b > 2`"
        if touches and (before.kind, mark.kind) == ("name", "string"):
            message, help_ = "raw text and bytes are no part of expressions", "write plain text"
        elif touches and before.kind == "number" and mark.text in ("u", "U"):
            message, help_ = "there are no unsigned numbers", f"write `{before.text}`"
        elif mark.text == "`":
            message, help_ = "a backtick is no part of an expression", "write one expression in one"
            help_ += " code span: `a > 1 || b > 2`"
        elif before.kind == "number" and mark.text == ",":
            message, help_ = "a comma is no part of a number", "write `1000` or `2.5`"
        elif (before.kind != "mark" or before.text in (")", "]")) and mark.kind != "mark":
            message = f"'{mark.text[:40]}' stands directly behind '{before.text[:40]}'"
            help_ = "write an operator between them: `==`, `>`, `&&`, `||`; text stands in quotes"
        return error_at(self.source, mark.at, message, help_)

    def expression(self) -> Node:
        self.nesting += 1
        if self.nesting > MAX_DEPTH:
            raise self.too_deep(self.marks[self.at - 1].at)
        node = self.operation(1)
        if (mark := self.take("?")) is not None:
            yes = self.operation(1)
            self.need(":")
            node = self.node("call", mark.at, "? :", node, yes, self.expression())
        self.nesting -= 1
        return node

    def operation(self, least: int) -> Node:
        """Read operators that bind at least so strongly, with their values."""
        node = self.unary()
        while (binds := _BINDS.get(self.text, 0)) >= least:
            mark = self.marks[self.at]
            self.at += 1
            other = self.operation(binds + 1)
            # A chain of && or || is one node: it may be long, and is evaluated in one loop.
            is_chain = node.name == mark.text and binds <= _BINDS["&&"]
            first = node.parts if is_chain else (node,)
            node = self.node("call", node.at if is_chain else mark.at, mark.text, *first, other)
        return node

    def unary(self) -> Node:
        signs: list[Token] = []
        while (mark := self.take("!", "-")) is not None:
            signs.append(mark)
        node = self.member(self.primary())
        for mark in reversed(signs):
            node = self.node("call", mark.at, mark.text, node)
        return node

    def member(self, node: Node) -> Node:
        """Read the fields, indexes and calls behind a value."""
        while (mark := self.take(".", "[")) is not None:
            if mark.text == "[":
                node = self.node("index", mark.at, "[]", node, self.expression())
                self.need("]")
                continue
            optional = self.take("?") is not None
            name = self.name()
            if not optional and self.take("("):
                node = self.method(node, name)
            else:
                node = self.node("field", name.at, name.text, node, optional=optional)
        return node

    def method(self, over: Node, name: Token) -> Node:
        """Read the arguments of `value.name(…)`, or of a function with a dot such as `math.abs`."""
        arguments = self.arguments(")")
        spaced = f"{over.name}.{name.text}"
        if over.kind == "name" and spaced in FUNCTIONS:
            return self.node("call", over.at, spaced, *arguments)
        key = f".{name.text}"
        if key in FUNCTIONS and FUNCTIONS[key].is_macro:
            if len(arguments) != 2 or arguments[0].kind != "name":  # noqa: PLR2004 - a name and a body
                message = f"'{name.text}' takes a name and an expression"
                help_ = f"write `{name.text}(x, …)`, with an expression over `x`"
                raise error_at(self.source, name.at, message, help_)
            variable, body = arguments
            return self.node("macro", name.at, key, over, body, value=variable.name)
        return self.node("call", name.at, key, over, *arguments)

    def arguments(self, close: str, *, are_pairs: bool = False) -> list[Node]:
        found: list[Node] = []
        while not self.take(close):
            found.append(self.expression())
            if are_pairs:
                self.need(":")
                found.append(self.expression())
            if not self.take(","):
                self.need(close)
                break
        return found

    def primary(self) -> Node:
        if self.at >= len(self.marks):
            raise self.stuck()
        mark = self.marks[self.at]
        self.at += 1
        match mark:
            case Token("number"):
                return self.number(mark)
            case Token("string"):
                return Node("value", mark.at, value=self.string(mark))
            case Token("name", "true" | "false" | "null"):
                return Node("value", mark.at, value=RESERVED[mark.text])
            case Token("name", text) if text != "in":
                return self.named(mark)
            case Token(_, "("):
                node = self.expression()
                self.need(")")
                return node
            case Token(_, "["):
                return self.node("list", mark.at, "", *self.arguments("]"))
            case Token(_, "{"):
                return self.node("object", mark.at, "", *self.arguments("}", are_pairs=True))
        self.at -= 1
        raise self.stuck()

    def named(self, mark: Token) -> Node:
        if not self.take("("):
            return Node("name", mark.at, mark.text)
        arguments = self.arguments(")")
        if mark.text != "has":
            return self.node("call", mark.at, mark.text, *arguments)
        if len(arguments) != 1 or arguments[0].kind not in ("name", "field"):
            help_ = "write `has(name)` or `has(value.field)`"
            raise error_at(self.source, mark.at, "'has' takes a name or a field", help_)
        return self.node("has", mark.at, "has", *arguments)

    def number(self, mark: Token) -> Node:
        is_whole = re.fullmatch("[0-9]+", mark.text)
        value = int(mark.text) if is_whole else float(mark.text)
        if value >= 2**63 if is_whole else not math.isfinite(value):
            raise error_at(self.source, mark.at, "the number is too large", "write a smaller one")
        return Node("value", mark.at, value=value)

    def string(self, mark: Token) -> str:
        def escaped(found: re.Match[str]) -> str:
            code = found[1]
            letter = chr(int(code[1:], 16)) if code[1:] else _ESCAPES.get(code, "")
            if not letter or "\ud800" <= letter <= "\udfff":
                message = f"'{found[0]}' stands for no character"
                help_ = "write `\\\\` for a backslash, and `\\u00e9` for the character 00e9"
                raise error_at(self.source, mark.at + 1 + found.start(), message, help_)
            return letter

        return _ESCAPE.sub(escaped, mark.text[1:-1])


def pieces(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the pieces of a text, each with whether it is an expression.

    An opening brace that is never closed is text.
    """
    at = 0
    while (start := text.find("{", at)) >= 0 and (end := _closing_brace(text, start)) >= 0:
        if start > at:
            yield text[at:start], False
        yield text[start + 1 : end].strip(), True
        at = end + 1
    if at < len(text):
        yield text[at:], False


def fill(text: str, evaluate: Callable[[str], Any]) -> str:
    """Return a text for a person with the value of each expression in it."""
    return "".join(value_text(evaluate(one)) if is_code else one for one, is_code in pieces(text))


def _closing_brace(text: str, start: int) -> int:
    """Return the end of the brace at `start`, skipping nested braces and quotes; -1 if none."""
    depth, quote, at = 0, "", start
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'" and depth:
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return -1
