"""Read the details behind a parameter's name: type, need, bounds, default and words."""

import re

from toolmd_catalog.phrases.clauses import read_clause, read_prose
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.shapes import read_shape
from toolmd_catalog.words import bare, groups_apart, split

_ENDS = (" - ", " – ", " — ", ", ", "; ", " (", ". ", " = ", "=")  # noqa: RUF001
_DASHES = (" - ", " – ", " — ", ". ")  # noqa: RUF001
_PLAIN_TYPE = re.compile(
    r"(?:`(?P<code>[^`]+)`|(?P<word>string|integer|boolean|str|int|bool|float)\b(?! of\b))\s*"
)
_CHOSEN = re.compile(
    r"(?P<value>[\"'`][^\"'`]+[\"'`]|[\w.-]+)\s*\((?:the )?default\)", re.IGNORECASE
)
_LONGEST_TYPE = 400
_LISTS = re.compile(
    r"(?:enum|one of|any of|either|(?:allowed|valid|possible|accepted|permitted|supported) |"
    r"values|options|choices)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?:(?:or|and)\s+)?(?:\"[^\"]*\"|'[^']*'|`[^`]*`)(?=\s+[^(\s])|"
    r"(?:(?:or|and)\s+)?[\w-]+(?=\.\s+\S)"
)
"""A value of a list that has a sentence behind it."""
_BRACKETED = re.compile(r"[^\[]*\[[^\[\]]*\](?=\s+[^(\s])")
_NEED_FIRST = re.compile(r"(?P<need>optional|required)[,:]?\s+(?=\S)", re.IGNORECASE)


def read_details(found: ParameterFound, text: str) -> None:
    """Read all of it into the parameter; the rest becomes its description."""
    rest = text.strip()
    chosen = _CHOSEN.search(rest)
    if chosen:
        found.default = bare(chosen["value"])
        rest = f"{rest[: chosen.end('value')]}{rest[chosen.end() :]}"
    while rest[:1] == "(" and (group := groups_apart(rest)) and group[0][1]:
        # `(optional) ["Weight", "BP"]`: a group in front of the type.
        _clauses(found, group[0][0])
        rest = rest[len(group[0][0]) + 2 :].strip()
    first = _NEED_FIRST.match(rest)
    if first and _leading_type(ParameterFound("trial"), rest[first.end() :]) != rest[first.end() :]:
        read_clause(found, first["need"])
        rest = rest[first.end() :]
    rest = _leading_type(found, rest)
    words, prose = _head_and_prose(rest)
    for part, inside in groups_apart(words):
        if inside:
            _clauses(found, part)
        else:
            _main(found, part)
    if prose:
        found.words.append(prose)
        read_prose(found, prose)


def _leading_type(found: ParameterFound, rest: str) -> str:
    """Consume the longest type expression at the start, and return the rest."""
    if "types" in found.said:
        return rest
    ends = [len(rest)]
    for sign in _ENDS:
        at = rest.find(sign)
        while at > 0:
            ends.append(at)
            at = rest.find(sign, at + 1)
    for end in sorted({end for end in ends if end <= _LONGEST_TYPE}, reverse=True):
        if end and (said := read_shape(rest[:end].strip(" ,"))) is not None:
            found.said |= said
            found.read = True
            if rest[0] == "[":
                found.guesses.append("a bare list is read as an array of these values")
            behind = rest[end:]
            if behind.lstrip().startswith("=") and not behind.lstrip().startswith("=="):
                value, _, behind = _value_behind(behind.lstrip()[1:].strip())
                found.default, found.need = bare(value), False
            return behind.lstrip(" ,;") if not behind.startswith(_DASHES) else behind
    match = _PLAIN_TYPE.match(rest)
    if match and (said := read_shape(match["code"] or match["word"])) is not None:
        found.said |= said
        found.read = True
        behind = rest[match.end() :]
        first = split(behind, (",", ";", " ("))
        detail = not first or read_clause(ParameterFound("trial"), first[0])
        return behind if match["code"] or detail else f" - {behind}"
    return rest


def _value_behind(text: str) -> tuple[str, str, str]:
    parts = split(text, (", ", " - ", " – ", " (", ". "))  # noqa: RUF001
    value = parts[0] if parts else text
    return value, "", text[len(value) :]


def _head_and_prose(rest: str) -> tuple[str, str]:
    """Part the fields of a line from the sentence behind the dash."""
    for at in range(len(rest)):
        for dash in _DASHES[:3]:
            if rest.startswith(dash, at) and not _within(rest, at):
                after = rest[at + len(dash) :].strip()
                if not (re.match(r"\d", after) and rest[:at].rstrip()[-1:].isdigit()):
                    return rest[:at], after
    return rest, ""


def _within(text: str, at: int) -> bool:
    before = text[:at]
    return any(before.count(o) > before.count(c) for o, c in ("()", "[]", "{}"))


def _main(found: ParameterFound, text: str) -> None:
    """Read what stands outside of parentheses: clauses, or a sentence that is kept."""
    parts = split(text, (",", ";"))
    left = _unread(found, parts)
    if len(left) == len(parts):
        sentence = text.strip(" ,;")
        if not _typed(found, sentence):
            found.words.append(sentence.rstrip("."))
            read_prose(found, sentence)
        return
    for clause in left:
        if not _typed(found, clause):
            found.words.append(clause.rstrip("."))


def _clauses(found: ParameterFound, group: str) -> None:
    """Read the inside of parentheses."""
    parts = split(group, (",", ";", ". "))
    left = _unread(found, parts)
    if len(left) == len(parts) > 1 and not any(
        _typed(ParameterFound("trial"), part) for part in parts
    ):
        found.words.append(group)
        return
    for clause in left:
        if not _typed(found, clause):
            found.words.append(clause.rstrip("."))


def _unread(found: ParameterFound, parts: list[str]) -> list[str]:
    """Read what clauses can be read; a list of values takes the commas behind its lead."""
    left: list[str] = []
    at = 0
    while at < len(parts):
        taken = 1
        if _LISTS.match(parts[at]):
            parts, most = _parted(parts, at)
            # `one of: a, b, default a`: the list ends where another field begins.
            behind = range(at + 1, most)
            last = next((i for i in behind if read_clause(ParameterFound("trial"), parts[i])), most)
            ends = range(last, at, -1)
            taken = next((e - at for e in ends if read_clause(found, ", ".join(parts[at:e]))), 0)
            if not taken:
                left.append(parts[at])
        elif not read_clause(found, parts[at]):
            left.append(parts[at])
        at += taken or 1
    return left


def _parted(parts: list[str], at: int) -> tuple[list[str], int]:
    """Split a sentence from the list of values that begins here: `"a", "b" as the guest says`.

    Return the new parts, and the latest position of the list's end.
    """
    for index in range(at, len(parts)):
        part = parts[index]
        if ends := (_LISTED if index > at else _BRACKETED).match(part):
            words = part[ends.end() :].strip(" .")
            return [*parts[:index], ends[0], words, *parts[index + 1 :]], index + 1
    return parts, len(parts)


def _typed(found: ParameterFound, clause: str) -> bool:
    if "types" in found.said or clause.lower() in {"text", "any", "none", "map", "set", "time"}:
        return False
    said = read_shape(clause.replace(" string", "") if clause.lower() == "date string" else clause)
    if said is None:
        return False
    found.said = {**said, **found.said}
    found.read = True
    return True
