"""What a model reads of a result is bounded, and it reads the rest page by page."""

import json
import sqlite3
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workspace_shop import Shop

from toolmd import Result, Workspace
from toolmd._types.call import Budget
from toolmd._types.result import Failure
from toolmd._types.settings import Settings
from toolmd._workspace.model_results import bound_result, page_of
from toolmd.errors import NotFoundError

PAPERS = """\
def find_papers():
    rows = [{"pmid": str(n), "title": f"Title {n}", "abstract": "word " * 400} for n in range(300)]
    return {"total": 300, "papers": rows, "message": "Found 300."}
"""
FIELDS = """\
- **To Model**: total, pmid, title
- **Properties**:
  - **total**:
    - **Type**: integer
  - **papers**:
    - **Type**: array
    - **Items**:
      - **Type**: object
      - **Properties**:
        - **pmid**:
          - **Type**: string
        - **title**:
          - **Type**: string
        - **abstract**:
          - **Type**: string
"""
CAP = 32 << 10


def reply(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": function}
    ]}  # fmt: skip


def text_of(workspace: Workspace, name: str, user: str | None = None, **arguments: Any) -> str:
    (message,) = workspace.handle_sync(reply(name, **arguments), user=user).messages
    return str(message["content"])


def read(workspace: Workspace, handle: str, user: str | None = None, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(
        text_of(workspace, "read_result", user, handle=handle, **more)
    )
    return body


def listed(workspace: Workspace, target: str = "openai") -> set[str]:
    return {item.get("name") or item["function"]["name"] for item in workspace.export(target)}


def test_a_large_result_is_cut_for_a_model_and_whole_for_python(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()

    text = text_of(workspace, "find_papers")
    whole = workspace.call_sync("find_papers").data

    body = json.loads(text)
    assert len(text.encode()) <= CAP
    assert len(json.dumps(whole)) > 10 * CAP
    assert body["data"]["papers"] == whole["papers"][: len(body["data"]["papers"])]
    assert body["truncated"]["bytes"] is True
    assert workspace.results.read_sync(body["truncated"]["handle"]) == whole


def test_a_small_result_is_told_whole_and_not_kept(shop: Shop) -> None:
    shop.tool("say", "def say():\n    return {'word': 'yes'}\n")
    workspace = shop.open()

    body = json.loads(text_of(workspace, "say"))

    assert body["data"] == {"word": "yes"}
    assert "truncated" not in body
    assert not workspace.results.is_open()


def test_a_model_sees_only_the_fields_of_to_model(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS, extra=FIELDS)
    workspace = shop.open()

    body = json.loads(text_of(workspace, "find_papers"))

    assert body["data"]["total"] == 300
    assert body["data"]["papers"][7] == {"pmid": "7", "title": "Title 7"}
    assert len(body["data"]["papers"]) == 300
    part = read(workspace, body["truncated"]["handle"], path="papers[7].abstract", limit=9)
    assert part["data"]["value"] == "word word"


def test_the_tool_that_reads_results_is_exported_only_while_one_is_kept(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()

    assert all("read_result" not in listed(workspace, t) for t in ("openai", "anthropic", "mcp"))
    text_of(workspace, "find_papers")
    assert all("read_result" in listed(workspace, t) for t in ("openai", "anthropic", "mcp"))
    assert "read_result" in workspace.system_prompt("inline")
    assert "read_result" not in workspace.tools
    assert "read_result" not in json.dumps(workspace.export("openapi"))


@pytest.mark.parametrize("setting", ["safety.floor", "safety.default_min"])
def test_a_model_states_its_confidence_where_it_reads_a_result(shop: Shop, setting: str) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open(overrides={setting: 0.5})
    text_of(workspace, "find_papers", _confidence=0.9)

    exported = {item["name"]: item for item in workspace.export("anthropic")}
    for name in ("find_papers", "read_result"):
        assert "_confidence" in exported[name]["input_schema"]["required"]


def test_another_process_reads_what_was_kept(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop.tool("find_papers", PAPERS)
    first, second = shop.open(), shop.open()

    handle = json.loads(text_of(first, "find_papers", user="ana"))["truncated"]["handle"]
    first.close()

    # The first list begins a look at the store, and does not wait for it.
    until = time.monotonic() + 30
    while "read_result" not in listed(second) and time.monotonic() < until:
        time.sleep(0.05)
    assert "read_result" in listed(second)
    assert read(second, handle, "ana", path="papers[299].pmid")["data"]["value"] == "299"


def test_a_list_of_tools_costs_no_statement(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    asked: list[str] = []
    connect = sqlite3.connect

    def traced(*given: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*given, **options)
        connection.set_trace_callback(lambda text: asked.append(text) if "kept" in text else None)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    shop.tool("find_papers", PAPERS)
    first, second = shop.open(), shop.open()
    text_of(first, "find_papers")
    asked.clear()
    for _ in range(20):
        assert "read_result" in listed(first)
    assert asked == []

    # What others keep is looked up beside the list, once a second while none is known.
    began = time.monotonic()
    while "read_result" not in listed(second):
        assert len(asked) <= time.monotonic() - began + 1
        time.sleep(0.01)
    asked.clear()
    for _ in range(20):
        assert "read_result" in listed(second)
    assert asked == []


@pytest.mark.parametrize("user", ["bob", None])
def test_the_result_of_one_user_is_nobody_elses(shop: Shop, user: str | None) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()
    handle = json.loads(text_of(workspace, "find_papers", user="ana"))["truncated"]["handle"]

    unknown, theirs = read(workspace, "r-0123", user), read(workspace, handle, user)

    assert theirs["error"]["code"] == "unknown_handle"
    assert theirs["error"]["message"].replace(handle, "r-0123") == unknown["error"]["message"]
    with pytest.raises(NotFoundError, match="kept for 24 hours"):
        workspace.results.read_sync(handle, user=user)


def test_a_result_is_gone_after_a_day(shop: Shop) -> None:
    import datetime as dt

    now = [dt.datetime(2026, 3, 1, tzinfo=dt.UTC)]
    shop.tool("find_papers", PAPERS)
    settings = Settings(root=shop.root, state=shop.root / ".toolmd", store="memory", plugins=())
    with Workspace(settings, clock=lambda: now[0]) as workspace:
        handle = json.loads(text_of(workspace, "find_papers"))["truncated"]["handle"]
        now[0] += dt.timedelta(hours=23, minutes=59)
        assert read(workspace, handle, path="total")["data"]["value"] == 300
        now[0] += dt.timedelta(minutes=1)

        assert read(workspace, handle)["error"]["code"] == "unknown_handle"
        assert "read_result" not in listed(workspace)


def test_all_pages_together_are_the_whole_array(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()
    handle = json.loads(text_of(workspace, "find_papers"))["truncated"]["handle"]
    rows: list[Any] = []

    page = read(workspace, handle, path="papers")["data"]
    while True:
        rows += page["value"]
        if "next_offset" not in page:
            break
        page = read(workspace, handle, path="papers", offset=page["next_offset"])["data"]

    assert rows == workspace.call_sync("find_papers").data["papers"]


def test_a_wrong_path_names_what_is_there(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()
    handle = json.loads(text_of(workspace, "find_papers"))["truncated"]["handle"]

    error = read(workspace, handle, path="paper[0]")["error"]

    assert error["code"] == "unknown_path"
    assert "total, papers" in error["message"]


def test_a_tool_raises_the_bound_by_its_own_max_bytes(shop: Shop) -> None:
    extra = "\n## Limits\n\n- **Max Bytes**: {}\n"
    long = "def long():\n    return {'text': 'x' * 90_000}\n"
    shop.tool("long", long)
    shop.tool("longer", long.replace("long", "longer"), extra=extra.format("100 KiB"))
    shop.tool("longest", long.replace("long()", "longest()").replace("90_000", "400_000"),
              extra=extra.format("1 MiB"))  # fmt: skip
    workspace = shop.open()

    assert len(text_of(workspace, "long")) <= CAP
    assert len(json.loads(text_of(workspace, "longer"))["data"]["text"]) == 90_000
    assert 200_000 < len(text_of(workspace, "longest")) <= 256 << 10


def test_the_setting_lowers_the_bound(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS)
    workspace = shop.open(overrides={"results.max_bytes": 2000})

    assert len(text_of(workspace, "find_papers")) <= 2000


def test_a_result_that_can_not_be_kept_is_told_all_the_same(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLMD_STORE", "sqlite")
    shop.tool("find_papers", PAPERS)
    workspace = shop.open(overrides={"audit": False})
    shop.write(".toolmd/store.sqlite3", b"no database at all")

    body = json.loads(text_of(workspace, "find_papers"))

    assert body["success"] is True
    assert body["data"]["papers"]
    assert "handle" not in body["truncated"]
    assert "not kept" in body["notes"][0]


def test_a_decided_call_is_cut_when_it_is_rendered(shop: Shop) -> None:
    shop.tool("find_papers", PAPERS, extra="\n## Safety\n\n- **Requires Confirmation**: true\n")
    workspace = shop.open()
    turn = workspace.handle_sync(reply("find_papers"))
    whole = workspace.confirmations.approve_sync(turn.pending[0].id)

    (message,) = turn.render([whole])
    shown = workspace.results.for_model_sync(whole)

    assert len(json.dumps(whole.data)) > CAP
    assert len(message["content"]) <= CAP
    assert shown.handle is not None
    assert turn.render([shown])[0]["content"].count(shown.handle) == 2


def test_no_tool_of_the_project_takes_the_name_of_the_built_in_one(shop: Shop) -> None:
    shop.tool("read_result", "def read_result():\n    return {'own': True}\n")
    shop.tool("find_papers", PAPERS)
    workspace = shop.open()

    (found,) = workspace.diagnostics
    assert (found.code.value, found.path) == ("duplicate-name", "tools_md/read-result.tool.md")
    assert "a model reads the rest of a result" in found.message
    assert "unknown_handle" in text_of(workspace, "read_result", handle="r-1")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40) | st.builds(lambda t, n: t * n, st.text(min_size=1, max_size=4),
                                       st.integers(0, 3000)),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(st.text(max_size=60), inner,
                                                                 max_size=12),
    max_leaves=60,
)  # fmt: skip
WORDS = st.text(max_size=30) | st.builds(lambda t: t * 2000, st.text(min_size=1, max_size=6))


@settings(deadline=None)
@given(value=VALUES, message=WORDS, notes=st.lists(WORDS, max_size=20), failed=st.booleans(),
       most=st.integers(1024, 6000), names=st.none() | st.lists(st.text(max_size=9), max_size=3),
       dialect=st.sampled_from(["openai", "anthropic", "inline", "action", "gemini"]))  # fmt: skip
def test_no_text_for_a_model_is_over_its_bound(
    value: Any, message: str, notes: list[str], failed: bool, most: int, names: Any, dialect: str
) -> None:
    from toolmd._dialect import render_results
    from toolmd._dialect.results import body_text

    error = Failure("tool_error", message) if failed else None
    result = Result(
        success=not failed, tool="say", outcome="failed" if failed else "ok", message=message,
        data=json.loads(json.dumps(value)), error=error, notes=tuple(notes), tool_call_id="c1",
        source={"system": message},
    )  # fmt: skip

    shown = bound_result(result, most, names, handle="r-0123456789abcdef").result

    assert len(body_text(shown).encode()) <= most
    assert json.loads(body_text(shown))["success"] is not failed
    assert render_results([shown], dialect)


def test_the_inline_words_of_a_denial_stay_within_the_bound() -> None:
    from toolmd._dialect import render_results

    for size in range(700, 1024):
        error = Failure("no_explicit_intent", "x" * size)
        denied = Result(success=False, tool="say", outcome="denied", message="", error=error)

        (shown,) = render_results([bound_result(denied, 1024).result], "inline")

        text = shown["content"].removeprefix("[TOOL_RESULT:").removesuffix("]")
        assert len(text) <= 1024


@settings(deadline=None)
@given(value=st.lists(VALUES, max_size=30) | st.text(max_size=3000), room=st.integers(64, 4000))
def test_pages_come_to_an_end_and_leave_nothing_out(value: Any, room: int) -> None:
    offset, pages, shortened = 0, [], False
    while True:
        page = page_of(value, offset, None, room)
        pages.append(page["value"])
        shortened = shortened or page.get("shortened", False)
        if "next_offset" not in page:
            break
        assert page["next_offset"] > offset
        offset = page["next_offset"]

    assert all(len(json.dumps(p, ensure_ascii=False)) <= 3 * room for p in pages)
    if not shortened:
        assert [part for page in pages for part in page] == list(value)


LIMITED = """\
def list_rows():
    return [{"n": n, "text": "ü" * 50} for n in range(40)]
"""
ROWS = [{"n": n, "text": "ü" * 50} for n in range(40)]


@pytest.mark.parametrize(
    ("extra", "truncated"),
    [
        ("\n## Limits\n\n- **Max Rows**: 2\n", {"rows": True, "bytes": False}),
        ("\n## Limits\n\n- **Max Bytes**: 1KB\n", {"rows": False, "bytes": True}),
        ("- **To Model**: n\n\n## Limits\n\n- **Max Rows**: 2\n", {"rows": True, "bytes": False}),
    ],
)
def test_the_limits_of_a_file_bound_a_model_and_the_rest_is_kept(
    shop: Shop, extra: str, truncated: dict[str, bool]
) -> None:
    shop.tool("list_rows", LIMITED, extra=extra)
    workspace = shop.open()

    body = json.loads(text_of(workspace, "list_rows"))

    handle = body["truncated"].pop("handle")
    assert body["truncated"] == truncated
    assert 0 < len(body["data"]) < 40
    assert [row["n"] for row in body["data"]] == list(range(len(body["data"])))
    assert read(workspace, handle, offset=39)["data"]["value"] == ROWS[39:]
    assert workspace.results.read_sync(handle) == ROWS
    python = workspace.call_sync("list_rows")
    assert (python.data, python.truncated) == (ROWS, None)


def test_a_long_text_is_shortened_to_max_bytes_and_kept(shop: Shop) -> None:
    extra = "\n## Limits\n\n- **Max Bytes**: 1KB\n"
    shop.tool("say", "def say():\n    return {'text': 'x' * 5000}\n", extra=extra)
    workspace = shop.open()

    body = json.loads(text_of(workspace, "say"))

    assert len(json.dumps(body["data"], ensure_ascii=False, separators=(",", ":")).encode()) == 1024
    assert workspace.results.read_sync(body["truncated"]["handle"]) == {"text": "x" * 5000}
    assert workspace.call_sync("say").data == {"text": "x" * 5000}


@pytest.mark.parametrize("budget", [{"rows": 2}, {"bytes": 300}])
def test_what_a_plan_leaves_out_is_kept_as_a_whole(shop: Shop, budget: dict[str, int]) -> None:
    shop.tool("list_rows", LIMITED)
    workspace = shop.open()
    purse = {"rows": 100, "bytes": 100_000, "timeout_ms": 60_000, **budget}
    plan = {"calls": [{"tool": "list_rows", "params": {}}], "budget": purse}

    (result,) = workspace.handle_sync(json.dumps(plan), "plan").results

    assert result.data == ROWS[: len(result.data)]
    assert 0 < len(result.data) <= 3
    assert workspace.results.read_sync(result.handle) == ROWS
    short = workspace.call_sync("list_rows", budget=Budget(**purse))
    assert short.data == result.data
