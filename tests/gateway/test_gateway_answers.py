"""Whatever a server answers, the result says what happened, and no other tool is affected."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from guarded import Guarded, called, listed
from mcp.types import CallToolResult

from toolmd._gateway.answers import check_output
from toolmd._gateway.pins import canonical
from toolmd.errors import ToolError

DONE = {"result": {"content": [], "structuredContent": {"size": 3}}}
SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


def project_of(folder: Path, answers: dict[str, Any], **schemas: Any) -> Guarded:
    """Return a project whose server has an answer for each tool, and for some an output schema."""
    made = Guarded(folder / "p", *answers)
    (made.files / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    given = {name: {"outputSchema": schema} for name, schema in schemas.items()}
    made.serve(*(listed(name, **given.get(name, {})) for name in answers))
    return made


def test_a_malformed_output_schema_affects_no_other_tool(tmp_path: Path) -> None:
    project = project_of(
        tmp_path, {"good": DONE, "bad": DONE, "wrong": DONE, "checked": DONE},
        bad={}, wrong={"type": "banana"}, checked={**SIZE, "required": ["colour"]},
    )  # fmt: skip
    with project.open() as workspace:
        results = {name: called(workspace, name) for name in ("good", "bad", "wrong", "checked")}

    assert {name: one.outcome for name, one in results.items()} == {
        "good": "ok", "bad": "ok", "wrong": "failed", "checked": "failed",
    }  # fmt: skip
    for name in ("wrong", "checked"):
        assert "ran, but its result does not follow" in results[name].error.message


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"result": {}}, "ran, but its answer does not follow"),
        ({"result": None}, "ran, but its answer does not follow"),
        ({"error": {"code": -32000, "message": "no quota"}}, "with an error: no quota"),
        ({"error": "no quota"}, "with an error: one that can't be read"),
    ],
)
def test_an_answer_that_is_no_result_tells_that_it_came(
    tmp_path: Path, answer: dict[str, Any], message: str
) -> None:
    with project_of(tmp_path, {"odd": answer}).open() as workspace:
        result = called(workspace, "odd")

    assert result.outcome == "failed"
    assert message in result.error.message


PNG = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
PICTURE = {"type": "image", "media_type": "image/png", "bytes": 8}
CUT = "U+FFFD stands for a character that can't be read."
UNKNOWN = [
    {"type": "hologram"},
    {"type": ["x"]},
    {"type": "text", "text": "b"},
    {"type": "hologram"},
]


@pytest.mark.parametrize(
    ("answer", "data", "notes"),
    [
        ({"content": [{"type": "text", "text": "cut \ud83d"}]}, "cut \ufffd", [CUT]),
        ({"content": [{"type": "text", "text": "\U0001f600 \\ud83d"}]}, "\U0001f600 \\ud83d", []),
        ({"content": [], "structuredContent": {"a\ude00": ["\ud83dx"]}},
         {"a\ufffd": ["\ufffdx"]}, [CUT]),
        ({"content": [{"type": "text", "text": "a"}, *UNKNOWN]}, "a\nb",
         ["Content of unknown kinds is left out: 2 hologram, 1 ['x']."]),
        ({"content": [PNG, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}, PNG]},
         [{"part": 1, **PICTURE}, "a\nb", {"part": 2, **PICTURE}], []),
        ({"content": [{"type": "text", "text": "a"}, PNG], "structuredContent": {"n": 1}},
         [{"n": 1}, {"part": 1, **PICTURE}], []),
    ],
)  # fmt: skip
def test_what_can_be_read_of_a_result_comes_in_its_order_with_a_note_on_the_rest(
    tmp_path: Path, answer: dict[str, Any], data: Any, notes: list[str]
) -> None:
    with project_of(tmp_path, {"odd": {"result": answer}}).open() as workspace:
        result = called(workspace, "odd")

    assert (result.outcome, result.data, [*result.notes]) == ("ok", data, notes)


def test_an_error_without_words_is_told_by_its_content(tmp_path: Path) -> None:
    answer = {"content": [], "structuredContent": {"reason": "no stock"}, "isError": True}
    with project_of(tmp_path, {"odd": {"result": answer}}).open() as workspace:
        result = called(workspace, "odd")

    assert result.error.message == '{"reason": "no stock"}'


@pytest.mark.parametrize(("name", "outcome"), [("bytes", "ok"), ("digits", "failed")])
def test_an_answer_of_odd_bytes_or_digits_is_not_waited_for(
    tmp_path: Path, name: str, outcome: str
) -> None:
    with Guarded(tmp_path / "p", name).open() as workspace:
        result = called(workspace, name)

    assert result.outcome == outcome
    if outcome == "ok":
        assert (result.data, [*result.notes]) == ("\ufffd\ufffd", [CUT])
    else:
        assert "its answer does not follow the protocol" in result.error.message


def test_no_secret_is_in_an_error_of_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "s3cret-token")
    project = project_of(tmp_path, {"odd": {"error": {"code": 1, "message": "no s3cret-token"}}})
    with (project.root / "toolmd.toml").open("a", encoding="utf-8") as settings:
        settings.write('env = { TOKEN = "$GIVEN" }\n')
    with project.open() as workspace:
        result = called(workspace, "odd")

    assert result.error.message == "The server answered with an error: no [hidden]"


def test_no_secret_is_in_a_report_of_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIVEN", "half")
    project = Guarded(tmp_path / "p", "report", table='env = { TOKEN = "$GIVEN" }')
    heard: list[Any] = []
    with project.open() as workspace:
        asyncio.run(workspace.call("report", {}, on_event=heard.append))

    assert "[hidden]" in heard[0].data.values()


def test_a_file_whose_media_type_has_a_charset_is_a_part(tmp_path: Path) -> None:
    blob = {"uri": "file:///a/b.csv", "mimeType": "text/csv; charset=utf-8", "blob": "YSxi"}
    answer = {"result": {"content": [{"type": "resource", "resource": blob}]}}
    with project_of(tmp_path, {"table": answer}).open() as workspace:
        result = called(workspace, "table")

    (part,) = result.parts.values()
    assert (part.media_type, part.name, part.data) == ("text/csv", "b.csv", b"a,b")


def checked(value: Any, schema: Any) -> str:
    """Return the error of a result that has a schema; empty for none."""
    definition = canonical({"name": "t", "outputSchema": schema})
    try:
        asyncio.run(
            check_output(CallToolResult(content=[], structured_content=value), definition, 0.1)
        )
    except ToolError as error:
        return str(error)
    return ""


def test_a_schema_that_costs_too_much_is_given_up() -> None:
    steps = {f"s{n}": {"anyOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)}
    began = time.process_time()
    fanned = checked(1, {"$defs": {**steps, "s40": False}, "$ref": "#/$defs/s0"})
    backtracking = {"type": "string", "pattern": "^(a+)+$"}
    slow = checked(f"{'a' * 60}b", backtracking)
    named = checked({f"{'a' * 60}b": 1}, {"patternProperties": {"^(a+)+$": True}})

    assert time.process_time() - began < 5
    assert "can't be checked against the server's own schema within 0.1 s" in fanned
    assert "does not follow" in slow
    assert named == ""
    assert checked("aaa", backtracking) == ""


def test_a_schema_is_checked_without_other_documents() -> None:
    tree = {"$defs": {"n": {"type": "object", "properties": {"in": {"$ref": "#/$defs/n"}}}},
            "$ref": "#/$defs/n"}  # fmt: skip
    unique = {"uniqueItems": True}

    assert checked({"in": {"in": {}}}, tree) == ""
    assert "does not follow" in checked({"in": {"in": 1}}, tree)
    assert "does not follow" in checked({}, {"$ref": "http://127.0.0.1:1/other.json"})
    assert "does not follow" in checked({}, {"$ref": "#"})
    assert (checked([1, True, "1"], unique), checked([{}, []], unique)) == ("", "")
    assert "does not follow" in checked([{"a": 1}, {"a": 1}], unique)
    names = {
        "properties": {"patternProperties": {"type": "integer"}},
        "additionalProperties": False,
    }
    assert checked({"patternProperties": 1}, names) == ""
    assert "does not follow" in checked({"patternProperties": "1"}, names)
