"""One line of a list, or a cell that lists several, to parameters."""

import re

from toolmd.importing import parameter_name, words_of
from toolmd_catalog.parameters.details import read_details
from toolmd_catalog.phrases.clauses import read_clause, read_prose
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.shapes import read_fields
from toolmd_catalog.words import bare, clean, closing, groups_apart, quoted, split

_NAME = re.compile(r"[A-Za-z_$][\w$-]*(?:\.[A-Za-z_]\w*)*")
_NOTES = {"note", "important", "warning", "tip", "caution", "nb"}
_DASHES = (" - ", " – ", " — ", " -- ")  # noqa: RUF001
_LONGEST = 4000
"""Characters of a line; a longer one is not a parameter."""
_LONGEST_LABEL = 4
"""Words of a label such as `Preparation notes`; what is longer is a sentence."""
_NONE = re.compile(
    r"(?:there are |takes |has |requires )?(?:no|without|zero)\s+(?:input |required )?"
    r"(?:parameters?|params?|arguments?|args?|inputs?)\b.*|none\.?|n/?a\.?|-+|–|—|\{\s*\}|\(\)|void",  # noqa: RUF001
    re.IGNORECASE,
)


def says_none(text: str) -> bool:
    """Return whether a text says that there are no parameters."""
    return _NONE.fullmatch(bare(clean(text)).strip("_*`. ") or "none") is not None


def read_line(text: str, line: int = 0) -> ParameterFound | None:
    """Read `name?: type (details) - words` and its kin; None where no name leads the line."""
    if len(text) > _LONGEST:
        return None
    marked = text.lstrip().startswith(("**", "__", "`", "*"))
    plain = clean(text)
    if plain.startswith("`") and (end := quoted(plain, 0)) > 1:
        inside = plain[1 : end - 1].strip()
        behind = plain[end:]
        if not _NAME.fullmatch(inside.rstrip("?")):
            # `name: string` in one code span
            return _headed(f"{inside}{behind}", line, marked=True)
        plain = inside + behind
    elif plain[:1] in "\"'" and (end := quoted(plain, 0)) > 1:
        plain, marked = plain[1 : end - 1] + plain[end:], True
    return _headed(plain, line, marked=marked)


def _headed(text: str, line: int, *, marked: bool) -> ParameterFound | None:
    match = _NAME.match(text)
    if match is None:
        return None
    name, rest = match[0], text[match.end() :]
    optional = rest.startswith("?")
    starred = rest.startswith("*")
    rest = rest[1:] if optional or starred else rest
    behind = rest.lstrip()
    led = behind[:1] in {":", "=", "："} or rest.startswith(_DASHES)  # noqa: RUF001
    grouped = behind[:1] in "([<" and behind != "" and closing(behind, 0) > 0
    if not (led or grouped or (not behind) or (marked and behind)):
        return _labelled(text, line, marked=marked)
    if not behind and not marked and not optional:
        return None
    if grouped and not led and not _details(behind, marked=marked or optional):
        return _labelled(text, line, marked=marked)
    found = ParameterFound(_named(name, marked=marked), line, name, marked=marked or optional)
    found.need = False if optional else True if starred else None
    found.read = optional
    _read(found, behind)
    return found


def _details(text: str, *, marked: bool) -> bool:
    """Return whether the group behind a plain word describes a value: `city (string)`."""
    end = closing(text, 0)
    after = text[end + 1 :].lstrip()
    trial = ParameterFound("trial")
    read_details(trial, text[1:end])
    return marked or trial.read or after[:1] in {":", "-", "–", "—"}  # noqa: RUF001


def _labelled(text: str, line: int, *, marked: bool) -> ParameterFound | None:
    """Read `Preparation notes: max 500 characters`: a name in words."""
    head, sign, rest = text.partition(":")
    group = ""
    if "(" in head and head.rstrip().endswith(")"):
        (label, _), *inside = groups_apart(head)
        group = inside[0][0] if inside else ""
    else:
        label = head
    label = bare(label.strip())
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9 /_-]*", label) is not None
    if not sign or not plain or len(label.split()) > _LONGEST_LABEL:
        return None
    found = ParameterFound(
        _named(label, marked=False), line, label, marked=marked and " " not in label
    )
    if group:
        _read(found, f"({group})")
    _read(found, rest.strip())
    return found


def _named(label: str, *, marked: bool) -> str:
    """Return the name that a label stands for: `Visit type` is `visit_type`, `patientId` stays."""
    plain = parameter_name(label)
    title = label[:1].isupper() and (label[1:].islower() or len(label) == 1 or " " in label)
    return "_".join(words_of(label)) if title and not marked else plain


def _read(found: ParameterFound, rest: str) -> None:
    text = re.sub(r"^(?:[:=：]|--|[-–—](?=\s))\s*", "", rest.strip())  # noqa: RUF001
    if text[:1] in "([<" and (end := closing(text, 0)) > 0 and text[0] != "[":
        group, behind = text[1:end], text[end + 1 :].strip()
        read_details(found, f"({group})")
        if behind:
            _behind(found, behind)
    else:
        read_details(found, text)


def _behind(found: ParameterFound, text: str) -> None:
    """Read what follows a group: a sentence behind a dash or a colon, or more details."""
    lead = re.match(r"(?:[:=：]|--|[-–—])\s*", text)  # noqa: RUF001
    if lead and "types" in found.said and not _detail_first(text[lead.end() :]):
        found.words.append(text[lead.end() :].rstrip("."))
        read_prose(found, text[lead.end() :])
    else:
        read_details(found, text[lead.end() :] if lead else text)


def _detail_first(text: str) -> bool:
    """Return whether a text behind a dash begins with a field: `default 5`, `max 20 items`."""
    first = split(text, (",", ". ", ";"))
    return bool(first) and read_clause(ParameterFound("trial"), first[0])


def is_note(found: ParameterFound) -> bool:
    """Return whether the first word of a line marks it as a remark."""
    return found.label.lower() in _NOTES and not found.read


def read_listed(text: str, line: int = 0) -> list[ParameterFound]:
    """Read a text that lists parameters: `city: string, units?: string`, or `{ … }`."""
    if len(text) > _LONGEST:
        return []
    plain = clean(text)
    fields = read_fields(plain)
    if fields is not None:
        for field in fields[0]:
            field.line = line
        return fields[0]
    parts = split(plain, ("<br>", "<br/>", ";"))
    if len(parts) == 1:
        parts = _joined(split(plain, (",",)))
    found = [read_line(part, line) or _name_alone(part, line) for part in parts]
    return [one for one in found if one is not None]


def _name_alone(part: str, line: int) -> ParameterFound | None:
    name = bare(part)
    optional = name.endswith("?")
    name = name.rstrip("?")
    if not _NAME.fullmatch(name) or read_clause(ParameterFound("trial"), name):
        return None
    return ParameterFound(name, line, name, marked=True, need=False if optional else None)


def _joined(parts: list[str]) -> list[str]:
    """Put back together what a comma cut within one parameter's details."""
    made: list[str] = []
    for part in parts:
        lead = re.match(r"`?[A-Za-z_$][\w$-]*\??`?\s*(?::|\(|=|$)", part)
        detail = read_clause(ParameterFound("trial"), part.strip("`"))
        if (lead and (not detail or re.match(r"`?\w+`?\??\s*[:(]", part))) or not made:
            made.append(part)
        else:
            made[-1] = f"{made[-1]}, {part}"
    return made
