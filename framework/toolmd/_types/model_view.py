"""Select the fields of a result that a model sees (`To Model`)."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from toolmd._types.schema import Parameter, Schema


def unknown_fields(returns: Schema) -> tuple[str, ...]:
    """Return the names in To Model that no property of the result or of its rows has.

    A result whose Properties are not declared may have any.
    """
    known: set[str] = set()
    for shape in (returns, *_rows(returns)):
        if "object" in shape.types or not shape.types:
            if shape.properties is None:
                return ()
            known |= {field.name for field in shape.properties}
    return tuple(name for name in returns.to_model or () if name not in known)


def _rows(shape: Schema) -> tuple[Schema, ...]:
    """Return the shapes of rows: items of the result, or of arrays directly in it."""
    arrays = [shape, *(field.shape for field in shape.properties or ())]
    return tuple(array.items for array in arrays if array.items is not None)


def seen(value: Any, names: Collection[str]) -> Any:
    """Return what a model sees of a result: the named fields of the object, or of its rows.

    Rows are the items of an array, or of each array directly in an object. An array that is
    named itself is seen whole, unless fields of its rows are named too.
    """
    if type(value) is list:
        return [_row(item, names) for item in value]
    if type(value) is not dict:
        return value
    shown = {}
    for name, item in value.items():
        fields = type(item) is list and any(
            type(row) is dict and not row.keys().isdisjoint(names) for row in item
        )
        if fields:
            shown[name] = [_row(row, names) for row in item]
        elif name in names:
            shown[name] = item
    return shown


def _row(row: Any, names: Collection[str]) -> Any:
    if type(row) is not dict:
        return row
    return {name: item for name, item in row.items() if name in names}


def seen_shape(returns: Schema) -> Schema:
    """Return the shape of what a model sees of a result."""
    names = returns.to_model
    if names is None:
        return returns
    if returns.items is not None:
        return replace(returns, items=_row_shape(returns.items, names))
    if returns.properties is None:
        return returns
    fields = []
    for field in returns.properties:
        rows = field.shape.items
        inner = {f.name for f in (rows.properties if rows is not None else None) or ()}
        if rows is not None and not inner.isdisjoint(names):
            shape = replace(field.shape, items=_row_shape(rows, names))
            fields.append(replace(field, shape=shape))
        elif field.name in names:
            fields.append(field)
    return replace(returns, properties=tuple(fields))


def _row_shape(row: Schema, names: Collection[str]) -> Schema:
    if row.properties is None:
        return row
    fields: tuple[Parameter, ...] = tuple(f for f in row.properties if f.name in names)
    return replace(row, properties=fields)
