"""Types and shapes in code's own notation: `string[]`, `{ "query": str, "retmax": int=2000 }`."""

import json
import re
from dataclasses import fields
from typing import Any

from toolmd import Parameter, Schema
from toolmd.importing import read_type
from toolmd_catalog.phrases.clauses import read_clause
from toolmd_catalog.phrases.found import ParameterFound
from toolmd_catalog.phrases.literals import json_type
from toolmd_catalog.phrases.values import enum_values
from toolmd_catalog.words import (
    NUMBER,
    bare,
    closing,
    groups_apart,
    number,
    split,
    unescaped,
)

_FIELD = re.compile(
    r"(?:(?:readonly|public|const)\s+)?[\"'`]?(?P<name>[A-Za-z_$][\w$-]*)[\"'`]?\s*(?P<optional>\?)?"
    r"\s*(?P<rest>[:=].*|)",
    re.DOTALL,
)
_ANYTHING = Schema()
_ELIDED = {"...", "…"}
_NOTHING = frozenset(("None", "null", "undefined"))
_COMMENT = re.compile(r"(?P<code>.*?)\s*(?://|#(?!\w{3,8}\b))\s*(?P<words>.*)", re.DOTALL)
_ARRAY_OF = re.compile(r"(?:an? )?(?:array|list|sequence) of (?P<items>.+)", re.IGNORECASE)
_NUMBERS = re.compile(
    rf"(?:integers? |numbers? )?({NUMBER})\s*(?:-|–|—|\.\.|\bto\b)\s*({NUMBER})",  # noqa: RUF001
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(
    r"(?<=[}`])\s*(?:\*\*)?\b(?:or|OR)\b(?:\*\*)?\s*(?=[`{])|\}\s*\|\s*(?=\{)"
)


def read_shape(text: str) -> dict[str, Any] | None:
    """Return the Schema's fields that a type expression sets; None where it is not a type."""
    plain = bare(text.strip().strip("`").strip())
    if not plain:
        return None
    if plain[0] == "{":
        return _object(plain)
    if plain[0] == "[":
        return _list(plain)
    array = _ARRAY_OF.fullmatch(plain)
    if array and (items := _items(array["items"])) is not None:
        return {"types": ("array",), "items": items}
    plain = re.sub(r"^(?:an? )(?=\w)|(?<=\w) enum$", "", plain)
    shape = read_type(plain)
    if shape is None:
        return None
    # One quoted word or number by itself is a value, not a type.
    if shape.enum is not None and len(shape.enum) == 1 and len(shape.types) < 2:  # noqa: PLR2004
        return None
    said = {one.name: getattr(shape, one.name) for one in fields(shape)}
    return {k: v for k, v in said.items() if k == "types" or v != getattr(_ANYTHING, k)}


def _items(text: str) -> Schema | None:
    ends = _NUMBERS.fullmatch(text.strip())
    if ends:
        low, high = number(ends[1]), number(ends[2])
        whole = isinstance(low, int) and isinstance(high, int)
        return Schema(types=("integer" if whole else "number",), minimum=low, maximum=high)
    inner = read_shape(text)
    if inner is not None:
        return Schema(**inner)
    match = re.fullmatch(r"(?:enum:?|one of:?)\s*(.+)", text, re.IGNORECASE)
    values = enum_values(match[1] if match else text) if match or text[:1] in "[\"'`" else None
    if values is None:
        return None
    kinds = tuple(dict.fromkeys(json_type(value) for value in values))
    return Schema(types=kinds, enum=tuple(values))


def _object(text: str) -> dict[str, Any] | None:
    end = closing(text, 0)
    if end < 0:
        return None
    behind = text[end + 1 :].strip()
    if behind not in {"", "[]"}:
        return None
    held = read_fields(text[: end + 1])
    if held is None:
        return None
    found, is_open = held
    noted: list[str] = []
    made = tuple(_made(field, noted) for field in found)
    said: dict[str, Any] = {"types": ("object",)}
    if not is_open:
        said["properties"] = made
    if behind:
        return {"types": ("array",), "items": Schema(**said)}
    return said


def _made(field: ParameterFound, noted: list[str]) -> Parameter:
    if not field.said and not field.bounds and field.default is None and not field.samples:
        shape = Schema(description=", ".join(field.words))
        return Parameter(name=field.name, shape=shape, required=bool(field.need))
    return field.parameter(lambda _path, text, _line: noted.append(text))


def _list(text: str) -> dict[str, Any] | None:
    """Read `["Weight", "BP"]`: a list whose items are these, or a sample of one."""
    inside = text[1:-1].strip() if text.endswith("]") else ""
    if inside in _ELIDED or (text.endswith("]") and not inside):
        return {"types": ("array",)}
    try:
        values = json.loads(text)
    except ValueError:
        return None
    if not isinstance(values, list) or not values:
        return None
    kinds = tuple(dict.fromkeys(json_type(value) for value in values))
    if kinds == ("string",):
        return {"types": ("array",), "items": Schema(types=kinds, enum=tuple(values))}
    return {"types": ("array",), "items": Schema(types=kinds)}


def read_fields(text: str) -> tuple[list[ParameterFound], bool] | None:
    """Return the fields of `{…}`, and whether there are others; None where it can't be read."""
    text = unescaped(text.strip().strip("`").strip())
    if not text.startswith("{") or closing(text, 0) != len(text) - 1:
        return None
    found: list[ParameterFound] = []
    is_open = False
    for code, words in _pieces(text[1:-1]):
        if code in _ELIDED:
            is_open = True
            continue
        match = _FIELD.fullmatch(code)
        if match is None:
            return None
        field = ParameterFound(match["name"], marked=True, need=match["optional"] is None)
        if words:
            field.words.append(words)
        _typed(field, match["rest"].lstrip(":").strip())
        found.append(field)
    return found, is_open


def _pieces(inside: str) -> list[tuple[str, str]]:
    """Cut an object's inside into fields, each with the comment behind it."""
    made: list[tuple[str, str]] = []
    lines = inside.split("\n")
    if not _one_a_line(inside):
        plain = [match["code"] if (match := _COMMENT.fullmatch(line)) else line for line in lines]
        lines = [" ".join(plain)]
    for line in lines:
        match = _COMMENT.fullmatch(line) if "\n" in inside else None
        code, words = (match["code"], match["words"]) if match else (line, "")
        pieces = [piece.rstrip(",;").strip() for piece in split(code, (",", ";"))]
        made += [(piece, "") for piece in pieces if piece]
        if words and made:
            made[-1] = (made[-1][0], words.strip().removesuffix("*/").strip())
    return made


def _one_a_line(inside: str) -> bool:
    """Return whether each line of an object ends with no bracket open."""
    return all(
        line.count("{") == line.count("}") and line.count("[") == line.count("]")
        for line in inside.split("\n")
    )


def _typed(field: ParameterFound, rest: str) -> None:
    """Read what stands behind a field's colon: a type, a default, or a sample value."""
    kind, default = _default_apart(rest)
    if default is not None:
        field.need = False
        field.default = None if default in _NOTHING else bare(default)
    if not kind:
        return
    field.read = True
    said = read_shape(kind)
    if said is not None:
        field.said |= said
        return
    try:
        value = json.loads(kind if kind[:1] != "'" else f'"{kind[1:-1]}"')
    except ValueError:
        _in_words(field, kind)
        return
    field.samples.append(value)
    field.said["types"] = (json_type(value),)


def _in_words(field: ParameterFound, text: str) -> None:
    """Read `string (ISO 8601), 1-20`: phrases in the place of a type."""
    for part, _ in groups_apart(text):
        for clause in split(part, (",", ";")):
            if clause in _ELIDED or read_clause(field, clause):
                continue
            said = None if "types" in field.said else read_shape(clause)
            if said is None:
                field.words.append(clause)
            else:
                field.said |= said


def _default_apart(rest: str) -> tuple[str, str | None]:
    depth = at = 0
    for at, sign in enumerate(rest):
        depth += (sign in "([{") - (sign in ")]}")
        before, after = rest[at - 1 : at], rest[at + 1 : at + 2]
        if (
            sign == "="
            and not depth
            and before not in {"<", ">", "!", "="}
            and after not in {">", "="}
        ):
            return rest[:at].strip(), rest[at + 1 :].strip()
    return rest.strip(), None


def alternatives(text: str) -> list[str]:
    """Return the shapes of `{…} or {…}`, each by itself."""
    plain = unescaped(text).replace("**", "")
    parts = [part.strip().strip("`").strip() for part in _ALTERNATIVE.split(plain)]
    whole = [part if part.endswith("}") else part + "}" for part in parts]
    shapes = all(part.startswith("{") and closing(part, 0) == len(part) - 1 for part in whole)
    return whole if len(whole) > 1 and shapes else []
