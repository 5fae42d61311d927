"""Bound the memory of an expression before it runs, from its tree and the sizes of its values.

See decision 030.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from toolmd._expressions.environment import MAX_DAYS, MAX_RANGE
from toolmd._expressions.error import ExpressionError
from toolmd._expressions.rewrite import RANGE
from toolmd._expressions.tree import Node, tree_of

MOST = 512 * 2**20
"""Bytes that an evaluation may take, as its bound counts them."""
MAX_STEPS = 10_000
"""Loop iterations in one evaluation; the evaluator stops there."""
MOST_VISITS = 20_000
"""Nodes that may be visited; the body of a loop is visited twice, and so are loops in it."""
_PER_CHARACTER = 4
_PER_VALUE = 64
_PER_COPY = 32
"""Bytes of an item in a list that is made by a loop: each iteration copies the list."""
_DIGITS = 24
"""Characters of a number or a date."""
_WIDEST = 1400
"""Characters of a number in a format: `%.1000f` of the greatest."""


class Size(NamedTuple):
    """The largest size of a value, with everything in it."""

    text: float
    """Characters."""
    nodes: float
    """Values."""
    longest: float
    """Items of the longest list."""


class Growth(NamedTuple):
    """The largest result of a node, and the bytes of all intermediate values."""

    text: float
    nodes: float
    longest: float
    work: float


NOTHING = Size(0, 0, 0)
_ONE = Growth(0, 1, 0, 0)
_EMPTY = Node("made")


ONE_VALUE = Size(0, 1, 0)
"""The size of a number, a date or a boolean."""
USUAL = Size(65_536, 1_000, 200)
"""Values up to this size are checked once at compilation, not at each evaluation."""
_LITTLE = Size(16, 4, 2)


def is_usual(size: Size) -> bool:
    """Check that a value is within USUAL."""
    return size.text <= USUAL.text and size.nodes <= USUAL.nodes and size.longest <= USUAL.longest


def growth_of(compiled: Any) -> "GrowthBound":
    """Return the bound of a compiled expression.

    Raises ExpressionError where even little values may take more than MOST, and ValueError where
    the expression can't be read.
    """
    bound = GrowthBound(tree_of(compiled))
    bound.is_tame = not bound.is_over({}, USUAL)
    if not bound.is_tame and bound.is_over({}, _LITTLE):
        message = f"the expression may take over {MOST >> 20} MiB, however little it is given"
        help_ = "make less of its values in one expression, or compute it in a tool"
        raise ExpressionError(message, help=help_)
    return bound


class GrowthBound:
    """The memory bound of one expression, for values of any size.

    The bound holds whatever the values are, so it may lie far above what comes of most of them.
    It only ever grows with the values, and no slower than they do: what a loop makes of many
    items is at most what it would make of one that holds all of them, and of nothing for each of
    the others.
    """

    def __init__(self, tree: Node) -> None:
        self._tree = tree
        self.is_tame = False
        """Whether values that are no larger than usual can take no more than MOST."""
        self._visits = 0
        self._copied = 0.0
        self._sizes: Mapping[str, Size] = {}
        self._default = NOTHING

    def bytes(self, sizes: Mapping[str, Size], default: Size = NOTHING) -> float:
        """Return the most bytes that values of these sizes may take; infinite if unknown.

        `default` is the size of a value that `sizes` lacks.
        """
        self._visits, self._copied, self._sizes, self._default = 0, 0.0, sizes, default
        try:
            bound = self._of(self._tree, {}, _Around(1, 1))
            # The result exists twice: as a CEL value and as a Python value.
            whole = bound.work + 2 * _weight(bound.text, bound.nodes) + self._copied
        except (_TooManyError, RecursionError, OverflowError, ValueError):
            return math.inf
        return math.inf if math.isnan(whole) else whole

    def is_over(self, sizes: Mapping[str, Size], default: Size = NOTHING) -> bool:
        """Check whether values of these sizes may take more than MOST bytes."""
        return self.bytes(sizes, default) > MOST

    def _of(self, node: Node, own: Mapping[str, Size], around: "_Around") -> Growth:
        self._visits += 1
        if self._visits > MOST_VISITS:
            raise _TooManyError
        match node.kind:
            case "text":
                return Growth(node.length, 1, 0, 0)
            case "name":
                size = own.get(node.name) or self._sizes.get(node.name) or self._default
                return Growth(*size, 0)
            case "field":
                return self._of(node.parts[0], own, around)
            case "test":
                return _ONE._replace(work=self._of(node.parts[0], own, around).work)
            case "made":
                parts = [self._of(part, own, around) for part in node.parts]
                text, nodes, longest = _added(*parts)
                size = Size(text, nodes + 1, max(longest, len(parts)))
                return _made(size, parts)
            case "call":
                given = [self._of(part, own, around) for part in node.parts]
                if node.name == RANGE and node.parts[0].kind == "value":
                    given = [Growth(0, node.parts[0].length, 0, 0)]
                elif node.name == RANGE:
                    given = [Growth(0, MAX_RANGE, 0, given[0].work)]
                return _called(node.name, given)
            case "loop":
                return self._loop(node, own, around)
            case _:
                return _ONE

    def _loop(self, node: Node, own: Mapping[str, Size], around: "_Around") -> Growth:
        over, first, condition, step, result = node.parts
        *items, value = node.variables
        began = self._of(first, own, around)
        if over == _EMPTY:
            # What `cel.bind` is made of: a name for the first value, and no turn.
            bound = self._of(result, {**own, value: Size(*began[:3])}, around)
            return bound._replace(work=bound.work + began.work)
        ranged = self._of(over, own, around)
        turns = min(ranged.longest, ranged.nodes)
        if first == _EMPTY:
            all_turns = min(around.all * turns, MAX_STEPS)
            self._copied += min(turns, MAX_STEPS) * all_turns / 2 * _PER_COPY
        # All turns of all loops together are no more than may be.
        turns = min(turns, MAX_STEPS / around.each)

        def turn(item: Size, inside: _Around) -> Growth:
            names = {**own, **dict.fromkeys(items, item), value: NOTHING}
            tested, stepped = self._of(condition, names, inside), self._of(step, names, inside)
            return stepped._replace(work=stepped.work + tested.work)

        whole = turn(Size(*ranged[:3]), _Around(around.each, around.all * turns))
        bare = turn(NOTHING, _Around(max(around.each * turns, 1), 0))
        others = max(turns - 1, 0)
        text, nodes, _, work = (
            one + others * other for one, other in zip(whole, bare, strict=True)
        )
        grown = Size(began.text + text, began.nodes + nodes, max(turns, whole.longest))
        ended = self._of(result, {**own, value: grown}, around)
        return ended._replace(work=ended.work + ranged.work + began.work + work)


class _Around(NamedTuple):
    """The loops around a node."""

    each: float
    """How many turns of them are looked at as one."""
    all: float
    """How many turns they make at most; 0 where that is counted already."""


class _TooManyError(Exception):
    """The expression has more nodes than MOST_VISITS."""


def _weight(text: float, nodes: float) -> float:
    return _PER_CHARACTER * text + _PER_VALUE * nodes


def _made(size: Size, of: Sequence[Growth]) -> Growth:
    work = math.fsum(one.work for one in of)
    return Growth(*size, work + _weight(size.text, size.nodes))


def _called(name: str, given: Sequence[Growth]) -> Growth:
    """Bound a call by its arguments."""
    work = math.fsum(one.work for one in given)
    if name in _SMALL or name.startswith("math."):
        return _ONE._replace(work=work)
    if name in _PARTS:
        return Growth(*_most(*given), work)
    return _made(_MAKERS.get(name, _any)(*given), given)


def _most(*given: Growth) -> Size:
    return Size(*(max(column) for column in list(zip(*given, strict=True))[:3]))


def _added(*given: Growth) -> Size:
    if not given:
        return NOTHING
    text, nodes, longest, _ = (math.fsum(column) for column in zip(*given, strict=True))
    return Size(text, nodes, longest)


def _any(*given: Growth) -> Size:
    """Bound the result of an unknown function by the product of its arguments."""
    product = math.prod(1 + one.text + one.nodes for one in given)
    return Size(product, product, product)


def _replaced(text: Growth, old: Growth, new: Growth, *_: Growth) -> Size:
    del old
    # An empty text is found between all characters, and at both ends.
    return Size(text.text + (text.text + 1) * new.text, 1, 0)


def _joined(items: Growth, between: Growth = _ONE, *_: Growth) -> Size:
    return Size(items.text + items.nodes * between.text, 1, 0)


def _formatted(form: Growth, *items: Growth) -> Size:
    values = _added(*items)
    return Size(form.text + 2 * values.text + _WIDEST * values.nodes, 1, 0)


def _split(text: Growth, *_: Growth) -> Size:
    return Size(text.text, text.text + 1, text.text + 1)


def _flattened(items: Growth, *_: Growth) -> Size:
    return Size(items.text, items.nodes, items.nodes)


def _ranged(number: Growth) -> Size:
    items = min(number.nodes, MAX_RANGE)
    return Size(0, items + 1, items)


def _spelt(value: Growth, *_: Growth) -> Size:
    return Size(4 * value.text + _DIGITS * value.nodes, 1, 0)


_PARTS = frozenset(
    """
    _?_:_ _[_] _[?_] _?._ dyn first last optional.of optional.ofNonZeroValue or orValue value
    """.split()
)
"""Functions that return one of their arguments, or a part of one."""
_SMALL = frozenset(
    """
    _||_ _&&_ !_ _==_ _!=_ _<_ _<=_ _>_ _>=_ @in -_ _-_ _*_ _/_ _%_ @not_strictly_false bool
    contains double duration endsWith getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear
    getHours getMilliseconds getMinutes getMonth getSeconds hasValue indexOf int lastIndexOf
    matches now optional.none size startsWith timestamp type uint
    """.split()
)
"""Functions that return a number, a date or a boolean."""
_MAKERS: Mapping[str, Callable[..., Size]] = {
    "_+_": _added,
    "replace": _replaced,
    "join": _joined,
    "format": _formatted,
    "split": _split,
    "string": _spelt,
    "bytes": _spelt,
    "strings.quote": _spelt,
    "flatten": _flattened,
    RANGE: _ranged,
    "next_days": lambda *_: Size(MAX_DAYS * 10, MAX_DAYS + 1, MAX_DAYS),
    **dict.fromkeys(
        "@sortByAssociatedKeys charAt distinct lowerAscii reverse slice sort substring trim"
        " upperAscii".split(),
        _added,
    ),
}
