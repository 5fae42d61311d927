"""Each text of a source ends in a draft or a note, or its tool is rejected."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolmd._import import read_source
from toolmd._parse import parse_tool
from toolmd._types.imported import Imported

NUMBERS = count(1000)
TEXT = st.builds(lambda: f"word{next(NUMBERS)}x")
SENTENCES = st.builds("About {}. Must be {}.\n\n- Never {}".format, TEXT, TEXT, TEXT)
EXTRA: dict[str, st.SearchStrategy[Any]] = {
    "title": TEXT, "description": SENTENCES, "$comment": TEXT, "x-own": TEXT,
    "x-deep": st.fixed_dictionaries({"a": st.lists(TEXT, min_size=1, max_size=2)}),
    "examples": st.lists(TEXT, min_size=2, max_size=2), "example": TEXT, "default": TEXT,
    "enum": st.lists(TEXT, min_size=1, max_size=2), "const": TEXT, "widget": TEXT,
    "readOnly": st.just(True), "format": TEXT, "not": st.fixed_dictionaries({"const": TEXT}),
    "$id": TEXT, "enumDescriptions": st.lists(TEXT, min_size=1, max_size=1),
    "anyOf": st.tuples(
        st.fixed_dictionaries({"type": st.just("string"), "title": TEXT}),
        st.fixed_dictionaries({"type": st.just("null"), "description": TEXT}),
    ).map(list),
    "allOf": st.tuples(st.fixed_dictionaries({"description": TEXT})).map(list),
}  # fmt: skip


@st.composite
def schemas(draw: st.DrawFn, depth: int = 0) -> dict[str, Any]:
    made: dict[str, Any] = {"type": draw(st.sampled_from(["string", "integer", "object", "array"]))}
    for key in draw(st.lists(st.sampled_from(sorted(EXTRA)), max_size=3, unique=True)):
        made[key] = draw(EXTRA[key])
    if made["type"] == "object" and depth < 2:
        made["properties"] = {draw(st.sampled_from("abc")): draw(schemas(depth + 1))}
        made["additionalProperties"] = draw(st.booleans() | schemas(depth + 1))
    if made["type"] == "array" and depth < 2:
        made["items"] = draw(schemas(depth + 1))
    return made


@st.composite
def functions(draw: st.DrawFn, key: str) -> dict[str, Any]:
    root = {"type": "object", "properties": {"a": draw(schemas())}, "description": draw(SENTENCES)}
    own = {"name": "pay", "description": f"Pay. {draw(SENTENCES)}", "title": draw(TEXT), key: root}
    more = st.dictionaries(st.sampled_from(["x-own", "cost", "_meta", "icons"]), TEXT, max_size=2)
    return own | draw(more)


MCP = st.builds(
    lambda tool, text, output, hints: {
        "tools": [tool | {"outputSchema": output, "annotations": hints}], "_meta": {"own": text},
    },
    functions("inputSchema"), TEXT, schemas(),
    st.fixed_dictionaries({"title": TEXT, "own": TEXT}),
)  # fmt: skip
OPENAI = st.builds(
    lambda function, text: [{"type": "function", "function": function, "more": text}],
    functions("parameters"), TEXT,
)  # fmt: skip
OPENAPI = st.builds(
    lambda field, result, texts: {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1", "description": next(texts)},
        "servers": [{"url": "https://shop.example", "description": next(texts)}],
        "tags": [{"name": "t", "description": next(texts)}],
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "K", "description": next(texts)}}},
        "paths": {"/a": {"summary": next(texts), "get": {
            "operationId": "pay", "summary": next(texts), "description": next(texts),
            "tags": [next(texts)], "x-own": next(texts), "security": [{"key": [next(texts)]}],
            "externalDocs": {"url": next(texts)},
            "parameters": [{"name": "q", "in": "query", "schema": field, "x-own": next(texts)}],
            "responses": {
                "200": {"description": next(texts),
                        "content": {"application/json": {"schema": result}}},
                "404": {"description": next(texts)}},
        }}},
    },
    schemas(), schemas(), st.builds(lambda: (f"word{next(NUMBERS)}x" for _ in count())),
)  # fmt: skip


def words(value: Any) -> Iterator[str]:
    """Yield the marked words of a source."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from words(one)
    elif isinstance(value, str):
        yield from (one.strip(".") for one in value.split() if one.startswith("word"))


def said(read: Imported) -> str:
    parts = [*(draft.text for draft in read.drafts), *map(str, read.notes), *map(str, read.refused)]
    return "\n".join(parts)


@pytest.mark.parametrize(
    ("kind", "sources"), [("mcp", MCP), ("openai", OPENAI), ("openapi", OPENAPI)], ids=str
)
@given(data=st.data())
def test_each_text_ends_in_a_draft_or_a_note_or_its_tool_is_rejected(
    kind: str, sources: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    source = data.draw(sources)
    read = read_source(kind, json.dumps(source), "source.json")
    if read.drafts:
        text = said(read)
        assert [word for word in words(source) if word not in text] == []
    else:
        assert read.refused


SENTENCES_OF_POLICY = [
    "Only call after the user confirmed.",
    "Must never be used on the table users.",
    "Only returns 10 results.",
]


@pytest.mark.parametrize("sentence", SENTENCES_OF_POLICY)
def test_a_sentence_of_a_description_stays_prose(sentence: str) -> None:
    schema = {"type": "object", "properties": {}}
    tool = {"name": "pay", "description": f"Pay a bill. {sentence}", "inputSchema": schema}
    read = read_source("mcp", json.dumps([tool]), "source.json")
    spec, _ = parse_tool(read.drafts[0].text, "pay.tool.md")

    assert spec is not None
    assert sentence in spec.description
