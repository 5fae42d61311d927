"""Check an expression against the types of its names, compile it, and complete it at a cursor."""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from toolmd._expressions.evaluator import Program
from toolmd._expressions.functions import (
    ANY,
    FUNCTIONS,
    EvaluationError,
    ExhaustedError,
    Function,
    Type,
    common,
    kind_of,
)
from toolmd._expressions.syntax import ExpressionError, Node, Token, error_at, parse, tokens
from toolmd._types.schema import Schema
from toolmd.errors import did_you_mean

_SPACES = frozenset(name.partition(".")[0] for name in FUNCTIONS if name.partition(".")[2])
CALLER, NOW, APPROVER = "caller", "now", "approver"
"""The names by which an expression reads who calls, the time, and who approves."""
_OF_A_DAY = frozenset((
    ".getFullYear", ".getMonth", ".getDate", ".getDayOfMonth", ".getDayOfWeek", ".getDayOfYear",
    ".getHours", ".getMinutes",
))  # fmt: skip
"""The functions whose value depends on the time zone."""
_PATTERNS = frozenset(("matches", ".matches"))
_SAMPLES: Mapping[str, Any] = {
    **dict.fromkeys(_PATTERNS, ""), "/": 1, "%": 1,
    **{name: dt.datetime.fromtimestamp(0, dt.UTC) for name in FUNCTIONS if name[:4] == ".get"},
}  # fmt: skip
"""A value for the first argument of functions that fail for some others, whatever the first is."""
_ELSEWHERE = {
    "len": "size", "length": "size", "count": "size", "lower": "lowerAscii",
    "upper": "upperAscii", "max": "math.greatest", "min": "math.least", "not": "!", "and": "&&",
    "or": "||",
}  # fmt: skip
"""The names in other languages of functions and operators, which no similar name would find."""


class CheckedExpression(NamedTuple):
    """The result type of an expression, and the names that it reads."""

    schema: Schema | None
    """The schema of the result, an optional unwrapped; None if only a run can show it."""
    optional: bool
    """Whether it may return no value (`slots.first()`)."""
    program: Program
    """The compiled expression."""
    shown: str = "any"
    """The type as messages name it; a time is `timestamp`, although its schema is that of text."""


class Checker:
    """A checker of expressions over the typed names of one scope.

    An object with known fields is closed: a field that it lacks is an error.
    """

    def __init__(
        self,
        names: Mapping[str, Schema],
        caller: Schema | None = None,
        *,
        of_approver: bool = False,
    ) -> None:
        """Keep the names; with the type of `caller`, that one may be read, too, and `approver`.

        A name of the scope that then stands for a person or for the time, too, is ambiguous.
        """
        people = (CALLER, APPROVER) if of_approver else (CALLER,)
        own = {} if caller is None else dict.fromkeys(people, caller)
        self._ambiguous = frozenset({CALLER, NOW, APPROVER} & names.keys() if own else ())
        names = {**names, **own}
        self._caller = caller
        self._aliases = {fold(name): name for name in names}
        self._types = {fold(name): type_of(shape) for name, shape in names.items()}

    def check(self, source: str) -> CheckedExpression:
        """Return the type of the result; raises ExpressionError with its position."""
        walk = _Walk(source, self._types, self._caller, self._ambiguous)
        program, found = walk.compile(self._aliases)
        optional = found.kind == "optional"
        found = found.inner or ANY if optional else found
        return CheckedExpression(schema_of(found), optional, program, found.shown)


def compile_expression(source: str, names: Iterable[str] = ()) -> Program:
    """Compile without types; cached. Raises ExpressionError.

    `names` are variables known to be there, needed only where one is not an identifier
    (`child-name`, written child_name) or is called `now`.
    """
    odd = frozenset(name for name in names if name == "now" or not name.isidentifier())
    return _program(source, odd)


