"""Check whether a value of one shape can be a value of another."""

from collections.abc import Iterable
from typing import Any

from toolmd._types.schema import Schema


def mismatch(got: Schema | None, want: Schema, path: str = "") -> str:
    """Return why no value of `got` fits `want`; empty where one may fit.

    Undecidable cases pass, such as a JSON number for an integer: the call checks the value.
    """
    if got is None or not got.types or not want.types:
        return ""
    shared = [kind for kind in got.types if _takes(want, kind)]
    where = f"{path} is " if path else ""
    if not shared:
        return f"{where}{_words(got)} where {_words(want)} is needed"
    if got.enum and want.enum and not any(value in want.enum for value in got.enum):
        return f"{where}none of {_listed(want.enum)}"
    if shared == ["array"] and got.items is not None and want.items is not None:
        return mismatch(got.items, want.items, f"{path}[]")
    if shared == ["object"]:
        pairs = [(one, other) for one in got.objects for other in want.objects]
        reasons = [_object_mismatch(one, other, path) for one, other in pairs]
        return "" if "" in reasons else reasons[0]
    return ""


def excess(got: Schema | None, want: Schema) -> tuple[str, str] | None:
    """Return declared values of `got` that do not fit, and what `want` takes; None if all fit.

    A shape that declares no enum or no bound declares no values, so nothing is known about it.
    """
    if got is None:
        return None
    if got.enum and want.enum and (over := [v for v in got.enum if v not in want.enum]):
        return _listed(over), f"takes only {_listed(want.enum)}"
    if got.minimum is not None and want.minimum is not None and got.minimum < want.minimum:
        return str(got.minimum), f"has the Minimum {want.minimum}"
    if got.maximum is not None and want.maximum is not None and got.maximum > want.maximum:
        return str(got.maximum), f"has the Maximum {want.maximum}"
    return None if got.items is None or want.items is None else excess(got.items, want.items)


def _listed(values: Iterable[Any]) -> str:
    return ", ".join(map(str, values))


def _takes(want: Schema, kind: str) -> bool:
    # A number may be whole at run time, so the call checks it.
    alike = {"integer": "number", "number": "integer"}
    return kind in want.types or alike.get(kind) in want.types


def _object_mismatch(got: Schema, want: Schema, path: str) -> str:
    if got.properties is None or want.properties is None:
        return ""
    given = {field.name: field for field in got.properties}
    wanted = {field.name: field for field in want.properties}
    dot = f"{path}." if path else ""
    for name, field in wanted.items():
        if name not in given:
            if field.required:
                return f"the field '{dot}{name}' is required but missing"
            continue
        if reason := mismatch(given[name].shape, field.shape, f"{dot}{name}"):
            return reason
    if want.values is None:
        for name, field in given.items():
            if name not in wanted and field.required:
                return f"the field '{dot}{name}' is not accepted"
    return ""


def _words(shape: Schema) -> str:
    return " or ".join(shape.types)
