"""Put earlier results in place of the handles that a call passes (`Accepts Handle`)."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from toolmd._call.denial import deny
from toolmd._store.store import Store
from toolmd._types.call import Call
from toolmd._types.kept import KeptResult, no_result
from toolmd._validation import MalformedError, read_object
from toolmd._validation.paths import PathError, select

HANDLE = "$result"
_KEYS = {HANDLE, "path"}


def has_handle(arguments: Mapping[str, Any] | str | bytes, names: frozenset[str]) -> bool:
    """Return whether an argument among `names` may be a handle, without reading text."""
    if isinstance(arguments, str):
        return HANDLE in arguments
    if isinstance(arguments, bytes):
        return HANDLE.encode() in arguments
    return any(_is_handle(arguments.get(name)) for name in names)


def with_results(call: Call, names: frozenset[str], store: Store, now: float) -> Call:
    """Return a call whose handles are replaced by the parts of the results that they name.

    It blocks. Raises CallDenied where the user has no such result, or it has no such part.

    Args:
        call: The call, as it came.
        names: The parameters that accept handles.
        store: The store that keeps the results.
        now: The time, in seconds since the epoch.
    """
    try:
        given = read_object(call.arguments)
    except MalformedError:
        return call  # The next check explains it.
    kept: dict[str, KeptResult | None] = {}
    for name in names & given.keys():
        value = given[name]
        if not _is_handle(value):
            continue
        handle, path = value[HANDLE], value.get("path")
        if not isinstance(handle, str) or not isinstance(path, str | None) or value.keys() - _KEYS:
            raise deny(
                "invalid_arguments",
                f'{name} is no handle: write {{"$result": "r-…", "path": "papers[*].id"}}.',
            )
        if handle not in kept:
            kept[handle] = store.results.find(handle, call.caller.user, now)
        if (found := kept[handle]) is None:
            raise deny("unknown_handle", no_result(handle))
        try:
            given[name] = select(from_json(found.data), path or "")
        except PathError as error:
            raise deny("unknown_path", f"{name}: {error}.") from None
    return call._replace(arguments=given)


def _is_handle(value: Any) -> bool:
    return isinstance(value, dict) and HANDLE in value
