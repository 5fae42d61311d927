"""Compare the definitions of a server's tools with those that were accepted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_KEYS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""What a pin covers; the rest of a listed tool does not change what it does."""
_MAX_SHOWN = 200
_MOST_SHOWN = 20


def canonical(tool: Mapping[str, Any]) -> str:
    """Return the definition of a listed tool as JSON that does not depend on the keys' order."""
    kept = {key: tool[key] for key in _KEYS if tool.get(key) is not None}
    return _written(kept)


def _written(value: Any) -> str:
    # Python's own comparison takes 1, 1.0 and true for the same, also within a list.
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def differences(accepted: str, seen: str) -> tuple[str, ...]:
    """Return a line for each change from one canonical definition to another."""
    if not seen:
        return ("it is not listed exactly once any more",)
    found = list(_changes("", json.loads(accepted), json.loads(seen)))
    more = len(found) - _MOST_SHOWN
    return (*found[:_MOST_SHOWN], *([f"and {more} more changes"] if more > 0 else []))


def _changes(path: str, old: Any, new: Any) -> Iterator[str]:
    if _written(old) == _written(new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            at = f"{path}.{key}" if path else key
            if key not in new:
                yield f"{at} was removed: {_shown(old[key])}"
            elif key not in old:
                yield f"{at} was added: {_shown(new[key])}"
            else:
                yield from _changes(at, old[key], new[key])
    else:
        yield f"{path} was {_shown(old)}, and is {_shown(new)}"


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def names_of(accepted: str, parameters: Sequence[str]) -> Mapping[str, str]:
    """Return the server's name of each parameter that it has: its letters and digits are the same.

    A parameter that fits none or several of the server's is left out.
    """
    schema = json.loads(accepted).get("inputSchema")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    known = fields if isinstance(fields, dict) else {}
    found = {}
    for name in parameters:
        alike = [one for one in known if _folded(one) == _folded(name)]
        if name in known:
            found[name] = name
        elif len(alike) == 1:
            found[name] = alike[0]
    if isinstance(schema, dict) and not known and schema.get("additionalProperties", True):
        return {name: name for name in parameters}
    return found


def _folded(name: str) -> str:
    return "".join(sign for sign in name if sign.isalnum()).casefold()
