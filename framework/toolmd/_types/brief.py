"""The `repr` of data types that contain what people, models and tools wrote."""

from collections.abc import Sized
from typing import Any


def brief(value: Any, *unshown: str) -> str:
    """Return the `repr` of a named tuple, with the type and size of some fields in their place.

    A `repr` ends in logs and traces, and these fields may contain Sensitive values.

    Args:
        value: The named tuple.
        unshown: The names of the fields of which only type and size are shown.
    """
    fields = ((name, getattr(value, name)) for name in value._fields)
    shown = (f"{n}={_size(one) if n in unshown else repr(one)}" for n, one in fields)
    return f"{type(value).__name__}({', '.join(shown)})"


def _size(value: Any) -> str:
    if not value and not isinstance(value, int | float):
        return repr(value)
    size = f" of {len(value)}" if isinstance(value, Sized) else ""
    return f"<{type(value).__name__}{size}>"
