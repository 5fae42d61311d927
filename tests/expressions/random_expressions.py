"""Random expressions from the table of functions, and random values for their names."""

import random
from collections.abc import Mapping
from typing import Any

from toolmd._expressions.functions import TABLE, Function, Signature, Type

VARIABLES: Mapping[str, tuple[str, ...]] = {
    "integer": ("i", "j"), "double": ("d",), "number": ("i", "d", "q"), "string": ("s", "t"),
    "boolean": ("b",), "null": ("n",), "list<string>": ("ss",), "list<integer>": ("ints",),
    "list<number>": ("qs",), "list<any>": ("xs",), "list<object<any>>": ("os",),
    "object<any>": ("o",), "any": ("a", "i", "s", "xs", "o", "n"),
}  # fmt: skip
"""The names of each type; `q` is a number that is whole or not, and `a` is anything."""
NAMES = sorted({name for names in VARIABLES.values() for name in names})
_CONCRETE = ("integer", "double", "number", "string", "boolean", "list<string>", "object<any>")
_INTEGERS = (0, 1, 2, 3, -1, 7, 100, 2**53 + 1, 2**63 - 1, -(2**63 - 1))
_DOUBLES = (0.0, 0.5, 1.0, -1.5, 2.5, 3.0, 1e15, 1e21, 1e308, 0.1)
_TEXTS = (
    "", "a", "ab", "b", "A b", " é ", "1", "-2.5", "true", "a,b,c", "^a", "[", "\U0001f600x",
    "2026-03-02T10:30:00Z", "2026-12-31T23:59:59.25+02:00", "2026-03-02", "90s", "1h30m", "-0.5s",
)  # fmt: skip
_TIMES = ("2026-03-02T10:30:00Z", "2024-02-29T23:59:59.5+02:00", "1969-12-31T00:00:01Z")
_SPANS = ("90s", "1h30m", "-1.5s", "500ms", "36h")
_ZONES = ("Europe/Berlin", "UTC", "America/New_York", "Mars/Base")
_ROWS = [row for rows in TABLE.values() for row in rows]
SIGNATURES = [(row, signature) for row in _ROWS for signature in row.signatures]


def text(kind: Type) -> str:
    """Return a type as a signature writes it."""
    return f"{kind.kind}<{text(kind.inner)}>" if kind.inner else kind.kind


