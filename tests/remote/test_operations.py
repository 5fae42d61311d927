"""A tool calls an operation of a web service, through the same pipeline as Python's tools."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from echo_service import EchoService, ServiceProject, json_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from toolmd import Result, Workspace, parse_tool

TOOL_IN_PYTHON = """\
# Ask

Asks.

## Metadata

- **Name**: ask
- **Version**: 1.0.0
- **Category**: general
{more}
## Parameters

### word

- **Type**: string
- **Description**: The word
- **Sent In**: query

## Returns

- **Type**: object
- **Description**: The answer
"""
REQUIRED = "- **Type**: string\n- **Required**: true"
OPTIONAL = "- **Type**: string"


def made(tmp_path: Path, service: EchoService, more: str = "") -> ServiceProject:
    return ServiceProject(tmp_path, {"shop": f'url = "{service.url}"\n{more}'})


def call(project: ServiceProject, name: str, arguments: Any, **how: Any) -> Result:
    with Workspace.open(project.root) as workspace:
        errors = [d for d in workspace.diagnostics if d.severity == "error"]
        assert not errors
        return workspace.call_sync(name, arguments, **how)


def test_each_argument_arrives_in_its_place(tmp_path: Path, service: EchoService) -> None:
    project = made(tmp_path, service)
    project.tool("order", "http POST /shops/{shop}/orders", {
        "shop": REQUIRED,
        "item": REQUIRED,
        "count": "- **Type**: integer",
        "tags": "- **Type**: array\n- **Items**: string\n- **Sent In**: query tag[]",
        "trace": f"{OPTIONAL}\n- **Sent In**: header X-Trace",
        "visit": f"{OPTIONAL}\n- **Sent In**: cookie",
    })  # fmt: skip
    arguments = {"shop": "a b?#", "item": "tea", "count": 2, "tags": ["x", "y&z"],
                 "trace": "t 1", "visit": "v=1"}  # fmt: skip

    result = call(project, "order", arguments)

    assert result.success, result.error
    (seen,) = service.received
    assert (seen["method"], seen["path"]) == ("POST", "/api/shops/a%20b%3F%23/orders")
    assert json_of(seen) == {"item": "tea", "count": 2}
    assert seen["query"] == [("tag[]", "x"), ("tag[]", "y&z")]
    assert seen["headers"]["x-trace"] == "t 1"
    assert seen["headers"]["cookie"] == "visit=v=1"
    assert seen["headers"]["content-type"] == "application/json"
    assert result.data["path"] == seen["path"]


def test_arrays_and_objects_are_written_as_the_standard_has_them(
    tmp_path: Path, service: EchoService
) -> None:
    array = "- **Type**: array\n- **Items**: string\n- **Sent In**:"
    object_ = "- **Type**: object\n- **Sent In**:"
    project = made(tmp_path, service)
    project.tool("find", "http GET /find", {
        "a": f"{array} query as commas",
        "b": f"{array} query B[] as pipes",
        "c": f"{array} query as spaces",
        "d": f"{object_} query as brackets",
        "e": f"{object_} query as json",
        "f": f"{object_} query as commas",
    })  # fmt: skip
    project.tool("bad", "http GET /find", {"a": f"{array} header as commas"})
    values = {"a": ["x,y", "z"], "b": ["x", "|"], "c": ["x y", "z"], "e": {"k": [1]},
              "d": {"low": 1, "in": ["u", {"v": None, "w": True}]},
              "f": {"R": 100, "G": 200}}  # fmt: skip

    with Workspace.open(project.root) as workspace:
        (wrong,) = [one for one in workspace.diagnostics if one.severity == "error"]
        result = workspace.call_sync("find", values)
        spoiled = workspace.call_sync("find", {"d": {"a][b": 1}})

    assert result.success, result.error
    assert service.received[0]["url"].partition("?")[2].split("&") == [
        "a=x%2Cy,z", "B%5B%5D=x%7C%7C", "c=x%20y%20z", "d%5Blow%5D=1", "d%5Bin%5D%5B0%5D=u",
        "d%5Bin%5D%5B1%5D%5Bw%5D=true", "e=%7B%22k%22%3A%20%5B1%5D%7D", "f=R,100,G,200",
    ]  # fmt: skip
    assert (spoiled.outcome, len(service.received)) == ("denied", 1)
    assert "Sent In of a is 'header as commas'" in wrong.message


def test_get_sends_the_rest_in_the_query_and_post_in_the_body(
    tmp_path: Path, service: EchoService
) -> None:
    project = made(tmp_path, service)
    fields = {"word": REQUIRED, "deep": "- **Type**: boolean"}
    for method in ("get", "delete", "put"):
        project.tool(method, f"http {method} shop:/things", fields)

    for method in ("get", "delete", "put"):
        assert call(project, method, {"word": "ä", "deep": True}).success

    got, deleted, put = service.received
    assert got["query"] == deleted["query"] == [("word", "ä"), ("deep", "true")]
    assert (got["body"], deleted["body"], put["query"]) == ("", "", [])
    assert json_of(put) == {"word": "ä", "deep": True}


def test_a_default_that_the_caller_left_out_is_not_sent(
    tmp_path: Path, service: EchoService
) -> None:
    flag = "- **Type**: boolean\n- **Default**: false"
    nested = """\
