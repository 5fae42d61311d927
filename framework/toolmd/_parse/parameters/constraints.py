"""Check fields against the parameter's type; validate enums, defaults, examples and patterns."""

from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from toolmd._parse.blocks.block import Bullets, Comment, Fence
from toolmd._parse.blocks.prose import prose
from toolmd._parse.fields.alone import pointed
from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.field import Field
from toolmd._parse.fields.naming import Fields
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words import scalars
from toolmd._parse.words.keys import code_text, flow, split
from toolmd._types.code import Code
from toolmd._types.model_view import unknown_fields
from toolmd._types.schema import UPPER, Schema
from toolmd._validation import pattern_fault, problems

_NOWHERE = Mark("", 1, 1)
_NO_DEFAULT = frozenset(("none", "null", "-", "n/a", ""))


def check_fit(page: Page, where: str, fields: Fields, said: dict[str, Any]) -> None:
    """Report fields of another type, and bounds that no value can meet."""
    types = said["types"]
    for known, entry in fields.known.values():
        if not types or not known.fits or set(known.fits) & set(types):
            continue
        if known.attribute == "properties" and "array" in types:
            continue  # these are the fields of its items
        page.error(
            Code.FIELD_MISMATCH,
            entry.key,
            f"{known.name} does not fit {where}, which is {' or '.join(types)}",
            f"{known.name} is for {' and '.join(known.fits)}{_for_the_type(known, entry, types)}",
        )
    _check_below(page, where, fields, said)
    each = fields.entry("values")
    if each is not None and {"properties", "one_of"} & set(said):
        page.error(
            Code.FIELD_MISMATCH,
            each.key,
            f"{where} has fields of its own, and no others: Each Value has no effect",
            "remove Each Value, or the fields",
        )
    for low, high in UPPER.items():
        if low in said and high in said and said[low] > said[high]:
            page.error(
                Code.INVALID_RANGE,
                _value_of(fields, low),
                f"the bounds of {where} exclude every value: {said[low]} is above {said[high]}",
                "swap them, or change one",
            )
    if types == ("array",) and said.get("items") is None:
        page.hint(
            Code.ARRAY_WITHOUT_ITEMS,
            _value_of(fields, "types"),
            f"{where} is an array of anything",
            "declare its items with `- **Items**:`",
        )


_BELOW = {
    "properties": ("object", "write all parameters as headings of the same level"),
    "items": ("array", "remove the items"),
}


def _check_below(page: Page, where: str, fields: Fields, said: dict[str, Any]) -> None:
    """Report fields or items below a value of another type, which no field of it names."""
    types = said["types"]
    for attribute, (kind, remedy) in _BELOW.items():
        if types and attribute in said and kind not in types and not fields.entry(attribute):
            what = "fields" if attribute == "properties" else attribute
            page.error(
                Code.FIELD_MISMATCH,
                _value_of(fields, "types"),
                f"{what} are nested below {where}, which is {' or '.join(types)}",
                f"change its type to {kind}, or {remedy}",
            )


_OF_TYPE = {
    ("minimum", "string"): ("Min Length", "at least {} characters"),
    ("maximum", "string"): ("Max Length", "at most {} characters"),
    ("minimum", "array"): ("Min Items", "at least {} items"),
    ("maximum", "array"): ("Max Items", "at most {} items"),
}
"""The field that bounds another type, and its form next to a name."""


def _for_the_type(known: Field, entry: Entry, types: tuple[str, ...]) -> str:
    """Return what to write instead of a bound that does not fit the type; empty for others."""
    found = _OF_TYPE.get((known.attribute, types[0]))
    if found is None or len(types) > 1:
        return ""
    instead = found[1].format(entry.text) if entry.implied else f"- **{found[0]}**: {entry.text}"
    return f"; for {types[0]}, write `{instead}`"


_PLACES = {
    **dict.fromkeys(
        ("accepts_handle", "sent_in"),
        ("parameter", "is for a whole parameter, below `## Parameters`"),
    ),
    "to_model": ("result", "is for a whole result, directly below `## Returns`"),
}
"""The role of the only values that these fields are for."""


def has_place(attribute: str, role: str) -> bool:
    """Return whether a field means something for a value of this role."""
    return attribute not in _PLACES or _PLACES[attribute][0] == role


def check_place(page: Page, where: str, role: str, fields: Fields) -> None:
    """Report fields that mean nothing for this value, and that nothing would follow."""
    for attribute, (known, entry) in fields.known.items():
        if not has_place(attribute, role):
            page.error(
                Code.FIELD_MISMATCH,
                entry.key,
                f"{known.name} has no effect on {where}",
                f"{known.name} {_PLACES[attribute][1]}: move or remove it",
            )


def finished(page: Page, where: str, fields: Fields, said: dict[str, Any]) -> Schema:
    """Build the schema; then check its Pattern, and read Default and Example by its type."""
    shape = Schema(**said)
    if shape.pattern is not None and (fault := pattern_fault(shape.pattern)) is not None:
        page.error(
            Code.INVALID_PATTERN,
            _value_of(fields, "pattern"),
            f"{fault} ({where})",
            "RE2 has no look-around and no back-references",
        )
        shape = replace(shape, pattern=None)
    unknown = () if shape.to_model is None else unknown_fields(shape)
    if unknown or shape.to_model == ():
        page.error(
            Code.FIELD_MISMATCH,
            _value_of(fields, "to_model"),
            f"To Model names {', '.join(unknown) or 'no field'}"
            + (f", which {where} does not have" if unknown else ""),
            "name properties of the result, or of the rows of its arrays",
        )
    for attribute in ("default", "example"):
        entry = fields.entry(attribute)
        if entry is not None and not (attribute == "default" and _says_none(entry, shape)):
            shape = _with_value(page, where, attribute, entry, shape)
    return shape


