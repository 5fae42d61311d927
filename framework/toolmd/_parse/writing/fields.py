"""Format values, fields and parameters as canonical markdown."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pydantic import JsonValue

from toolmd._parse import scalars
from toolmd._parse.fields.table import PARAMETER, SectionTable
from toolmd._parse.fields.values import without_remark
from toolmd._parse.page import Mark
from toolmd._parse.words import flow, plain
from toolmd._types.approval import ALWAYS, lasting
from toolmd._types.call_spec import language_and_word, seconds
from toolmd._types.field import Row
from toolmd._types.schema import KEYWORDS, Parameter, Schema

_BLOCK_SIGNS = ("- ", "* ", "+ ", "```", "~~~", ">", "|", "#", "<!--")
_PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/@+ *")


def fields_text(values: Mapping[str, Any], table: SectionTable) -> Iterator[str]:
    """Yield a bullet for each field with a value, in the table's order."""
    for field in table.fields:
        value = values.get(field.attribute)
        writer = WRITERS.get(field.kind)
        if writer is not None and value is not None and value not in ((), "", [], {}):
            yield bullet(field, writer(value))


def bullet(field: Row, text: str) -> str:
    """Return `- **Name**: text`; further lines are indented below it."""
    return f"- **{field.name}**:{behind(text)}"


def behind(text: str) -> str:
    """Place a text after a colon: a first line of plain words there, the rest below."""
    first, _, rest = text.partition("\n\n")
    if begins_block(first):
        first, rest = "", text
    below = indent_lines(rest, 2)
    if not below:
        return f" {first}"
    return (f" {first}\n\n" if first else "\n\n") + below


def begins_block(first: str) -> bool:
    """Return whether a text can't follow other words: it has lines, or the sign of a list."""
    return "\n" in first or first.startswith(_BLOCK_SIGNS) or _numbered(first)


def indent_lines(text: str, by: int) -> str:
    """Indent every line that is not empty."""
    if "\n" in text:
        return "\n".join(indent_lines(line, by) for line in text.split("\n"))
    return " " * by + text if text else ""


def _numbered(text: str) -> bool:
    head, space, _ = text.partition(" ")
    return bool(space) and len(head) > 1 and head[-1] in ".)" and head[:-1].isdigit()


def word(value: str) -> str:
    """Format an item of a list: bare if it reads back as itself, else in a code span."""
    bare = value and set(value) <= _PLAIN and value == value.strip() and " or " not in value
    if (
        bare
        and ": " not in value
        and value[0] not in "*-+:"
        and value[-1] not in ".*"
        and scalars.listed(value) == [value]
    ):
        return value
    return f"`{value}`" if "`" not in value else json.dumps(value, ensure_ascii=False)


def enum_word(value: JsonValue, shape: Schema) -> str:
    """Format a value of an enum: quoted where the bare word reads as another value."""
    bare = word(value) if isinstance(value, str) else literal(value)
    typed = Schema(types=shape.types)
    said = str(value)
    may_be_two = "/" in said and (len(shape.enum or ()) == 1 or "/ " in said or " /" in said)
    for text in () if may_be_two or "<!--" in said else (bare, literal(value)):
        read, _ = scalars.enum_value(text, typed)
        one_of_two = scalars.listed(f"{text}, x") == [text, "x"]
        if type(read) is type(value) and read == value and one_of_two:
            return text
    return _escaped(value) if isinstance(value, str) else json.dumps(value)


def words_text(words: list[str]) -> str:
    """Join a list; a single code span would be read as containing the whole list."""
    if len(words) == 1 and words[0].startswith("`"):
        quoted = json.dumps(words[0][1:-1], ensure_ascii=False)
        return f"[{words[0]}]" if "\\" in quoted else quoted
    return ", ".join(words)


def _keywords(keywords: tuple[str, ...]) -> str:
    """Write keywords on one line; a language stands before the first of its words."""
    groups: dict[str, list[str]] = {}
    for keyword in keywords:
        language, one = language_and_word(keyword)
        groups.setdefault(language, []).append(word(one))
    return "; ".join(
        f"{code}: {words_text(words)}" if code else words_text(words)
        for code, words in groups.items()
    )


_TEXT = Schema(types=("string",))


def literal(value: JsonValue, shape: Schema = _TEXT) -> str:
    """Format a default or an example of a schema."""
    if isinstance(value, str):
        ways = (value, f"`{value}`", json.dumps(value, ensure_ascii=False))
        return next((way for way in ways if _reads_as(way, value, shape)), _escaped(value))
    if isinstance(value, (dict, list)):
        return f"`{json.dumps(value, ensure_ascii=False)}`"
    return json.dumps(value)


def _reads_as(text: str, value: str, shape: Schema) -> bool:
    """Return whether a text after a colon is read as the given value, and as no absent default."""
    if "\n" in text:
        return text == value and value == value.strip()  # written below the field
    if text != flow(text) or text.startswith(_BLOCK_SIGNS) or _numbered(text):
        return False
    none = text.strip("`_ ").lower() in {"", "none", "null", "-", "n/a"}
    return not (none or _has_remark(text)) and scalars.literal(text, shape)[0] == value


def _has_remark(text: str) -> bool:
    return bool(without_remark(Mark(text, 1, 1))[1].text)


def _one_word(value: str) -> str:
    """Format a word: quoted where brackets at its end would be read as a remark."""
    return json.dumps(value, ensure_ascii=False) if _has_remark(value) else value


def _escaped(value: str) -> str:
    """Return a JSON string without characters that markdown reads otherwise."""
    return json.dumps(value).replace("<", "\\u003c")


def _size(value: int) -> str:
    for unit, many in (("MB", 1024**2), ("KB", 1024)):
        if value % many == 0:
            return f"{value // many}{unit}"
    return str(value)


