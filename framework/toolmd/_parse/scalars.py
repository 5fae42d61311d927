"""Single values as people write them: yes and no, numbers, durations, sizes, lists."""

import math
from collections.abc import Mapping

from pydantic import JsonValue

from toolmd._parse.words import fold, plain, value_text, without_invisible
from toolmd._types.call_spec import Batch, Rate
from toolmd._types.schema import Schema
from toolmd._validation.strict_json import JsonError, read_json

_TRUE = {"true", "yes", "y", "on", "required", "mandatory"}
_FALSE = {"false", "no", "n", "off", "optional"}
_TRUE_SIGNS = {"✅", "✔", "☑", "✓", "🟢"}
_FALSE_SIGNS = {"❌", "✖", "✗", "✘", "☐", "🔴"}

_UNITS: Mapping[str, Mapping[str, tuple[float, str]]] = {
    "duration": {
        "ms": (0.001, "ms msec msecs millis millisecond milliseconds"),
        "s": (1, "s sec secs second seconds"),
        "min": (60, "m min mins minute minutes"),
        "h": (3600, "h hr hrs hour hours"),
        "d": (86400, "d day days"),
    },
    "size": {
        "B": (1, "b byte bytes"),
        "KB": (1024, "k kb kib kilobytes kibibytes"),
        "MB": (1024**2, "m mb mib megabytes mebibytes"),
        "GB": (1024**3, "gb gib gigabytes gibibytes"),
    },
}
"""The units of a kind of value: how many of the smallest one, and the words for it."""
_FACTORS = {
    kind: {word: factor for factor, words in units.values() for word in words.split()}
    for kind, units in _UNITS.items()
}
UNITS: Mapping[str, Mapping[str, str]] = {
    kind: {word: unit for unit, (_, words) in units.items() for word in words.split()}
    for kind, units in _UNITS.items()
} | {
    "rate": {
        f"per{word}": f"/{unit}"
        for unit in ("s", "min")
        for word in _UNITS["duration"][unit][1].split()
    }
}
"""The kinds of value that have units: a folded word after a field's name to the unit."""


def boolean(text: str) -> bool | None:
    """Read yes or no; None for any other text."""
    word = plain(text).strip().rstrip(".").replace("\ufe0f", "")
    if word in _TRUE_SIGNS or word.lower() in _TRUE:
        return True
    if word in _FALSE_SIGNS or word.lower() in _FALSE:
        return False
    sign, _, rest = word.partition(" ")
    if sign in _TRUE_SIGNS | _FALSE_SIGNS and rest:
        flag = boolean(rest)
        return flag if flag == (sign in _TRUE_SIGNS) else None
    return None


def number(text: str) -> int | float | None:
    """Read a finite decimal number."""
    word = plain(text).replace("_", "").replace("−", "-")  # noqa: RUF001 - the sign of minus
    body = word.lstrip("+-")
    if not body.removeprefix(".")[:1].isdigit() or not body.isascii() or len(word) > 40:  # noqa: PLR2004
        return None
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """Read a whole number, 0 or above."""
    value = number(_ungrouped(plain(text)))
    return value if isinstance(value, int) and value >= 0 else None


def _ungrouped(text: str) -> str:
    """Remove the commas of `1,000`; leave `1,5`, which is not a number."""
    whole_, dot, rest = text.partition(".")
    first, *groups = whole_.split(",")
    if groups and 0 < len(first) <= 3 and all(len(group) == 3 for group in groups):  # noqa: PLR2004
        return "".join([first, *groups]) + dot + rest
    return text


def duration(text: str) -> float | None:
    """Read `10s`, `500 ms` or `2 minutes` as seconds, at least a millionth."""
    value = _amount(text, "duration")
    return None if value is None else float(round(value, 6)) or None


def size(text: str) -> int | None:
    """Read `64KB`, `1 MiB` or `512` as bytes, at least 1; K is 1,024."""
    value = _amount(text, "size")
    return None if value is None else int(value) or None


def rate(text: str) -> Rate | None:
    """Read `3/s`, `100/min` or `5 per 10 seconds` as calls and seconds; no hours and days."""
    head, sep, tail = plain(text).lower().partition("/")
    if not sep:
        head, sep, tail = plain(text).lower().partition(" per ")
    calls = whole(head.strip().removesuffix("calls").removesuffix("requests"))
    tail = tail.strip()
    per = duration(tail if tail[:1].isdigit() else f"1{tail}") if sep else None
    return (
        Rate(calls=calls, per_s=per) if calls and per and per < _FACTORS["duration"]["h"] else None
    )


def batch(text: str) -> Batch | None:
    """Read `texts by 256` as a parameter and a size."""
    words = plain(text).split()
    if len(words) != 3 or words[1].lower() not in {"by", "of", "x"}:  # noqa: PLR2004
        return None
    many = whole(words[2])
    return Batch(parameter=plain(words[0]), size=many) if many else None


def listed(text: str) -> list[str]:
    """Split a list: `a, b`, `a | b`, `a or b`, `[a, b]`; items are bare, quoted or in backticks."""
    text = text.strip().rstrip(".") if text.strip().endswith(("`.", '".')) else text.strip()
    text = whole_ if (whole_ := _one_span(text)) is not None else text
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    elif text[:1] in ("(", "{") and len(split_outside(text, ",")) == 1 and "," in text:
        text = text[1:-1].strip() if text[-1] == _CLOSING[text[0]] else text
    if spans := code_spans(text):
        return spans
    parts = split_outside(text, ",")
    if len(parts) == 1:
        parts = split_outside(text, "|")
    if len(parts) == 1:
        parts = split_outside(text, " or ")
    elif (last := parts[-1].strip()).startswith(("or ", "and ")):
        parts[-1] = last.partition(" ")[2]
    else:
        parts[-1:] = split_outside(parts[-1], " or ")
    for separator in _OTHER_PARTINGS:
        if len(parts) == 1:
            parts = split_outside(text, separator)
    return [part for part in (without_invisible(p).strip() for p in parts) if part]