- **Type**: object
- **Properties**:
  - **force**:
    - **Type**: boolean
    - **Default**: true
    - **Description**: Force
  - **rows**:
    - **Type**: integer
    - **Description**: Rows"""
    project = made(tmp_path, service)
    project.tool("update", "http PATCH /repos/{id}", {
        "id": REQUIRED, "text": OPTIONAL, "private": flag, "deep": nested,
        "page": f"{flag}\n- **Sent In**: query", "trace": f"{flag}\n- **Sent In**: header X-T",
    }, more="\n## Safety\n\n- **Requires Confirmation**: true\n")  # fmt: skip
    arguments = {"id": "7", "text": "New", "private": None, "deep": {"rows": 1}}

    with Workspace.open(project.root) as workspace:
        asked = workspace.call_sync("update", arguments)
        assert asked.confirmation is not None
        done = workspace.confirmations.approve_sync(asked.confirmation.id)

    assert done.success, done.error
    (seen,) = service.received
    assert json_of(seen) == {"text": "New", "deep": {"rows": 1}}
    assert (seen["query"], seen["headers"].get("x-t")) == ([], None)
    assert "private" not in asked.confirmation.prompt
    assert asked.notes == ("null counts as missing: private",)


def test_a_form_and_a_whole_body_are_sent_as_such(tmp_path: Path, service: EchoService) -> None:
    project = made(tmp_path, service)
    project.tool("form", "http POST /form", {"name": f"{REQUIRED}\n- **Sent In**: form full[name]"})
    project.tool("list", "http PUT /list", {
        "rows": "- **Type**: array\n- **Items**: integer\n- **Sent In**: whole body"
    })  # fmt: skip
    merge = "body as application/merge-patch+json"
    project.tool("merge", "http PATCH /m", {"name": f"{REQUIRED}\n- **Sent In**: {merge}"})
    steps = "whole body as application/json-patch+json"
    project.tool("steps", "http PATCH /s", {
        "rows": f"- **Type**: array\n- **Items**: integer\n- **Sent In**: {steps}"
    })  # fmt: skip

    assert call(project, "form", {"name": "a&b=c"}).success
    assert call(project, "list", {"rows": [1, 2]}).success
    assert call(project, "merge", {"name": "a"}).success
    assert call(project, "steps", {"rows": [1]}).success

    form, rows, merged, stepped = service.received
    assert merged["headers"]["content-type"] == "application/merge-patch+json"
    assert stepped["headers"]["content-type"] == "application/json-patch+json"
    assert form["body"] == "full%5Bname%5D=a%26b%3Dc"
    assert form["headers"]["content-type"] == "application/x-www-form-urlencoded"
    assert json_of(rows) == [1, 2]


@pytest.mark.parametrize(
    "hostile", ["../admin", "..", ".", "", "a/b", "a\\b", "/", "\r\nx", "\x00", "..\\admin"]
)
def test_an_argument_that_is_not_one_part_of_a_path_is_denied_before_anything_is_sent(
    tmp_path: Path, service: EchoService, hostile: str
) -> None:
    project = made(tmp_path, service)
    project.tool("pet", "http GET /pets/{id}", {"id": REQUIRED})

    result = call(project, "pet", {"id": hostile})

    assert result.error is not None
    assert (result.outcome, result.error.code) == ("denied", "invalid_arguments")
    assert service.received == []


@pytest.mark.parametrize("odd", ["a?b=c", "%2e%2e", "..%2fadmin", "a#b", "a;b", "ä{x}", "a%"])
def test_odd_signs_stay_one_part_of_the_path(
    tmp_path: Path, service: EchoService, odd: str
) -> None:
    project = made(tmp_path, service)
    project.tool("pet", "http GET /pets/{id}", {"id": REQUIRED})

    assert call(project, "pet", {"id": odd}).success

    (seen,) = service.received
    before, _, part = seen["path"].rpartition("/")
    assert (before, unquote(part), seen["query"]) == ("/api/pets", odd, [])


def test_two_parts_that_make_dots_together_send_nothing(
    tmp_path: Path, service: EchoService
) -> None:
    project = made(tmp_path, service)
    project.tool("pet", "http GET /pets/.{id}", {"id": REQUIRED})
    project.tool("two", "http GET /pets/{a}-{b}", {"a": REQUIRED, "b": REQUIRED})

    assert not call(project, "pet", {"id": "."}).success
    assert call(project, "two", {"a": "x", "b": "y"}).success
    assert [seen["path"] for seen in service.received] == ["/api/pets/x-y"]


@pytest.mark.parametrize("hostile", ["a\r\nX-Admin: 1", "a\nb", "\x00", " a", "ä", "a\x7f"])
@pytest.mark.parametrize("place", ["header X-Note", "cookie"])
def test_a_header_or_a_cookie_takes_visible_ascii_only(
    tmp_path: Path, service: EchoService, hostile: str, place: str
) -> None:
    project = made(tmp_path, service)
    project.tool("note", "http GET /note", {"note": f"{REQUIRED}\n- **Sent In**: {place}"})

    result = call(project, "note", {"note": hostile})

    assert result.error is not None
    assert result.error.code == "invalid_arguments"
    assert service.received == []


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
PARTS = TEXTS.filter(lambda t: t.strip(".") and not set(t) & set("/\\"))
VISIBLE = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(part=PARTS, words=st.lists(TEXTS, max_size=4), head=VISIBLE, body=JSON)
def test_the_service_receives_exactly_the_arguments(
    tmp_path_factory: pytest.TempPathFactory,
    service: EchoService,
    part: str,
    words: list[str],
    head: str,
    body: Any,
) -> None:
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in part):
        part = "x"
    service.received.clear()
    project = made(tmp_path_factory.mktemp("project"), service)
    project.tool("send", "http PUT /send/{part}/end", {
        "part": REQUIRED,
        "words": "- **Type**: array\n- **Items**: string\n- **Sent In**: query",
        "head": f"{OPTIONAL}\n- **Sent In**: header X-Head",
        "body": "- **Type**: any\n- **Sent In**: body",
    })  # fmt: skip

    result = call(project, "send", {"part": part, "words": words, "head": head, "body": body})

    assert result.success, result.error
    (seen,) = service.received
    assert unquote(seen["path"]) == f"/api/send/{part}/end"
    assert seen["query"] == [("words", word) for word in words]
    assert seen["headers"]["x-head"] == head
    assert json_of(seen) == {"body": body}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("redirect", "302"),
        ("huge", "more than 8,388,608 bytes"),
        ("broken", "JSON that can't be read"),
        ("zipped", "compressed"),
        ("404", "The service answered 404: no luck yyy"),
        ("500", "The service answered 500"),
    ],
)
def test_an_answer_that_is_no_result_is_a_failure_that_says_why(
    tmp_path: Path, service: EchoService, kind: str, said: str
) -> None:
    project = made(tmp_path, service)
    project.tool("ask", f"http GET /answer/{kind}", {})

    result = call(project, "ask", {})

    assert result.error is not None
    assert (result.outcome, result.error.code) == ("failed", "tool_error")
    assert said in result.error.message
    assert len(result.error.message) < 700
    assert not any("path" in seen for seen in service.received)


BYTES = "U+FFFD stands for bytes that are no character."


@pytest.mark.parametrize(
    ("kind", "data", "notes"),
    [
        ("nan", {"a": None, "b": 1}, ["NaN or Infinity became null in data.a."]),
        ("digits", {"a": None}, ["NaN or Infinity became null in data.a."]),
        ("half", {"a": "x\ufffd"}, ["An unpaired surrogate became U+FFFD in data.a."]),
        ("bom", {"a": 1}, []),
        ("latin", {"a": "é"}, []),
        ("unknown", {"a": "é"}, []),
        ("utf16", {"a": "é"}, []),
        ("undefined", {"a": 1}, []),
        ("bytes", {"a": "\ufffd"}, [BYTES]),
        ("latin-text", "é", []),
        ("image", {"part": 1, "type": "image", "media_type": "image/png", "bytes": 5}, []),
    ],
)
def test_an_answer_is_read_as_its_service_wrote_it(
    tmp_path: Path, service: EchoService, kind: str, data: Any, notes: list[str]
) -> None:
    project = made(tmp_path, service)
    project.tool("ask", f"http GET /answer/{kind}", {})

    result = call(project, "ask", {})

    assert result.success, result.error
    told = [one for one in result.notes if "what the tool's file says" not in one]
    assert (result.data, told) == (data, notes)


def test_text_and_nothing_are_results(tmp_path: Path, service: EchoService) -> None:
    project = made(tmp_path, service)
    project.tool("text", "http GET /answer/text", {})
    project.tool("nothing", "http GET /answer/nothing", {})

    assert call(project, "text", {}).data == "plain words"
    assert call(project, "nothing", {}).data is None


def test_an_answer_that_never_ends_is_cut_off_by_the_timeout(
    tmp_path: Path, service: EchoService
) -> None:
    project = made(tmp_path, service, "timeout = 0.3")
    project.tool("read", "http GET /answer/slow", {}, metadata="- **Read Only**: true\n")
    project.tool("write", "http POST /answer/slow", {})

    assert call(project, "read", {}).outcome == "failed"
    assert call(project, "write", {}).outcome == "unknown"


def test_only_a_repeatable_tool_is_tried_again(tmp_path: Path, service: EchoService) -> None:
    project = made(tmp_path, service)
    limits = "\n## Limits\n\n- **Retries**: 2\n- **Backoff**: 1ms\n"
    project.tool("read", "http GET /answer/503", {}, limits, "- **Read Only**: true\n")
    project.tool("write", "http POST /answer/503", {}, limits)

    read, write = call(project, "read", {}), call(project, "write", {})

    assert (read.attempts, write.attempts, len(service.received)) == (3, 1, 4)
    assert read.error is not None
    assert write.error is not None
    assert (read.error.code, write.error.code) == ("api_offline", "api_offline")
    assert "503" in read.error.message
    assert "may have taken effect" in write.error.message


def test_a_keyed_tool_sends_its_idempotency_key(tmp_path: Path, service: EchoService) -> None:
    project = made(tmp_path, service)
    project.tool("pay", "http POST /pay", {}, metadata="- **Idempotent**: keyed\n")

    assert call(project, "pay", {}).success
    assert service.received[0]["headers"]["idempotency-key"]


def test_max_calls_and_confirmation_hold_for_a_remote_tool(
    tmp_path: Path, service: EchoService
) -> None:
    project = made(tmp_path, service)
    project.tool("few", "http GET /few", {}, "\n## Limits\n\n- **Max Calls**: 1\n")
    project.tool("drop", "http DELETE /pets/{id}", {"id": REQUIRED},
                 "\n## Safety\n\n- **Requires Confirmation**: true\n")  # fmt: skip
    with Workspace.open(project.root) as workspace:
        few = [workspace.call_sync("few", {}, conversation="c") for _ in range(2)]
        asked = workspace.call_sync("drop", {"id": "1"}, user="u")
        before = len(service.received)
        assert asked.confirmation is not None
        done = workspace.confirmations.approve_sync(asked.confirmation.id, user="u")

    assert [one.outcome for one in few] == ["ok", "denied"]
    assert (asked.outcome, before) == ("confirm", 1)
    assert done.success
    assert service.received[-1]["method"] == "DELETE"


def test_a_place_in_a_request_is_reported_on_a_tool_in_python() -> None:
    text = TOOL_IN_PYTHON.format(more="")
    spec, (told,) = parse_tool(text, "ask.tool.md")
    assert spec is not None
    assert (told.code, told.severity) == ("misplaced-field", "warning")
    assert "Sent In of word has no effect" in told.message
    _, found = parse_tool(TOOL_IN_PYTHON.format(more="- **Implemented By**: http GET /x\n"), "x")
    assert found == ()
