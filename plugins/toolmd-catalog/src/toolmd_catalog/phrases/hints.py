"""Guess the type of a value that the text leaves open, from how it is described and called."""

import re

from toolmd.importing import words_of
from toolmd_catalog.phrases.literals import JsonType

DESCRIPTION, _NAME, _NOTHING = "its description", "its name", "nothing else"
HINTS = frozenset((DESCRIPTION, _NAME, _NOTHING))
"""What a type is guessed from where the text shows none."""
_DESCRIBED: dict[JsonType, str] = {
    "boolean": r"(?:whether|if (?:true|set|enabled)|(?:set to )?true (?:to|if|for)|boolean for)\b",
    "array": r"(?:an? )?(?:optional )?(?:array|list) (?:of|with)\b",
    "integer": r"(?:the )?(?:(?:max|min)(?:imum)?|total)? ?(?:number|count|amount) of\b",
    "object": r"(?:an? )?(?:json )?(?:object|dictionary|map) (?:of|with|for)\b",
    "number": r"number for\b",
}
_LAST: dict[str, JsonType] = {
    **dict.fromkeys(
        "index count limit offset page pageno row rows col cols size depth port year days hours "
        "minutes seconds ms timeout pos number quantity".split(),
        "integer",
    ),
    **dict.fromkeys(
        "width height lat lon lng latitude longitude price ratio temperature".split(), "number"
    ),
    **dict.fromkeys("enabled recursive verbose bold italic underline".split(), "boolean"),
    **dict.fromkeys("ids urls paths files tags labels emails items widths".split(), "array"),
}
_FIRST: dict[str, JsonType] = {
    **dict.fromkeys("include exclude enable use force show allow".split(), "boolean"),
    **dict.fromkeys("max min num".split(), "integer"),
}


def likely_type(name: str, description: str) -> tuple[JsonType, str]:
    """Return the likely type of a value, and what it was taken from."""
    for kind, pattern in _DESCRIBED.items():
        if re.match(pattern, description.strip(), re.IGNORECASE):
            return kind, DESCRIPTION
    parts = words_of(name)
    if len(parts) > 1 and parts[0] in {"is", "has"}:
        return "boolean", _NAME  # though `has_header_row` ends like a number
    if parts and parts[-1] in _LAST:
        return _LAST[parts[-1]], _NAME
    if len(parts) > 1 and parts[0] in _FIRST:
        return _FIRST[parts[0]], _NAME
    return "string", _NOTHING


def is_option(name: str, value: object) -> bool:
    """Return whether an argument is likely an option: a switch, a limit, a page."""
    return isinstance(value, bool) or likely_type(name, "")[0] in {"integer", "boolean"}