def _number(value: float) -> str:
    return json.dumps(int(value) if value % 1 == 0 else value)


def code(expression: str) -> str:
    """Return a code span for text that may contain backticks."""
    return f"`` {expression} ``" if "`" in expression else f"`{expression}`"


WRITERS: Mapping[str, Callable[[Any], str]] = {
    "text": str,
    "line": str,
    "prose": str,
    "word": _one_word,
    "format": _one_word,
    "phrase": _one_word,
    "context": ", ".join,
    "roles": lambda values: words_text([word(v) for v in values]),
    "condition": lambda when: when if when == ALWAYS else code(when),
    "approvers": lambda by: (
        code(by) if isinstance(by, str) else words_text([word(role) for role in by])
    ),
    "escalations": lambda found: (
        str(found[0]) if len(found) == 1 else "\n".join(f"- {one}" for one in found)
    ),
    "suppliers": lambda facts: ", ".join(f"{fact} from {name}" for fact, name in facts.items()),
    "schedule": code,
    "inputs": lambda values: "\n".join(
        f"- {name}: {literal(text)}" for name, text in values.items()
    ),
    "identifier": str,
    "boolean": lambda value: "true" if value else "false",
    "number": _number,
    "whole": str,
    "count": str,
    "share": _number,
    "choice": str,
    "list": lambda values: words_text([word(v) for v in values]),
    "names": ", ".join,
    "keywords": _keywords,
    "patterns": lambda values: words_text([word(v) for v in values]),
    "hosts": lambda values: words_text([word(v) for v in values]),
    "function": lambda place: place if plain(place) == place else code(place),
    "duration": seconds,
    "term": lasting,
    "size": _size,
    "rate": str,
    "quotas": lambda quotas: (
        str(quotas[0]) if len(quotas) == 1 else "\n".join(f"- {one}" for one in quotas)
    ),
    "hours": str,
    "batch": str,
    "expression": code,
    "pattern": code,
    "literal": literal,
}


def type_text(shape: Schema) -> str:
    """Format a type: `string`, `integer | null`, `dict[string, number]`, `any`."""
    if shape.values is not None and _is_plain_map(shape):
        return f"dict[string, {type_text(shape.values)}]"
    return " | ".join(shape.types) or "any"


def _is_plain_map(shape: Schema) -> bool:
    """Return whether the type of an object with any fields says all of their values."""
    values = shape.values
    if values is None or shape.types != ("object",):
        return False
    if _is_plain_map(values):
        return values == Schema(("object",), values=values.values)
    return values == Schema(types=values.types)


def shape_lines(shape: Schema, *, required: bool | None = None) -> list[str]:
    """Return the bullets of a schema; `required` is left out if it is None."""
    values: dict[str, Any] = {"description": shape.description, "required": required}
    for name, row in KEYWORDS.items():
        value = getattr(shape, name)
        values[name] = value or None if row.kind == "boolean" else value
    lines = [f"- **Type**: {type_text(shape)}"]
    for field in PARAMETER.fields:
        lines += _field_lines(field, shape, values)
    return lines


def _field_lines(field: Row, shape: Schema, values: Mapping[str, Any]) -> list[str]:
    match field.attribute:
        case "default" | "example":
            given = getattr(shape, f"has_{field.attribute}")
            text = literal(getattr(shape, field.attribute), shape) if given else ""
            if field.attribute == "default" and shape.from_caller is not None:
                given, text = True, f"`caller.{shape.from_caller}`"
            return [bullet(field, text)] if given else []
        case "enum" if shape.enum is not None:
            return [bullet(field, words_text([enum_word(v, shape) for v in shape.enum]))]
        case "items" if shape.items is not None:
            return _items_lines(field, shape.items)
        case "values" if shape.values is not None and not _is_plain_map(shape):
            return _items_lines(field, shape.values)
        case "properties" if shape.properties is not None:
            return [f"- **{field.name}**:", *_named_lines(shape.properties)]
        case "one_of" if shape.one_of is not None:
            return [f"- **{field.name}**:", *_shapes_lines(shape.one_of)]
        case "types" | "optional" | "enum" | "items" | "values" | "properties" | "one_of":
            return []
        case attribute if values.get(attribute) not in (None, ""):
            return [bullet(field, WRITERS[field.kind](values[attribute]))]
        case _:
            return []


def _named_lines(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    for parameter in parameters:
        yield f"  - **{parameter.name}**:"
        nested = shape_lines(parameter.shape, required=parameter.required)
        yield from (indent_lines(line, 4) for line in nested)


def _shapes_lines(shapes: tuple[Parameter, ...]) -> Iterator[str]:
    """Yield the shapes of a One Of; each is an object, so only its fields are written."""
    properties = next(field for field in PARAMETER.fields if field.attribute == "properties")
    description = next(field for field in PARAMETER.fields if field.attribute == "description")
    for each in shapes:
        yield f"  - **{each.name}**:"
        if each.shape.description:
            yield indent_lines(bullet(description, each.shape.description), 4)
        if each.shape.properties:
            yield indent_lines(bullet(properties, "").rstrip(), 4)
            lines = _named_lines(each.shape.properties)
            yield from (indent_lines(line, 4) for line in lines)
        else:
            yield indent_lines(bullet(properties, "None"), 4)


def _items_lines(field: Row, items: Schema) -> list[str]:
    return [f"- **{field.name}**:", *(indent_lines(line, 2) for line in shape_lines(items))]


def parameters_text(parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Yield a `### name` block for each parameter."""
    for one in parameters:
        lines = shape_lines(one.shape, required=one.required)
        yield "\n".join([f"### {one.name}", "", *lines])
