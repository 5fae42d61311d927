"""Read the tree of a compiled expression: its nodes, without types or positions."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Node(NamedTuple):
    """One node: a constant, a name, or a combination of other nodes."""

    kind: str
    """`text`, `value`, `name`, `field`, `test`, `call`, `made` or `loop`."""
    name: str = ""
    """Of a variable, or of a function."""
    length: int = 0
    """Of a text; a whole number itself."""
    parts: "tuple[Node, ...]" = ()
    """Arguments, the one before the dot first; items, keys and values; or a loop's range, first
    value, condition, step and result."""
    variables: tuple[str, ...] = ()
    """Of a loop: those of its items, then that of its value."""


def tree_of(compiled: Any) -> Node:
    """Return the tree of a compiled expression; raises ValueError if it can't be read."""
    # An Any that contains a CheckedExpr (cel.expr, checked.proto and syntax.proto).
    checked = _last(compiled.serialize(), 2)
    return _node(_last(checked, 4))


def _node(data: bytes) -> Node:
    for number, content in _fields(data):
        if number in _KINDS:
            return _KINDS[number](content)
    return Node("value")


def _constant(data: bytes) -> Node:
    for number, content in _fields(data):
        if number == 6:  # noqa: PLR2004 - string_value
            return Node("text", length=len(content.decode(errors="replace")))
        if number == 7:  # noqa: PLR2004 - bytes_value
            return Node("text", length=len(content))
        if number in {3, 4}:  # int64_value and uint64_value
            return Node("value", length=content)
    return Node("value")


def _name(data: bytes) -> Node:
    return Node("name", _last(data, 1).decode())


def _select(data: bytes) -> Node:
    kind = "test" if any(number == 3 for number, _ in _fields(data)) else "field"  # noqa: PLR2004 - test_only
    return Node(kind, parts=(_node(_last(data, 1)),))


def _call(data: bytes) -> Node:
    name, parts = "", list[Node]()
    for number, content in _fields(data):
        match number:
            case 1:
                parts.insert(0, _node(content))
            case 2:
                name = content.decode()
            case 3:
                parts.append(_node(content))
    return Node("call", name, parts=tuple(parts))


def _list(data: bytes) -> Node:
    return Node("made", parts=tuple(_node(c) for number, c in _fields(data) if number == 1))


def _struct(data: bytes) -> Node:
    parts: list[Node] = []
    for number, entry in _fields(data):
        if number == 2:  # noqa: PLR2004 - entries
            for inner, content in _fields(entry):
                if inner == 2:  # noqa: PLR2004 - field_key
                    parts.append(Node("text", length=len(content)))
                elif inner in {3, 4}:  # map_key and value
                    parts.append(_node(content))
    return Node("made", parts=tuple(parts))


def _loop(data: bytes) -> Node:
    found = dict(_fields(data))
    names = tuple(found[number].decode() for number in (1, 8, 3) if number in found)
    return Node("loop", parts=tuple(_node(found[n]) for n in (2, 4, 5, 6, 7)), variables=names)


_KINDS = {3: _constant, 4: _name, 5: _select, 6: _call, 7: _list, 8: _struct, 9: _loop}


def _last(data: bytes, wanted: int) -> bytes:
    found: bytes = b""
    for number, content in _fields(data):
        if number == wanted:
            found = content
    return found


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Return the fields of a protobuf message: their numbers, and bytes or a number."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        match tag & 7:
            case 0:
                value, at = _number(data, at)
                yield tag >> 3, value
            case 1:
                yield tag >> 3, data[at : at + 8]
                at += 8
            case 2:
                length, at = _number(data, at)
                yield tag >> 3, data[at : at + length]
                at += length
            case 5:
                yield tag >> 3, data[at : at + 4]
                at += 4
            case _:
                message = "the compiled expression can't be read"
                raise ValueError(message)


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:  # noqa: PLR2004 - the last byte of a number
            return value, at
