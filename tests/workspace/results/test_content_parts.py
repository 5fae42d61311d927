"""Images and files in a result reach each provider as they are, and no text holds them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from workspace_shop import Shop

from toolmd import File, Image, Workspace

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
REFERENCE = {"part": 1, "type": "image", "media_type": "image/png", "bytes": len(PNG)}
CHART = f"""\
from toolmd import File, Image
PNG = {PNG!r}

def draw_chart():
    return {{"title": "Sales", "charts": [Image(PNG)], "report": File(b"%PDF-1.7", name="a.pdf")}}

def zip_all():
    return {{"zip": File(b"PK", "application/zip")}}
"""


@pytest.fixture
def workspace(shop: Shop) -> Workspace:
    shop.tool("draw_chart", CHART)
    shop.tool("zip_all", CHART)
    return shop.open()


def returned(shop: Shop, value: str) -> Any:
    """Return the result of a tool that returns the value of an expression."""
    shop.tool("give", f"from toolmd import File, Image\ndef give():\n    return {value}\n")
    return shop.open().call_sync("give")


def test_a_part_is_on_the_result_and_a_reference_in_its_data(workspace: Workspace) -> None:
    result = workspace.call_sync("draw_chart")

    assert result.parts == {1: Image(PNG), 2: File(b"%PDF-1.7", "application/pdf", "a.pdf")}
    assert result.data["title"] == "Sales"
    assert result.data["charts"] == [REFERENCE]
    assert result.data["report"]["name"] == "a.pdf"
    shown = result.to_dict()["parts"][0]
    assert (shown["media_type"], base64.b64decode(shown["data"])) == ("image/png", PNG)
    json.dumps(result.to_dict())


def test_openai_gets_parts_in_a_message_of_the_user_after_all_results(workspace: Workspace) -> None:
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": "{}"}}
             for n, name in enumerate(("draw_chart", "zip_all"))]  # fmt: skip
    messages = workspace.handle_sync({"role": "assistant", "tool_calls": calls}).messages

    assert [message["role"] for message in messages] == ["tool", "tool", "user"]
    assert json.loads(messages[0]["content"])["data"]["charts"] == [REFERENCE]
    told, image, file, other, unshown = messages[2]["content"]
    assert told["text"] == "Part 1, 2 of what draw_chart (call c0) returned:"
    assert base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,")) == PNG
    assert file["file"]["filename"] == "a.pdf"
    assert other["text"] == "Part 1 of what zip_all (call c1) returned:"
    assert unshown["text"] == "A part (application/zip, 2 bytes) can't be shown to you."


def test_responses_get_parts_in_the_output_of_the_call(workspace: Workspace) -> None:
    items = [{"type": "function_call", "call_id": "c", "name": "draw_chart", "arguments": "{}"}]
    (item,) = workspace.handle_sync(items).messages

    kinds = [part["type"] for part in item["output"]]
    assert kinds == ["input_text", "input_image", "input_file"]


def test_anthropic_gets_parts_as_blocks_of_the_result(workspace: Workspace) -> None:
    block = {"type": "tool_use", "id": "c", "name": "draw_chart", "input": {}}
    (message,) = workspace.handle_sync([block]).messages

    text, image, document = message["content"][0]["content"]
    assert json.loads(text["text"])["data"]["title"] == "Sales"
    assert base64.b64decode(image["source"]["data"]) == PNG
    assert (document["type"], document["source"]["media_type"]) == ("document", "application/pdf")


def test_gemini_gets_parts_after_the_responses(workspace: Workspace) -> None:
    content = {"role": "model", "parts": [{"functionCall": {"name": "draw_chart", "args": {}}}]}
    (message,) = workspace.handle_sync(content).messages

    response, image, _ = message["parts"]
    assert response["functionResponse"]["name"] == "draw_chart"
    assert image["inlineData"] == {"mimeType": "image/png", "data": base64.b64encode(PNG).decode()}


def test_a_text_dialect_reads_what_the_result_holds(workspace: Workspace) -> None:
    reply = '[TOOL_CALL:{"id": "c", "tool": "draw_chart", "parameters": {}}]'
    (message,) = workspace.handle_sync(reply, dialect="inline").messages

    assert '"media_type":"image/png"' in message["content"]
    assert base64.b64encode(PNG).decode() not in message["content"]


def test_a_model_gets_only_the_parts_of_the_fields_that_it_sees(shop: Shop) -> None:
    shop.tool("draw_chart", CHART, extra="- **To Model**: title, report\n")
    block = {"type": "tool_use", "id": "c", "name": "draw_chart", "input": {}}

    turn = shop.open().handle_sync([block])

    kinds = [one["type"] for one in turn.messages[0]["content"][0]["content"]]
    assert kinds == ["text", "document"]
    assert [part.kind for part in turn.results[0].parts.values()] == ["file"]


def test_too_many_and_too_large_parts_are_left_out_with_a_note(shop: Shop) -> None:
    result = returned(shop, "{'all': [File(bytes(9 << 20)), *[File(b'x')] * 20]}")

    assert len(result.parts) == 16
    assert len(result.data["all"]) == 21
    assert [note.split(":")[0] for note in result.notes] == [
        "Part 1 of 9437184 bytes is left out", "4 content parts are left out"
    ]  # fmt: skip


def test_parts_of_rows_beyond_max_rows_are_not_shown(shop: Shop) -> None:
    python = (
        "from toolmd import File\ndef give():\n    return [File(b'%d' % n) for n in range(5)]\n"
    )
    shop.tool("give", python, extra="\n## Limits\n\n- **Max Rows**: 2\n")
    item = {"type": "function_call", "call_id": "c", "name": "give", "arguments": "{}"}

    turn = shop.open().handle_sync([item])

    assert [part.data for part in turn.results[0].parts.values()] == [b"0", b"1"]


def test_a_stream_may_end_with_a_part(shop: Shop) -> None:
    shop.tool(
        "give",
        f"from toolmd import Image\nasync def give():\n    yield 1\n    yield Image({PNG!r})\n",
    )

    result = shop.open().call_sync("give")

    assert result.parts == {1: Image(PNG)}


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"),
     (b"RIFF\0\0\0\0WEBP", "image/webp")],
)  # fmt: skip
def test_the_type_of_an_image_is_found_by_its_first_bytes(data: bytes, media_type: str) -> None:
    assert Image(data).media_type == media_type


def test_a_file_is_read_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(b"%PDF")

    assert File.read(file) == File(b"%PDF", "application/pdf", "a.pdf")
    assert repr(File.read(file)) == "File(<4 bytes>, 'application/pdf', 'a.pdf')"


def test_a_tool_that_returns_another_tools_result_returns_its_parts(shop: Shop) -> None:
    shop.tool("draw_chart", CHART)
    shop.tool(
        "pass_on",
        "async def pass_on(*, context):\n    return await context.call('draw_chart', {})\n",
    )

    result = shop.open().call_sync("pass_on")

    assert result.success, result
    assert result.parts[1] == Image(PNG)
