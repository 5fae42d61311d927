"""Phrases on how much a value may be: ranges, lengths, counts, comparisons with another."""

import re

from toolmd_catalog.phrases.found import ParameterFound, Range, Relation
from toolmd_catalog.words import NUMBER, number

_N = rf"({NUMBER})"
_TO = r"\s*(?:-|–|—|\.{2,3}|…|\bto\b|\bthrough\b|\band\b)\s*"  # noqa: RUF001 - people's dashes
RANGE = re.compile(
    rf"(?:(?:must|should|can) be |is )?(?:an? )?(?:integer |number )?"
    rf"(?:between |from |range:? |in range |within )?[\[(]?{_N}{_TO}{_N}[\])]?(?P<tail>.*)",
    re.IGNORECASE,
)
_LEAST = (
    r">=|≥|=>|at least|no less than|not less than|no fewer than|min(?:imum)?\.?(?: of| is)?[:=]?"
)
_MOST = (
    r"<=|≤|at most|no more than|not more than|up to|max(?:imum)?\.?(?: of| is)?[:=]?|"
    r"limited to|limit(?: of)?"
)
_MORE = r">|greater than|more than|larger than|above|over"
_LESS = r"<|less than|fewer than|smaller than|below|under"
ONE_SIDED = re.compile(
    rf"(?:(?:must|should|has to) be |is )?(?:(?P<least>{_LEAST})|(?P<most>{_MOST})|"
    rf"(?P<more>{_MORE})|(?P<less>{_LESS}))\s*(?:length |value |items )?{_N}(?P<tail>.*)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"(?P<side>min|max|minimum|maximum)[\s_]*(?P<of>length|len|items|value|chars?|characters)"
    rf"\s*[:=]?\s*(?:of |is )?{_N}",
    re.IGNORECASE,
)
_LENGTHS = {"character", "char", "letter", "sign", "symbol", "codepoint", "digit"}
_ITEMS = {"item", "element", "entry", "entries", "value"}
_UNITS = frozenset(
    "ml l cl g mg kg ug mcg mm cm m km ms s sec second min minute hour h day week month year "
    "milliliter millilitre liter litre gram milligram kilogram meter metre kilometer kilometre "
    "byte kb mb gb percent % mmhg bpm celsius fahrenheit usd eur px pixel point "
    "millisecond degree mile foot inch pound lb oz calorie kcal step".split()
)
_RELATION = re.compile(
    r"(?:must be |should be |has to be |is )?(?P<sign><=|>=|<|>|≤|≥|≠|!=|(?:less|smaller|lower) "
    r"than or equal to|(?:greater|larger|higher) than or equal to|(?:less|smaller|lower) than|"
    r"(?:greater|larger|higher|more) than|below|above|not equal to)\s+(?:the )?"
    r"[`\"']?(?P<other>[A-Za-z][\w -]*?)[`\"']?\.?",
    re.IGNORECASE,
)
_SIGNS = {"≤": "<=", "≥": ">=", "≠": "!=", "below": "<", "above": ">", "not equal to": "!="}


def read_range(found: ParameterFound, text: str) -> bool:
    """Read `1-300`, `between 5 and 9`."""
    match = RANGE.fullmatch(text)
    if match is None or (" and " in text and "between" not in text.lower()):
        return False
    return _bound(found, number(match[1]), number(match[2]), match["tail"])


def read_one_sided(found: ParameterFound, text: str) -> bool:
    """Read `at least 5`, `max 200 characters`, `> 0`."""
    named = _NAMED.fullmatch(text)
    if named is not None:
        least = named["side"].lower().startswith("min")
        word = named["of"].lower()
        of = "items" if word == "items" else "value" if word == "value" else "length"
        end = number(named[3])
        found.bounds.append(Range(end if least else None, None if least else end, of))
        return True
    match = ONE_SIDED.fullmatch(text)
    if match is None:
        return False
    end = number(match[5])
    if match["more"] or match["less"]:
        whole = isinstance(end, int) and found.said.get("types") != ("number",)
        if not whole:
            found.guesses.append(f"{text!r} leaves the bound itself out, which no field can")
            return False
        end += 1 if match["more"] else -1
    low = match["least"] or match["more"]
    return _bound(found, end if low else None, None if low else end, match["tail"])


def _bound(found: ParameterFound, low: float | None, high: float | None, tail: str) -> bool:
    words = tail.strip().strip("()").lower().split()
    if words and words[0] in {"in", "of"}:
        words = words[1:]
    unit = words[0].rstrip(".,") if words else ""
    single = unit[:-1] if unit.endswith("s") and unit not in _ITEMS | {"s", "ms"} else unit
    of = ""
    if single in _LENGTHS or (single == "code" and words[1:2] == ["points"]):
        of = "length"
    elif single in _ITEMS or (unit and _counts(found, single)):
        of = "items"
    elif single in _UNITS:
        of = "value"
        found.said.setdefault("unit", tail.strip().strip("()").split()[0])
    elif unit and unit not in {"inclusive", "long", "allowed", "max", "total"}:
        return False
    if unit == "long":
        of = "length"
    if len(words) > 1 and of and words[1] not in {"points", "long", "max", "inclusive", "total"}:
        found.words.append(" ".join(tail.split()))
    found.bounds.append(Range(low, high, of))
    return True


def is_counted(tail: str) -> bool:
    """Return whether a bound names what it counts, so that it counts within a sentence too."""
    words = tail.strip().lower().split()
    return bool(words) and words[0].rstrip("s.,") in _LENGTHS | _ITEMS


def _counts(found: ParameterFound, unit: str) -> bool:
    """Return whether a bound counts the items that the parameter is named after: `max 50 codes`."""
    return "array" in found.said.get("types", ()) and found.name.lower().rstrip("s").endswith(unit)


def read_positive(found: ParameterFound, text: str) -> bool:
    """Read `positive`, `non-negative integer`."""
    least = {"positive": 1, "positive integer": 1, "non-negative": 0, "nonnegative": 0}
    folded = text.lower()
    if folded not in least and folded != "non-negative integer":
        return False
    if folded.endswith("integer"):
        found.said.setdefault("types", ("integer",))
    if folded == "positive" and found.said.get("types") == ("number",):
        found.guesses.append("'positive' leaves 0 out, which no field can")
        return False
    found.bounds.append(Range(least.get(folded, 0), None, "value"))
    return True


def read_relation(found: ParameterFound, text: str) -> bool:
    """Read `must be less than systolic`: a comparison with another parameter."""
    match = _RELATION.fullmatch(text)
    if match is None:
        return False
    words = match["sign"].lower()
    sign = _SIGNS.get(words, words)
    if sign[:1].isalpha():
        sign = "<" if sign.split()[0] in {"less", "smaller", "lower"} else ">"
        sign += "=" if words.endswith("equal to") else ""
    found.relations.append(Relation(sign, match["other"].strip(), text))
    return True


def read_unit(found: ParameterFound, text: str) -> bool:
    """Read `in ml`, `minutes`."""
    folded = text.lower().removeprefix("in ").strip()
    single = folded[:-1] if folded.endswith("s") and len(folded) > 2 else folded  # noqa: PLR2004
    if single not in _UNITS or len(folded) < 2:  # noqa: PLR2004 - `m` and `s` alone say little
        return False
    found.said["unit"] = text.removeprefix("in ").strip()
    return True