def _with_value(page: Page, where: str, attribute: str, entry: Entry, shape: Schema) -> Schema:
    value, fits = scalars.literal(_value_text(entry), shape)
    wrong = problems(value, shape) if fits else ()
    if fits and not wrong:
        given: dict[str, Any] = {attribute: value, f"has_{attribute}": True}
        return replace(shape, **given)
    reason = wrong[0].message if wrong else f"it is not of type {' or '.join(shape.types)}"
    said = entry.mark
    message = f"the {attribute} of {where} does not fit its schema: {reason}"
    help_ = _with_point(entry.text, shape) or "write a value that a call could supply"
    if attribute == "default":
        page.error(Code.INVALID_DEFAULT, said, message, help_)
        return shape
    page.warn(Code.INVALID_EXAMPLE, said, message, help_)
    return replace(shape, example=value, has_example=True)


def _with_point(text: str, shape: Schema) -> str:
    """Suggest the number that `2,5` means; empty for any other text or type."""
    meant = pointed(text.strip("`")) if {"number", "integer"} & set(shape.types) else ""
    fits = meant not in ("", text) and scalars.literal(meant, shape)[1]
    return f"write `{meant}`" if fits else ""


def _value_text(entry: Entry) -> str:
    """Return a value's text: after the key, in nested bullets, or in a fence."""
    if entry.text:
        return entry.text
    blocks = [block for block in entry.blocks if not isinstance(block, Comment)]
    match blocks:
        case [Bullets(items=items)] if not any(prose(item.blocks) for item in items):
            return "\n".join(item.mark.text for item in items)
        case [Fence(content=content)]:
            return code_text(content)
        case _:
            return prose(blocks)


def _says_none(entry: Entry, shape: Schema) -> bool:
    """Return whether `None` means no default: it does if the type has no null."""
    word = entry.text.strip("`_ ").lower()
    free = "null" in shape.types or (not shape.types and word == "null")
    return word in _NO_DEFAULT and not free and not entry.blocks


def _value_of(fields: Fields, attribute: str) -> Mark:
    entry = fields.entry(attribute)
    return entry.value if entry is not None else _NOWHERE


MAX_ENUM = 256


def read_enum(page: Page, where: str, fields: Fields, said: dict[str, Any]) -> None:
    """Read the values into `said`; an array's enum applies to its items."""
    entry = fields.entry("enum")
    if entry is None:
        return
    words = _words(page, entry)
    if len(words) > MAX_ENUM:
        too_many(page, entry.key, "values in an enum", MAX_ENUM)
    values = _values(page, where, words[:MAX_ENUM], Schema(types=_types(said)))
    if not words:
        page.error(
            Code.EMPTY_ENUM,
            entry.key,
            f"the enum of {where} has no values, so no value is allowed",
            "write the values separated by commas, or remove Enum",
        )
    if notes := [f"{word.text}: {note}" for word, note in words if note]:
        said["description"] = f"{said.get('description', '')} ({'; '.join(notes)})".strip()
    if said["types"] == ("array",):
        items: Schema = said.get("items") or Schema(types=("string",))
        said["items"] = replace(items, enum=values)
    else:
        said["enum"] = values


def _values(
    page: Page, where: str, words: list[tuple[Mark, str]], shape: Schema
) -> tuple[JsonValue, ...]:
    values: list[JsonValue] = []
    for word, _ in words:
        value, fits = scalars.enum_value(word.text, shape)
        if not fits:
            page.error(
                Code.INVALID_ENUM,
                word,
                f"'{word.text}' in the enum of {where} is not of type {' or '.join(shape.types)}",
                "write a decimal point, and commas between the values: `0.5, 1.5`"
                if ";" in word.text and "number" in shape.types
                else "write a value of the type, or change the type",
            )
        elif not any(value == v and isinstance(value, bool) is isinstance(v, bool) for v in values):
            values.append(value)
    return tuple(values)


def _types(said: dict[str, Any]) -> tuple[Any, ...]:
    if said["types"] == ("array",):
        items: Schema | None = said.get("items")
        return items.types if items else ("string",)
    types: tuple[Any, ...] = said["types"]
    return types


def _words(page: Page, entry: Entry) -> list[tuple[Mark, str]]:
    """Return each value with the note next to it."""
    words: list[tuple[Mark, str]] = []
    column = entry.value.column
    text = entry.text
    for lead in ("one of:", "one of "):
        if text.lower().startswith(lead):
            text = text[len(lead) :]
    for word in scalars.listed(text):
        mark = page.mark(word, entry.value.line, column)
        column = mark.column + len(word) if mark.column >= column else column
        words.append(_spanned(mark))
    for item in entry.items:
        pair = split(item.mark)
        if pair is not None and (pair.marked or (pair.value.text and " " in item.mark.text)):
            words.append((pair.key, flow(pair.value.text)))
        else:
            words.append(_spanned(item.mark))
    return words


def _spanned(mark: Mark) -> tuple[Mark, str]:
    """Split `` `full` (with dinner) `` into the value and its note."""
    end = mark.text.find("`", 1)
    behind = mark.text[end + 1 :].strip()
    if not mark.text.startswith("`") or not (behind.startswith("(") and behind.endswith(")")):
        return mark, ""
    return mark.at(0, end + 1), behind[1:-1].strip()


def too_many(page: Page, mark: Mark, what: str, most: int) -> None:
    """Report that a definition exceeds the limit for a kind of item."""
    page.error(Code.TOO_MANY, mark, f"more than {most} {what}", "split the tool in two")