@lru_cache(maxsize=2048)
def _program(source: str, names: frozenset[str]) -> Program:
    return _Walk(source, None).compile({fold(n): n for n in names})[0]


def fold(name: str) -> str:
    """Return an identifier for any name: child_name for `child-name`."""
    folded = re.sub(r"[^A-Za-z0-9_]", "_", name)
    return f"_{folded}" if folded[:1].isdigit() else folded


class _Walk:
    """A walk over a tree that types its nodes; without `names`, each name has any type."""

    def __init__(
        self,
        source: str,
        names: Mapping[str, Type] | None,
        caller: Schema | None = None,
        ambiguous: frozenset[str] = frozenset(),
    ) -> None:
        self._ambiguous = ambiguous
        self._source, self._names, self._caller = source, names, caller
        self._own: dict[str, Type] = {}
        self._read, self._tested = set[str](), set[str]()
        self._called_now = False
        self._facts = set[str]()

    def compile(self, aliases: Mapping[str, str]) -> tuple[Program, Type]:
        """Return the program and the type of its result; raises ExpressionError."""
        tree = parse(self._source)
        found = self.type(tree)
        names = self._read | self._tested
        clock = set() if "now" in aliases else names & {"now"}
        reads = {name: aliases.get(name, name) for name in sorted(names - clock)}
        reads_clock = bool(clock) or self._called_now
        program = Program(self._source, tree, reads, self._tested, reads_clock, self._facts)
        if not program.names:  # It takes the same of any values, so it shows here if too much.
            try:
                program.evaluate({}, now=dt.datetime.now(dt.UTC))
            except ExhaustedError as error:
                message = str(error).removesuffix(" on these values")
                help_ = "make less of its values in one expression, or compute it in a tool"
                raise ExpressionError(message, help=help_) from None
            except EvaluationError:
                pass  # A run reports it.
        return program, found

    def type(self, node: Node) -> Type:
        match node.kind:
            case "value":
                return kind_of(node.value)
            case "name":
                return self._name(node)
            case "has":
                self._has(node.parts[0])
                return Type("boolean")
            case "field":
                return self._field(node)
            case "index":
                return self._index(node)
            case "list":
                return Type("list", self._items(node, node.parts))
            case "object":
                for key in node.parts[::2]:
                    if self.type(key).kind not in ("string", "any"):
                        help_ = "write it in quotes"
                        raise self._error(key.at, "a key of an object must be text", help_)
                return Type("object", self._items(node, node.parts[1::2]))
            case "macro":
                return self._macro(node)
        return self._call(node)

    def _error(
        self, at: int, message: str, help_: str = "", code: str = "invalid-expression"
    ) -> ExpressionError:
        return error_at(self._source, at, message, help_, code)

    def _has(self, what: Node) -> None:
        before = self._read.copy()
        self.type(what)
        if what.kind == "name" and what.name not in self._own:
            self._read, self._tested = before, self._tested | {what.name}

    def _name(self, node: Node) -> Type:
        if node.name in self._own:
            return self._own[node.name]
        self._read.add(node.name)
        if node.name in self._ambiguous:
            of = {CALLER: "who calls", NOW: "the time", APPROVER: "who approves"}[node.name]
            message = f"'{node.name}' is the name of a parameter or a result here, and of {of}"
            help_ = "give the parameter or the result another name"
            raise self._error(node.at, message, help_, "ambiguous-name")
        if self._names is None:
            return ANY
        if node.name in self._names:
            return self._names[node.name]
        if node.name == "now":
            return self._call(node)
        hint = did_you_mean(node.name, self._names) or (
            f"write '{node.name}' in quotes if it is text"
        )
        raise self._error(node.at, f"unknown name '{node.name}'", hint)

    def _items(self, node: Node, parts: Sequence[Node]) -> Type:
        found: Type | None = None
        for part in parts:
            one = self.type(part)
            if one.kind == "optional":
                help_ = "unwrap it by `.orValue(…)`"
                raise self._error(node.at, "an optional lies inside the result", help_)
            found = one if found is None else common(found, one) or ANY
        return found or ANY

    def _field(self, node: Node) -> Type:
        over = self.type(node.parts[0])
        if _is_caller(node.parts[0]) and CALLER not in self._own:
            self._facts.add(node.name)
        is_optional = node.optional or over.kind == "optional"
        found = self._of_field(over.inner or ANY if over.kind == "optional" else over, node)
        return Type("optional", found) if is_optional else found

    def _of_field(self, over: Type, node: Node) -> Type:
        name = node.name if node.kind == "field" else str(node.parts[1].value)
        if over.kind == "record" and over.schema is not None:
            fields = {field.name: field.shape for field in over.schema.properties or ()}
            if name not in fields and over.schema is self._caller:
                raise self._error(node.at, *_unknown_fact(name, fields))
            if name not in fields:
                known = f"known: {', '.join([*fields][:12]) or 'none'}"
                hint = did_you_mean(name, fields) or known
                raise self._error(node.at, f"no field '{name}' here", hint)
            return type_of(fields[name])
        if over.kind not in ("object", "any"):
            message = f"no field '{name}' here: {over.shown} has no fields"
            raise self._error(node.at, message, "read a field of an object, or the value itself")
        return over.inner or ANY

    def _index(self, node: Node) -> Type:
        over, key = (self.type(part) for part in node.parts)
        if over.kind == "record" and key.kind in ("string", "any"):
            return self._of_field(over, node) if node.parts[1].kind == "value" else ANY
        return self._fit(node, FUNCTIONS["[]"], [over, key])

    def _macro(self, node: Node) -> Type:
        over = self.type(node.parts[0])
        if over.kind not in ("list", "object", "any"):
            message = f"{over.shown} is no list to go through"
            raise self._error(node.parts[0].at, message, "write a list before the dot")
        variable = str(node.value)
        outer = self._own.copy()
        self._own[variable] = Type("string") if over.kind == "object" else over.inner or ANY
        body = self.type(node.parts[1])
        self._own = outer
        return self._fit(node, FUNCTIONS[node.name], [over, body])

    def _call(self, node: Node) -> Type:
        function = FUNCTIONS.get(node.name)
        self._called_now |= node.name == "now"
        if self._names is not None and len(node.parts) == 1 and node.name in _OF_A_DAY:
            self._check_zone(node)
        name, over = node.name.lstrip("."), node.parts[0] if node.name[0] == "." else node
        spaces = _SPACES - self._own.keys() - (self._names or {}).keys()
        is_spaced = over.kind == "name" and over.name in spaces
        if (is_spaced and self._names is not None) or function is None or function.is_macro:
            if is_spaced:
                name = f"{over.name}.{name}"
            elif over is not node:
                self.type(over)
            at = over.at if is_spaced else node.at
            raise self._error(at, f"unknown function '{name}'", _function_hint(name))
        types = [self.type(part) for part in node.parts]
        found = self._fit(node, function, types)
        if self._names is not None or node.name in _PATTERNS:
            self._check_literals(node)
        return found

    def _check_literals(self, node: Node) -> None:
        """Report literals that make a call fail for every value before them."""
        first, *others = node.parts or (node,)
        if first.kind != "value" and node.name in _SAMPLES:
            first = Node("value", first.at, value=_SAMPLES[node.name])
        if any(part.kind != "value" for part in (first, *others)):
            return
        call = node._replace(parts=(first, *others))
        try:
            Program(self._source, call, {}, set(), reads_clock=False, facts=()).evaluate({})
        except EvaluationError as error:
            help_ = "every evaluation would fail: write another value"
            raise self._error(node.parts[-1].at, str(error), help_) from None

    def _check_zone(self, node: Node) -> None:
        todo = [node.parts[0]]
        while todo:
            one = todo.pop()
            if one.name == "now" and one.kind in {"name", "call"} and "now" not in self._own:
                message = f"'{node.name[1:]}' of now without a time zone is in UTC"
                help_ = f"write `{node.name[1:]}('Europe/Berlin')` with the zone of the project"
                raise self._error(node.at, message, help_, "time-zone-missing")
            todo += one.parts

    def _fit(self, node: Node, function: Function, types: list[Type]) -> Type:
        found = function.result(types)
        if found is not None:
            return found
        shown = ", ".join(one.shown for one in types) or "nothing"
        message = f"'{node.name.lstrip('.')}' does not take {shown}"
        raise self._error(node.at, message, _mismatch_hint(node.name, function, types))


