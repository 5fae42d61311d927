"""Drop unknown keys at every depth, and list them."""

from typing import Any

from toolmd._types.schema import Schema
from toolmd._validation.words import joined


def without_unknown(value: dict[str, Any], shape: Schema) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the object without unknown keys, and their paths."""
    dropped: list[str] = []
    kept: dict[str, Any] = _kept(value, shape, "", dropped)
    return kept, tuple(dropped)


def _kept(value: Any, shape: Schema | None, path: str, dropped: list[str]) -> Any:
    if shape is None:
        return value
    if isinstance(value, list):
        return [_kept(v, shape.items, f"{path}[{i}]", dropped) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    fields = None if shape.properties is None else {p.name: p.shape for p in shape.properties}
    kept = {}
    for name, item in value.items():
        at = joined(path, name)
        if fields is None or name in fields:
            inner = shape.values if fields is None else fields[name]
            kept[name] = _kept(item, inner, at, dropped)
        elif shape.values is not None:
            kept[name] = _kept(item, shape.values, at, dropped)
        else:
            dropped.append(at)
    return kept
