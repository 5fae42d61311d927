"""Read the result of a tool."""

import re
from typing import Any

from toolmd import Schema
from toolmd.importing import ImportReport, read_function
from toolmd_catalog.layout.blocks import Bullets, Paragraph
from toolmd_catalog.layout.entries import ToolEntry
from toolmd_catalog.layout.page import Page
from toolmd_catalog.layout.spans import TextSpan, fences, sentences
from toolmd_catalog.parameters.code import read_code
from toolmd_catalog.parameters.gather import Gathered, read_span
from toolmd_catalog.phrases.literals import json_type
from toolmd_catalog.phrases.shapes import read_shape
from toolmd_catalog.words import bare, clean

UNTOLD = "What the catalogue does not say"
_LISTED = re.compile(r"\b(?:items|rows|entries)\b", re.IGNORECASE)
_LIST = re.compile(r"(?:a |an |the )?(?:json )?(?:list|array)\b", re.IGNORECASE)
_OBJECT = re.compile(r"(?:a |an |the )?(?:json )?object\b", re.IGNORECASE)
_INSIDE = re.compile(r"\(([^()]+)\)")


def read_returns(page: Page, entry: ToolEntry, gives: str) -> tuple[Schema, str]:
    """Return the shape of the result, and a note where it was guessed; `gives` is a signature's."""
    for span in entry.of("returns"):
        shape, guess = _span(page, span)
        if shape is not None:
            return shape, guess
    said = read_shape(gives) if gives else None
    if said is not None:
        return Schema(**{"description": UNTOLD, **said}), ""
    return Schema(description=UNTOLD), "no result in the text: any value"


def _span(page: Page, span: TextSpan) -> tuple[Schema | None, str]:
    named = _INSIDE.search(span.label)
    words = clean(span.text)
    listed = bool(_LISTED.search(span.label))
    if words:
        return _text(words)
    for block in span.blocks:
        if isinstance(block, Bullets):
            first = clean(block.items[0].mark.text)
            said = read_shape(first) if first.startswith("{") else None
            if said is not None:
                return _shaped(said, named[1] if named else "", listed=listed)
            shape = _fields(page, span)
            if shape is not None:
                return shape, "the fields of the result may not be all"
            break
    if shape := _sample(span):
        return shape, "the result's type is taken from an example"
    prose = [text for text, _ in sentences(span)]
    if prose:
        return _text("; ".join(map(clean, prose)))
    del page
    return None, ""


def _shaped(said: dict[str, Any], name: str, *, listed: bool) -> tuple[Schema, str]:
    if listed and said.get("types") == ("object",):
        item = Schema(**{**said, "description": name} if name else said)
        words = f"{name} items" if name else "Items"
        return Schema(types=("array",), items=item, description=words), (
            "the result is read as a list of these items"
        )
    return Schema(**{"description": name or UNTOLD, **said}), ""


def _text(words: str) -> tuple[Schema, str]:
    """Read `string`, `{"compliant": bool}`, `List of pairs saved to a table`."""
    said = read_shape(words)
    if said is not None:
        return Schema(**{"description": UNTOLD, **said}), ""
    lead = re.match(r"`?(?P<type>[A-Za-z][\w\[\]<>|, ]*?)`?\s*(?:[-–—:]|\.)\s+(?P<rest>.+)", words)  # noqa: RUF001
    if lead and (said := read_shape(lead["type"])) is not None:
        return Schema(**{**said, "description": lead["rest"]}), ""
    if _LIST.match(words):
        return Schema(types=("array",), description=words), "the result is a list of anything"
    if _OBJECT.match(words):
        return Schema(types=("object",), description=words), "the result is an object of any fields"
    return Schema(description=words), "the text has no type of the result: any value"


def _fields(page: Page, span: TextSpan) -> Schema | None:
    """Read bullets or a table of the result's fields."""
    gathered = Gathered()
    read_span(page, span, gathered, set())
    found = [one for one in gathered.found.values() if one.said.get("types")]
    if not found or len(found) < len(gathered.found) or gathered.unread:
        return None
    noted: list[str] = []
    fields = tuple(one.parameter(lambda _p, text, _l: noted.append(text)) for one in found)
    words = next(
        (" ".join(b.mark.text.split()) for b in span.blocks if isinstance(b, Paragraph)), ""
    )
    return Schema(types=("object",), properties=fields, description=bare(clean(words)) or UNTOLD)


def _sample(span: TextSpan) -> Schema | None:
    code = read_code(fences(span))
    if code.schemas:
        schema = code.schemas[0][0]
        said = read_function({"name": "result", "parameters": schema}, "result", ImportReport())
        words = str(schema.get("description") or schema.get("title") or UNTOLD)
        fields = said["parameters"] if said else None
        return Schema(types=("object",), properties=fields, description=words)
    values = [value for value, _ in code.plain] + [call.arguments for call in code.calls]
    if not values:
        return None
    kind = json_type(values[0])
    return Schema(types=(kind,), description=UNTOLD)
