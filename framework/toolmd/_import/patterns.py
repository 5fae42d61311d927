"""Convert a search pattern of JSON Schema to a pattern of the whole text."""

import re

_ANCHORED = re.compile(r"\^(?P<whole>.*)(?<!\\)(?:\\\\)*\$", re.DOTALL)
_GROUPED = re.compile(r"\(\?:(?P<inner>.*)\)", re.DOTALL)
_ANY = r"[\s\S]*"
"""Any text, in words that every dialect of patterns has."""


def whole_pattern(pattern: str) -> str:
    """Return the pattern that whole texts match where a search finds the given one."""
    match = _ANCHORED.fullmatch(pattern)
    # Within its anchors it has no alternatives outside of groups.
    if match is None or not _is_balanced(whole := match["whole"], "|"):
        return f"{_ANY}(?:{pattern}){_ANY}"
    group = _GROUPED.fullmatch(whole)
    return group["inner"] if group is not None and _is_balanced(group["inner"]) else whole


def _is_balanced(pattern: str, parting: str = "") -> bool:
    """Return whether each group ends, and none of the parting signs is outside of groups."""
    depth = 0
    for sign in re.sub(r"\\.|\[[^\]]*\]", "", pattern, flags=re.DOTALL):
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (depth == 0 and sign == parting):
            return False
    return depth == 0
