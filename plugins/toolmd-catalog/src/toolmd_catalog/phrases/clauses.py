"""Read phrases that describe a value, one kind after the other."""

import re
from collections.abc import Callable

from toolmd_catalog.phrases.bounds import (
    ONE_SIDED,
    RANGE,
    is_counted,
    read_one_sided,
    read_positive,
    read_range,
    read_relation,
    read_unit,
)
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.values import (
    read_default,
    read_enum,
    read_format,
    read_iso,
    read_pattern,
    read_template,
)
from toolmd_catalog.words import split

_VERBATIM = re.compile(
    r"only (?:if|when|what) (?:the )?user (?:explicitly )?(?:state|mention|say|said|name)",
    re.IGNORECASE,
)


def read_clause(found: ParameterFound, clause: str) -> bool:
    """Read one short phrase into a parameter; False where it says nothing that a field holds."""
    text = clause.strip().rstrip(".;,").strip()
    if not text:
        return True
    done = any(reader(found, text) for reader in _READERS)
    found.read = found.read or done
    return done


def read_prose(found: ParameterFound, text: str) -> None:
    """Read what a sentence says beyond doubt; the sentence itself is kept as it stands."""
    for clause in split(text, (". ", ", ", "; ", " - ", " – ", " (", ")")):  # noqa: RUF001
        one = clause.strip(" .()")
        if re.match(r"defaults?\b(?! (?:city|value[s]? for))", one, re.IGNORECASE):
            read_default(found, one)
        elif re.match(
            r"(?:one of|allowed values|valid values|possible values)\b", one, re.IGNORECASE
        ):
            read_enum(found, one)
        elif match := ONE_SIDED.fullmatch(one) or RANGE.fullmatch(one):
            numeric = set(found.said.get("types", ())) & {"integer", "number"}
            if is_counted(match["tail"]) or (numeric and not match["tail"].strip()):
                read_range(found, one) or read_one_sided(found, one)


def _need(found: ParameterFound, text: str) -> bool:
    word, _, rest = text.partition(" ")
    folded = word.lower().rstrip(":")
    if text.lower() in {"not required", "may be omitted", "can be omitted", "if known"}:
        found.need = False
    elif folded == "optional":
        found.need = False
        if rest:
            found.words.append(rest.strip())
    elif folded in {"required", "mandatory"} or text.lower() == "must be given":
        found.need = not rest
        if rest:
            found.words.append(text)
            found.guesses.append(f"{text!r} is a condition: Optional, and nothing enforces it")
    else:
        return False
    return True


def _flag(found: ParameterFound, text: str) -> bool:
    folded = text.lower()
    if folded in {"unique", "unique items", "no duplicates", "distinct"}:
        found.said["unique"] = True
    elif folded in {"sensitive", "pii", "secret"}:
        found.said["sensitive"] = True
    elif folded in {"nullable", "or null", "can be null", "may be null"}:
        types = found.said.get("types", ())
        found.said["types"] = (*types, "null") if types else ()
    elif _VERBATIM.match(text):
        found.said["verbatim"] = True
        found.words.append(text)
        found.guesses.append(f"{text!r} is read as Verbatim: the user must have said it")
    else:
        return False
    return True


_READERS: tuple[Callable[[ParameterFound, str], bool], ...] = (
    _need,
    read_default,
    _flag,
    read_template,
    read_iso,
    read_range,
    read_one_sided,
    read_positive,
    read_relation,
    read_enum,
    read_format,
    read_pattern,
    read_unit,
)
