"""Drop unknown keys at every depth, and list them."""

from typing import Any

from toolmd._types.schema import Schema
from toolmd._validation.one_of import objects_for
from toolmd._validation.words import joined


def without_unknown(value: dict[str, Any], shape: Schema) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object without unknown keys, and their paths."""
    dropped: list[str] = []
    kept: dict[str, Any] = _kept(value, (shape,), "", dropped)
    return kept, tuple(dropped)


def _kept(value: Any, shapes: tuple[Schema, ...], path: str, dropped: list[str]) -> Any:
    """Return a value that may have several shapes; a key that one of them knows is kept."""
    if not shapes:
        return value
    if isinstance(value, list):
        items = tuple(shape.items for shape in shapes if shape.items is not None)
        return [_kept(v, items, f"{path}[{i}]", dropped) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    objects = [one for shape in shapes for one in objects_for(value, shape)]
    is_open = any(one.properties is None for one in objects)
    kept = {}
    for name, item in value.items():
        known = tuple(shape for one in objects for shape in one.of_field(name))
        if known or is_open:
            kept[name] = _kept(item, known, joined(path, name), dropped)
        else:
            dropped.append(joined(path, name))
    return kept