def _is_caller(node: Node) -> bool:
    return node.kind == "name" and node.name == CALLER


def _unknown_fact(name: str, known: Iterable[str]) -> tuple[str, str, str]:
    """Return the message, the help and the code for a fact that nobody declares."""
    declare = f"name it in Requires Context, or in the settings below [identity]: facts.{name}"
    return f"no caller has a fact '{name}'", did_you_mean(name, known) or declare, "unknown-fact"


def _function_hint(name: str) -> str:
    space, _, bare = name.rpartition(".")
    known = [key.lstrip(".") for key in FUNCTIONS if key.lstrip(".")[0].isalpha()]
    if name in known:
        return f"write `value.{name}(…)`" if f".{name}" in FUNCTIONS else f"write `{name}(value)`"
    same = next((one for one in (f"math.{bare}", bare) if one in known), "")
    if other := _ELSEWHERE.get(bare) or same:
        return f"did you mean '{other}'?"
    near = [one for one in known if space and one.startswith(f"{space}.")]
    others = f"known: {', '.join(near or ('size', 'contains', 'filter', 'timestamp'))} …"
    return did_you_mean(name, known) or others


def _mismatch_hint(name: str, function: Function, types: Sequence[Type]) -> str:
    if any(one.kind == "optional" for one in types):
        return "unwrap the optional by `.orValue(…)`"
    if not function.result([Type("integer") if t.shown == "number" else t for t in types]):
        ways = [", ".join(one.shown for one in row.takes) for row in function.signatures]
        of_any = ", where T is any type" if "T" in "".join(ways) else ""
        return f"it takes ({') or ('.join(dict.fromkeys(ways))}){of_any}"
    if name == "/":
        return "write `double(…)` around one of them: two whole numbers divide without a rest"
    return "write `int(…)` around a number that must be whole"


