"""The Enum field: the allowed values of a parameter, read by its type."""

from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from toolmd._parse.fields.entries import Entry
from toolmd._parse.fields.naming import Fields
from toolmd._parse.source.page import Mark, Page
from toolmd._parse.words import scalars
from toolmd._parse.words.flow import flow
from toolmd._parse.words.keys import split
from toolmd._types.code import Code
from toolmd._types.schema import Schema

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
                "write a value of the type, or change the type",
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