class RandomExpressions:
    """A source of expressions: the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.used: set[str] = set()
        self._own: list[str] = []

    def values(self) -> dict[str, Any]:
        """Return a value for each name; sometimes one is missing."""
        choice = self.random.choice
        number = lambda: choice((choice(_INTEGERS), choice(_DOUBLES)))  # noqa: E731
        many = lambda one: [one() for _ in range(self.random.randrange(4))]  # noqa: E731
        thing = lambda: choice((number(), choice(_TEXTS), True, None, ["a"], {"k": 1}))  # noqa: E731
        made: dict[str, Any] = {
            "i": choice(_INTEGERS), "j": choice(_INTEGERS[:7]), "d": choice(_DOUBLES),
            "q": number(), "s": choice(_TEXTS), "t": choice(_TEXTS), "b": choice((True, False)),
            "n": None, "ss": many(lambda: choice(_TEXTS)), "qs": many(number),
            "ints": many(lambda: choice(_INTEGERS[:7])), "xs": many(thing), "a": thing(),
            "os": many(lambda: {"k": choice(_TEXTS), "v": number()}),
            "o": {"k": thing(), **({"v": thing()} if self.random.random() < 0.5 else {})},
        }  # fmt: skip
        if self.random.random() < 0.1:
            del made[choice(NAMES)]
        return made

    def expression(self) -> str:
        """Return an expression that begins with a function of the table."""
        row, signature = self.random.choice(SIGNATURES)
        return self._call(row, signature, self.random.randrange(1, 4))

    def _of(self, kind: Type, depth: int) -> str:
        """Return an expression of a type, rarely of another one."""
        if self.random.random() < 0.04:
            kind = self._type(self.random.choice(_CONCRETE))
        if kind.kind == "any":
            kind = self._type(self.random.choice(_CONCRETE))
        if depth <= 0 or self.random.random() < 0.25:
            return self._leaf(kind)
        fitting = [
            (row, signature)
            for row, signature in SIGNATURES
            if signature.gives.kind in (kind.kind, "T")
            or (kind.kind == "number" and signature.gives.kind in ("integer", "double"))
        ]
        return self._call(*self.random.choice(fitting), depth) if fitting else self._leaf(kind)

    def _type(self, name: str) -> Type:
        outer, _, inner = name.partition("<")
        return Type(outer, self._type(inner[:-1]) if inner else None)

    def _call(self, row: Function, signature: Signature, depth: int) -> str:
        bound = {name: self._type(self.random.choice(_CONCRETE)) for name in "TB"}
        takes = [self._filled(one, bound) for one in signature.takes]
        if signature.repeats:
            takes += takes[-1:] * self.random.randrange(3)
        self.used.add(row.names[0])
        name = self.random.choice(row.names)
        if name == "has":
            return self.random.choice(("has(o.k)", "has(o.v)", "has(s)", "has(q)", "has(o.k.v)"))
        if row.is_macro:
            over = self._of(takes[0], depth - 1)
            item = takes[0].inner or Type("string" if takes[0].kind == "object" else "any")
            variable = f"x{len(self._own)}"
            self._own.append(variable)
            body = variable if self.random.random() < 0.2 else self._of(takes[1], depth - 1)
            if item.kind in ("number", "integer") and takes[1].kind == "boolean":
                body = self.random.choice(
                    (body, f"{variable} > 1", f"{variable} == {self._leaf(item)}")
                )
            self._own.pop()
            return f"{over}.{name[1:]}({variable}, {body})"
        if name in ("timestamp", "duration") and takes[0].kind == "string":
            return f"{name}('{self.random.choice(_TIMES if name == 'timestamp' else _SPANS)}')"
        parts = [self._of(one, depth - 1) for one in takes]
        if name.startswith(".get") and len(parts) > 1:
            parts[1] = f"'{self.random.choice(_ZONES)}'"
        return written(name, parts)

    def _hidden(self, literal: str) -> str:
        """Return a literal, mostly without its type: CEL's check is stricter than its run."""
        return f"dyn({literal})" if self.random.random() < 0.7 else literal

    def _filled(self, kind: Type, bound: Mapping[str, Type]) -> Type:
        if kind.kind in bound:
            return bound[kind.kind]
        return Type(kind.kind, self._filled(kind.inner, bound) if kind.inner else None)

    def _leaf(self, kind: Type) -> str:  # noqa: PLR0911 - a return for each kind
        choice = self.random.choice
        known = VARIABLES.get(text(kind), ())
        if self._own and self.random.random() < 0.3:
            return choice(self._own)
        if known and self.random.random() < 0.6:
            return choice(known)
        match kind.kind:
            case "integer":
                return self._hidden(str(choice(_INTEGERS)))
            case "double":
                return self._hidden(repr(choice(_DOUBLES)))
            case "number":
                return self._hidden(choice((str(choice(_INTEGERS)), repr(choice(_DOUBLES)))))
            case "string":
                return self._hidden(f"'{choice(_TEXTS)}'")
            case "boolean":
                return choice(("true", "false", "b", "i > 1"))
            case "list":
                inner = kind.inner or Type("integer")
                return f"[{', '.join(self._leaf(inner) for _ in range(self.random.randrange(4)))}]"
            case "object":
                return choice(
                    ("o", "os[0]", f"{{'k': {self._leaf(kind.inner or Type('string'))}}}")
                )
            case "optional":
                return choice(("xs.first()", "ints.last()", "o.?k", "o.?v", "os.first().k"))
            case "timestamp":
                return f"timestamp('{choice(_TIMES)}')"
            case "duration":
                return f"duration('{choice(_SPANS)}')"
        return choice(("null", "n", "a", "o.k", "xs[0]"))


def written(name: str, parts: list[str]) -> str:
    """Return a call as expressions write it."""
    if name == "? :":
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if name == "[]":
        return f"{parts[0]}[{parts[1]}]"
    if name.startswith("."):
        return f"{parts[0]}{name}({', '.join(parts[1:])})"
    if name[0].isalpha() and name != "in":
        return f"{name}({', '.join(parts)})"
    return f"({f' {name} '.join(parts)})" if len(parts) > 1 else f"{name}({parts[0]})"