def type_of(shape: Schema) -> Type:
    """Return the type of a schema."""
    only = shape.types[0] if len(shape.types) == 1 else "any"
    if only == "array":
        return Type("list", type_of(shape.items or Schema()), shape)
    if only == "object" and shape.properties is not None and shape.one_of is None:
        return Type("record", None, shape)
    if only == "object":
        return Type("object", type_of(shape.values or Schema()), shape)
    return Type(only, None, shape)


def schema_of(found: Type) -> Schema | None:
    """Return the schema of a type; None if only a run can show it."""
    if found.schema is not None:
        return found.schema
    forms = {"timestamp": "date-time", "duration": "duration"}
    if found.kind in forms:
        return Schema(types=("string",), format=forms[found.kind])
    inner = schema_of(found.inner) if found.inner is not None else None
    match found.kind:
        case "list":
            return Schema(types=("array",), items=inner)
        case "object":
            return Schema(types=("object",), values=inner)
        case "double":
            return Schema(types=("number",))
        case "string" | "integer" | "number" | "boolean" | "null" as kind:
            return Schema(types=(kind,))
    return None


_OPENS, _CLOSES = {"(", "[", "{"}, {")", "]", "}"}
_MACROS = frozenset(key[1:] for key, row in FUNCTIONS.items() if row.is_macro)
_NOTHING = Token("mark", "", 0)


class CursorScope(NamedTuple):
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
