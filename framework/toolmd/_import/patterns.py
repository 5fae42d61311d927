"""Convert a search pattern of JSON Schema to a pattern of the whole text."""

import re

_ANCHORED = re.compile(r"\^(?:\(\?:(?P<group>.*)\)|(?P<bare>[^|]*))(?<!\\)(?:\\\\)*\$", re.DOTALL)


def whole_pattern(pattern: str) -> str:
    """Return the pattern that whole texts match where a search finds the given one."""
    match = _ANCHORED.fullmatch(pattern)
    if match is None:
        return f"(?s:.*)(?:{pattern})(?s:.*)"
    whole = match["group"] if match["group"] is not None else match["bare"]
    return whole if match["group"] is None or _balanced(whole) else f"(?:{pattern})"


def _balanced(pattern: str) -> bool:
    depth = 0
    for sign in re.sub(r"\\.|\[[^\]]*\]", "", pattern, flags=re.DOTALL):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return depth == 0
