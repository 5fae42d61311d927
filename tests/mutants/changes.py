"""The small wrongs that a mutant has one of: each is a change of one place of a module's text."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

_ORDERS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_EXTREMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LONG = 200
# What types say is mypy's to check.
_UNTOUCHED = ("annotation", "returns", "bases", "decorator_list", "format_spec")


class Change(NamedTuple):
    """One wrong, and the module that has it."""

    line: int
    """Where it is, from 1."""
    said: str
    """What changed, as `old → new`."""
    text: str
    """The whole module with it."""


def changes_of(text: str) -> Iterator[Change]:
    """Give every change of a module's text; equal ones once."""
    tree = ast.parse(text)
    whole = ast.unparse(tree)
    seen = {whole}
    for owner, key, node in _places(tree):
        for new in (*_wrongs(node), *_denied(node, key)):
            _put(owner, key, new)
            changed = ast.unparse(tree)
            _put(owner, key, node)
            if changed not in seen:
                seen.add(changed)
                yield Change(node.lineno, _difference(whole, changed), changed)


def _places(node: ast.AST) -> Iterator[tuple[Any, Any, Any]]:
    """Give what can be exchanged, with what holds it, and under which field or index."""
    for name, value in () if _is_type(node) else ast.iter_fields(node):
        if name in _UNTOUCHED:
            continue
        many = isinstance(value, list)
        for key, child in enumerate(value) if many else ((name, value),):
            if not isinstance(child, ast.AST) or isinstance(child, ast.Assert):
                continue
            # Words are no interface; what is put between them may be.
            if isinstance(node, ast.JoinedStr | ast.Expr) and isinstance(child, ast.Constant):
                continue
            if hasattr(child, "lineno"):
                yield (value if many else node), key, child
            yield from _places(child)


def _is_type(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _said(node.func) == "TypeVar"
    name = _said(node.value) if isinstance(node, ast.Subscript) else ""
    return name in ("tuple", "list", "dict") or (name[:1].isupper() and not name.isupper())


def _wrongs(node: ast.AST) -> Iterator[ast.AST]:
    """Give what may stand in a node's place."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=others):
            for index, op in enumerate(ops):
                for order in _ORDERS[type(op)]:
                    yield ast.Compare(left, [*ops[:index], order(), *ops[index + 1 :]], others)
        case ast.BoolOp(op=op, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for rest in _shorter(values):
                yield rest[0] if len(rest) == 1 else ast.BoolOp(op, rest)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            yield ast.BinOp(left, _ARITHMETIC[type(op)](), right)
        case ast.Call(func=func, args=args, keywords=keywords):
            yield from (ast.Call(func, args, rest) for rest in _shorter(keywords))
        case ast.Dict(keys=keys, values=values):
            yield from map(ast.Dict, _shorter(keys), _shorter(values))
        case ast.Tuple(elts=items, ctx=ast.Load()) | ast.List(elts=items, ctx=ast.Load()):
            yield from (type(node)(rest, ast.Load()) for rest in _shorter(items))
        case ast.Name(id=name) if name in _EXTREMES:
            yield ast.Name(_EXTREMES[name])
        case ast.Constant(value=value):
            yield from map(ast.Constant, _values(value))
        case ast.stmt():
            yield from _undone(node)


def _denied(node: ast.AST, key: object) -> Iterator[ast.AST]:
    if _said(node) == "TYPE_CHECKING":
        return
    if key == "test" and isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.NamedExpr):
        yield ast.UnaryOp(ast.Not(), node)


def _undone(node: ast.stmt) -> Iterator[ast.stmt]:
    """Give a statement that does not do what this one does."""
    match node:
        case ast.Return(value=value) if value is not None and _said(value) != "None":
            yield ast.Return(None)
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield ast.Pass()
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield ast.Pass()


def _values(value: object) -> Iterator[object]:
    match value:
        case bool():
            yield not value
        case int() | float():
            yield value + 1
        case str() if " " not in value:
            yield "" if value else "odd"
        case bytes() if b" " not in value:
            yield b"" if value else b"odd"


def _shorter(items: list[Any]) -> Iterator[list[Any]]:
    return (items[:index] + items[index + 1 :] for index in range(len(items)))


def _put(owner: Any, key: Any, node: ast.AST) -> None:
    if isinstance(key, int):
        owner[key] = node
    else:
        setattr(owner, key, node)


def _said(node: ast.AST) -> str:
    return ast.unparse(node).split("\n")[0]


def _difference(whole: str, changed: str) -> str:
    """Tell a change by the statement that has it; of a long one by the part that changed."""
    lines = zip(whole.split("\n"), changed.split("\n"), strict=False)
    old, new = next((old.strip(), new.strip()) for old, new in lines if old != new)
    if len(old) + len(new) > _LONG:
        head = _alike(old, new)
        tail = _alike(old[head:][::-1], new[head:][::-1])
        old, new = (f"…{one[head : len(one) - tail]}…" for one in (old, new))
    return f"{old} → {new}"


def _alike(one: str, other: str) -> int:
    """Count the characters that both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
