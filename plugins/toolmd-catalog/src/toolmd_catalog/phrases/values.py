"""Phrases on which values there are: lists, defaults, dates and other formats, patterns."""

import re

from toolmd import Schema
from toolmd.importing import problems
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.words import NUMBER, bare, number, split

_DEFAULT = re.compile(
    r"(?:by default|defaults? value|defaults?)(?:\s+(?:to|is|of))?\s*[:=]?\s*(?P<value>.+)",
    re.IGNORECASE,
)
_ENUM = re.compile(
    r"(?:(?:must|should|can) be )?(?:an? )?(?P<lead>enum(?:eration)?(?: of| values)?|one of|any of|"
    r"either|(?:allowed|valid|possible|accepted|permitted|supported) (?:values|options)"
    r"(?: are| include)?|(?:values|options|choices|allowed|valid|accepted)(?=\s*[:=]))"
    r"\s*(?P<colon>[:=]?)\s*(?P<list>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(
    r"\b[Yy]{4}[-/.][Mm]{2}[-/.][Dd]{2}(?:[T ][Hh]{2}:[Mm]{2}(?::[Ss]{2})?Z?)?|"
    r"\b[Dd]{2}[-/.][Mm]{2}[-/.][Yy]{4}|\b[Mm]{2}[-/.][Dd]{2}[-/.][Yy]{4}|\b[Hh]{2}:[Mm]{2}(?::[Ss]{2})?"
)
_ISO = re.compile(r"\bISO[- ]?8601\b|\bRFC[- ]?3339\b", re.IGNORECASE)
_WITH_TIME = re.compile(r"date[- ]?time|date and time|date/time|timestamp|RFC", re.IGNORECASE)
_FORMATS = {
    "email": "email",
    "email address": "email",
    "e-mail": "email",
    "e-mail address": "email",
    "url": "uri",
    "uri": "uri",
    "uuid": "uuid",
    "uuid v4": "uuid",
    "uuidv4": "uuid",
}
_PATTERN = re.compile(
    r"(?:must match|matches|matching|pattern|regexp?|regular expression)\s*:?\s*"
    r"(?:`/?(?P<code>[^`]+?)/?`|/(?P<slashed>.+)/|(?P<anchored>\^\S+\$))",
    re.IGNORECASE,
)


_PLAIN = re.compile(rf"(?:(?:or|and) )?(?:[`\"'].*|null|none|true|false|{NUMBER})", re.IGNORECASE)
"""A part of a list of quoted values: another one, or a value that is not text."""


def read_default(found: ParameterFound, text: str) -> bool:
    """Read `default 5`, `defaults to all`."""
    match = _DEFAULT.fullmatch(text)
    if match is None and text.startswith("= "):
        match = re.fullmatch(r"= (?P<value>.+)", text)
    if match is None:
        return False
    value = bare(match["value"].strip().rstrip("."))
    if value.lower() not in {"none", "null", "undefined", "n/a", "-", "empty"}:
        found.default = value
    return True


def read_enum(found: ParameterFound, text: str) -> bool:
    """Read `one of: a, b`, `enum ['a', 'b']`."""
    match = _ENUM.fullmatch(text)
    listed = match["list"] if match else text
    if match is None and not _is_list(text):
        return False
    values = enum_values(listed, found)
    if values is None:
        return False
    free = match is not None and not match["colon"] and listed[0] not in "`\"'[({"
    if match and free and not match["lead"].lower().startswith("enum"):
        # `either a name or an id` and `one of the cities` are sentences, no lists of values.
        spaced = any(" " in str(value) for value in values)
        if spaced or match["lead"].lower() in {"either", "any of"}:
            return False
    found.said["enum"] = tuple(values)
    return True