def code_spans(text: str) -> list[str]:
    """Return the code spans of a text that consists of at least two of them and separators."""
    pieces = text.split("`")
    between = {piece.strip().lstrip("\\") for piece in pieces[::2]}
    open_ended = pieces[0].strip() or pieces[-1].strip()
    if len(pieces) < 5 or len(pieces) % 2 == 0 or open_ended or not between <= _PARTINGS:  # noqa: PLR2004
        return []
    return [f"`{piece}`" for piece in pieces[1::2]]


def _one_span(text: str) -> str | None:
    """Return the content of a code span that contains the whole list."""
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:  # noqa: PLR2004
        return text[1:-1]
    return None


_PARTINGS = {"", ",", "|", "/", ";", "or", ", or", "and", ", and"}
_OTHER_PARTINGS = (";", "，", "、")  # noqa: RUF001 - commas of other scripts
"""The separators of a list without a comma, a bar or `or`."""
_CLOSING = {"(": ")", "{": "}"}
_GROUPING = frozenset("`\"'()[]{}")


def split_words(text: str) -> list[str]:
    """Split at spaces outside quotes, code spans and brackets: `Read Bash(git add:*)`."""
    return [word for word in split_outside(text, " ") if word]


def split_outside(text: str, separator: str) -> list[str]:
    """Split outside quotes, code spans and brackets."""
    if separator not in text or _GROUPING.isdisjoint(text):
        return text.split(separator)
    parts, start, at = [], 0, 0
    closing = ""
    depth = 0
    while at < len(text):
        char = text[at]
        if closing:
            closing = "" if char == closing else closing
        elif char == "`" or (char in "\"'" and not text[start:at].strip()):
            closing = char if char in text[at + 1 :] else ""
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(depth - 1, 0)
        elif depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            at += len(separator)
            start = at
            continue
        at += 1
    parts.append(text[start:])
    return parts


_LITERAL_ORDER = ("null", "boolean", "integer", "number", "object", "array", "string")
"""Null before array, since any word could be an array's only item; string as the last resort."""


def literal(text: str, shape: Schema) -> tuple[JsonValue, bool]:
    """Read a value by its expected type; return False with the text if it does not fit."""
    bare = without_invisible(text).strip()
    if len(bare) > 1 and bare[0] == bare[-1] == "`":
        bare = bare.strip("`").strip()
    types = shape.types or ("null", "boolean", "integer", "number", "array", "object", "string")
    if "string" in types and (quoted := _quoted_text(bare, text, shape)) is not None:
        return quoted, True
    for kind in sorted(types, key=_LITERAL_ORDER.index):
        match kind:
            case "null" if bare.lower() in {"null", "none"}:
                return None, True
            case "boolean" if (flag := boolean(bare)) is not None and (
                shape.types or fold(bare) in {"true", "false"}
            ):
                return flag, True
            case "integer" if (value := number(bare)) is not None and value == int(value):
                return int(value), True
            case "number" if (value := number(bare)) is not None:
                return value, True
            case "array" | "object" if (parsed := _json(bare)) is not None and isinstance(
                parsed, list if kind == "array" else dict
            ):
                return parsed, True
            case "array" if shape.types and _is_list(bare):
                items = shape.items or Schema()
                return [literal(part, items)[0] for part in listed(bare)], True
            case "string":
                return value_text(text), True
            case _:
                continue
    return value_text(text), False


def _is_list(text: str) -> bool:
    """Return whether a text that is not JSON lists values: `a, b` or `[a, b]`, without quotes."""
    whole_ = text.startswith("[") and text.endswith("]") and '"' not in text
    return whole_ or not text.startswith(("[", "{", '"'))


def enum_value(text: str, shape: Schema) -> tuple[JsonValue, bool]:
    """Read a value of an enum: as `literal`, but `none` is a word wherever words are allowed."""
    if plain(text).lower() == "none" and "string" in (shape.types or ("string",)):
        return value_text(text), True
    return literal(text, shape)


def _quoted_text(bare: str, text: str, shape: Schema) -> str | None:
    """Return a quoted text or a word of the enum, which are never a number, a flag or null."""
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        content = _json(bare) if bare[0] == '"' else None
        if isinstance(content, str):
            return content
        if bare == "''":
            return ""
        return value_text(bare) if bare[0] not in bare[1:-1] else None
    return value_text(text) if shape.enum and value_text(text) in shape.enum else None


def _json(text: str) -> JsonValue | None:
    try:
        value: JsonValue = read_json(text)
    except JsonError:
        return None
    return value


def _amount(text: str, kind: str) -> float | None:
    """Return a number above 0 times its unit; a size may have none."""
    word = plain(text).strip().lower()
    at = 0
    while at < len(word) and (word[at].isdigit() or word[at] in ".,_"):
        at += 1
    amount, unit = number(_ungrouped(word[:at])), word[at:].strip()
    factor = 1 if kind == "size" and not unit else _FACTORS[kind].get(unit)
    return amount * factor if amount is not None and factor is not None and amount > 0 else None