def enum_values(text: str, found: ParameterFound | None = None) -> list[str | int | float] | None:
    """Return the values of a list; None for fewer than two, or where it holds sentences."""
    text = text.strip().rstrip(".")
    if text[:1] in "[({" and text[-1:] in "])}":
        text = text[1:-1]
    parts = split(text, ("|", ",", " or ", " and ", ";"))
    if len(parts) == 1:
        parts = split(text, ("/",))
    values: list[str | int | float] = []
    for part in parts:
        word = re.sub(r"^(?:or|and) ", "", part.strip())
        chosen = re.fullmatch(r"(.+?)\s*\((?:the )?default\)", word)
        word = bare(chosen[1] if chosen else word)
        if not word or len(word.split()) > 3:  # noqa: PLR2004 - then it is a sentence
            return None
        if chosen and found is not None:
            found.default = word
        quoted = part.strip()[:1] in "`\"'"
        if not quoted and text[:1] in "`\"'" and not _PLAIN.fullmatch(part.strip()):
            return None  # words behind a list of quoted values
        plain = re.fullmatch(NUMBER, word) and not (quoted and part.strip()[0] != "`")
        values.append(number(word) if plain else word)
    return values if len(values) > 1 or (values and text.strip()[:1] in "`\"'") else None


def _is_list(text: str) -> bool:
    """Return whether a text is nothing but quoted values: `"a" | "b"`, `'a', 'b' or 'c'`."""
    parts = split(text.strip("[]() "), ("|", ",", " or ", "/"))
    return len(parts) > 1 and all(part[0] in "`\"'" and part[-1] == part[0] for part in parts)


def read_template(found: ParameterFound, text: str) -> bool:
    """Read `YYYY-MM-DD`, `HH:MM`."""
    templates = _TEMPLATE.findall(text)
    if not templates:
        return False
    found.words.append(text)
    found.said.pop("format", None)
    if len(templates) == 1 and templates[0].upper() == "YYYY-MM-DD":
        found.said["format"] = "date"
    elif len(templates) == 1 and templates[0].upper().startswith("YYYY-MM-DDT"):
        found.said["format"] = "date-time"
    else:
        found.said["pattern"] = "|".join(dict.fromkeys(map(_pattern_of, templates)))
    return True


def _pattern_of(template: str) -> str:
    if template.upper() in {"HH:MM", "HH:MM:SS"}:
        seconds = ":[0-5][0-9]" if template.count(":") > 1 else ""
        return f"([01][0-9]|2[0-3]):[0-5][0-9]{seconds}"
    made = re.sub(r"[YyMmDdHhSs]+", lambda run: f"[0-9]{{{len(run[0])}}}", template)
    return made.replace(".", r"\.")


def read_iso(found: ParameterFound, text: str) -> bool:
    """Read `ISO 8601 date`, `RFC 3339`."""
    if _ISO.search(text) is None:
        return False
    found.words.append(text)
    found.read = True
    rest = _ISO.sub("", text).strip(" ()")
    if _WITH_TIME.search(text):
        found.said["format"] = "date-time"
    elif rest.lower() in {"date", "dates", "full-date"}:
        found.said["format"] = "date"
    else:
        found.said["iso"] = True
    return True


def read_format(found: ParameterFound, text: str) -> bool:
    """Read `email`, `valid URL`."""
    folded = re.sub(r"^(?:a )?(?:valid |format:? )?|(?: format| string)$", "", text.lower()).strip()
    if folded not in _FORMATS:
        return False
    found.said["format"] = _FORMATS[folded]
    return True


def read_pattern(found: ParameterFound, text: str) -> bool:
    """Read `must match ^[A-Z]+$`."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        return False
    pattern = match["code"] or match["slashed"] or match["anchored"]
    if pattern.startswith("^") and pattern.endswith("$") and "|" not in pattern:
        pattern = pattern[1:-1]
    if fault := _fault_of(pattern):
        found.guesses.append(f"the pattern is not kept: {fault}")
        found.words.append(text)
        return True
    found.said["pattern"] = pattern
    return True


def _fault_of(pattern: str) -> str:
    """Return why a pattern can't be used; empty where it can."""
    found = problems("", Schema(types=("string",), pattern=pattern))
    said = next((one.message for one in found if one.code == "invalid_pattern"), "")
    return said.partition(": ")[2]
