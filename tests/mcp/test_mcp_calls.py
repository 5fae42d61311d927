"""Tools over MCP: listed completely, called through the call pipeline, denied with a code."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult
from mcp_clients import code, over
from tests.command import run_command

from toolmd import Workspace
from toolmd._call.audit.reader import AuditReader
from toolmd._types.call import Caller

MakeClient = Callable[..., Client]


def call(
    client: Client, name: str, arguments: dict[str, Any] | None = None, **options: Any
) -> CallToolResult:
    async def run() -> CallToolResult:
        async with client as connected:
            return await connected.call_tool(name, arguments or {}, **options)

    return asyncio.run(run())


def tools(client: Client) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with client as connected:
            listed = await connected.list_tools()
            return {
                t.name: t.model_dump(by_alias=True, mode="json", exclude_none=True)
                for t in listed.tools
            }

    return asyncio.run(run())


def test_each_client_speaks_its_era(client: MakeClient, mode: str) -> None:
    async def run() -> str:
        async with client() as connected:
            return str(connected.protocol_version)

    assert asyncio.run(run()) == ("2026-07-28" if mode == "auto" else "2025-11-25")


def test_the_list_is_the_export_sorted_by_name(client: MakeClient, workspace: Workspace) -> None:
    exported = {item["name"]: item for item in workspace.export("mcp")}
    del exported["paint"]["outputSchema"]

    listed = tools(client())

    assert listed == exported
    assert list(listed) == sorted(listed)


def test_every_tool_has_all_four_hints_and_its_policy(client: MakeClient) -> None:
    listed = tools(client())

    hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert all(set(tool["annotations"]) == hints for tool in listed.values())
    policy = listed["transfer"]["_meta"]["toolmd/policy"]
    assert policy["safety"] == {"requires_confirmation": True, "sensitivity": "critical"}
    for tool in listed.values():
        jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
        jsonschema.Draft202012Validator.check_schema(tool.get("outputSchema", {}))


def test_an_object_is_structured_content_and_text(client: MakeClient) -> None:
    result = call(client(), "add", {"a": 1, "b": 2})

    assert result.structured_content == {"sum": 3}
    assert json.loads(result.content[0].text) == {"sum": 3}
    assert not result.is_error


def test_other_values_are_wrapped_and_their_text_is_bare(client: MakeClient) -> None:
    result = call(client(), "greet", {"name": "Ana"})

    assert result.structured_content == {"result": "Hello, Ana!"}
    assert result.content[0].text == "Hello, Ana!"


def test_declared_content_is_content(client: MakeClient) -> None:
    result = call(client(), "paint")

    assert [block.type for block in result.content] == ["image", "text"]
    assert result.structured_content is None


def test_wrong_arguments_are_named_with_the_expected_values(client: MakeClient) -> None:
    result = call(client(), "add", {"a": "1", "c": 3})

    assert code(result) == "invalid_arguments"
    details = {p["path"]: p["code"] for p in result.structured_content["error"]["details"]}
    assert details == {
        "a": "wrong_type",
        "b": "missing_argument",
        "c": "unknown_argument",
    }
    assert "a must be an integer" in result.content[0].text


def test_a_tools_own_failure_keeps_its_code(client: MakeClient) -> None:
    result = call(client(), "fail")

    assert code(result) == "closed"
    assert result.content[0].text == "closed: The shop is closed."


def test_a_result_that_does_not_fit_reports_that_the_tool_ran(client: MakeClient) -> None:
    result = call(client(), "lie")

    assert code(result) == "result_mismatch"
    assert "ran and took effect" in result.content[0].text


def test_an_unknown_tool_is_an_error_of_the_protocol_with_near_names(client: MakeClient) -> None:
    with pytest.raises(MCPError) as error:
        # A group of the client's tasks may stand around it.
        _unwrapped(lambda: call(client(), "ad"))

    assert error.value.code == -32602
    assert error.value.error.data["near"][0] == "add"


HIDDEN = """\
# {title}

{title} an item.

## Metadata

- **Name**: {name}
- **Version**: 1.0.0
- **Category**: test
{more}
## Parameters

None

## Returns

- **Type**: string
- **Description**: What happened
"""


@pytest.mark.parametrize("name", ["find_item", "secret_item", "secret_itm", "x" * 10_000])
def test_a_call_that_no_model_may_make_is_recorded_and_names_no_tool_for_it(
    project: Path, mode: str, name: str
) -> None:
    more = {"secret_item": "- **Model Invocation**: no\n- **Read Only**: yes\n", "delete_item": ""}
    for known, fields in more.items():
        text = HIDDEN.format(title=known, name=known, more=fields)
        (project / "tools_md" / f"{known}.tool.md").write_text(text, encoding="utf-8")
    with Workspace.open(project) as workspace:
        assert more.keys() <= workspace.tools.keys()
        with pytest.raises(MCPError) as error:
            _unwrapped(lambda: over(workspace, mode, lambda client: client.call_tool(name, {})))
        turn = asyncio.run(workspace.handle(_reply(name[:64]), "inline"))
    done = run_command(project, "audit", "--json")

    message = f"Unknown tool: {name[:128]}"
    assert (error.value.message, error.value.error.data) == (message, {"near": []})
    (failure,) = [one.error for one in turn.results]
    assert (failure.code, failure.message) == (
        "unknown_tool", f"There is no tool {name[:64]!r}; it is not in this project.",
    )  # fmt: skip
    found = [(one["tool"], one["decision"], one.get("user")) for one in json.loads(done.out)]
    assert found == [(name[:64], "deny", user) for user in ("ana", None)]


def _reply(name: str) -> str:
    return f'[TOOL_CALL:{{"id":"1","tool":"{name}","parameters":{{}},"confidence":1}}]'


def _unwrapped(do: Callable[[], Any]) -> Any:
    try:
        return do()
    except BaseExceptionGroup as group:
        inner: BaseException = group
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        raise inner from None


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [({}, "missing_confidence"), ({"_confidence": 0.69}, "low_confidence"),
     ({"_confidence": True}, "malformed_call"), ({"_confidence": "1"}, "malformed_call"),
     ({"_confidence": 0.7}, None)],
)  # fmt: skip
def test_the_confidence_is_not_passed_to_the_tool(
    client: MakeClient, arguments: dict[str, Any], ends: str | None
) -> None:
    result = call(client(), "guess", arguments)

    assert (code(result) if ends else result.structured_content) == (ends or {"result": "rain"})


def test_a_tool_without_a_threshold_has_no_such_argument(client: MakeClient) -> None:
    assert code(call(client(), "add", {"a": 1, "b": 2, "_confidence": 1})) == "invalid_arguments"


def test_only_the_host_sets_the_user(client: MakeClient) -> None:
    assert call(client(), "whoami").structured_content == {"user": "ana", "patient": None}
    for name in ("user", "patient"):
        assert code(call(client(), "whoami", {name: "eve"})) == "invalid_arguments"
        meta = {name: "eve", f"toolmd/{name}": "eve"}
        named = call(client(), "whoami", {}, meta=meta).structured_content
        assert named == {"user": "ana", "patient": None}


def test_only_the_host_sets_the_context(client: MakeClient) -> None:
    meta = {"toolmd/patient": "p1", "patient": "p1"}

    assert code(call(client(), "chart", {}, meta=meta)) == "context_required"


@pytest.mark.parametrize("caller", [Caller("ana", {"patient": "p1"})])
def test_the_hosts_context_is_the_calls(client: MakeClient) -> None:
    assert call(client(), "chart").structured_content == {"result": "The chart of p1"}


@pytest.mark.parametrize("caller", [Caller()])
def test_a_tool_that_requires_a_user_is_denied_without_one(client: MakeClient) -> None:
    assert code(call(client(), "whoami")) == "auth_required"


def test_intent_is_checked_in_the_hosts_message(client: MakeClient) -> None:
    assert code(call(client(), "cancel")) == "no_explicit_intent"
    meta = {"toolmd/message": "Please cancel it all"}
    assert call(client(), "cancel", meta=meta).structured_content == {"result": "all of it"}


def test_a_review_does_not_ask_the_user(client: MakeClient) -> None:
    result = call(client("accept"), "alarm", {"text": "fire!"})

    assert code(result) == "review_required"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ("## Approval\n\n- **When**: always\n- **By**: manager\n", "approval_required"),
        ("## Safety\n\n- **Crisis When**: true\n", "review_required"),
        ("## Safety\n\n- **Requires Confirmation**: true\n", "confirmation_required"),
    ],
)
def test_a_call_that_waits_has_the_same_code_everywhere(
    client: MakeClient, workspace: Workspace, part: str, said: str
) -> None:
    file = workspace.settings.root / "tools_md" / "whoami.tool.md"
    file.write_text(f"{file.read_text('utf-8')}\n{part}", "utf-8")
    workspace.reload()

    over_mcp = call(client(), "whoami")

    waits = workspace.call_sync("whoami", {}, user="ana").to_dict()
    (pending, *_) = workspace.confirmations.pending_sync(user="ana")
    recorded = AuditReader(workspace.settings).latest(1)[0].record["code"]
    told = over_mcp.structured_content
    assert [told["error"]["code"], recorded] == [said] * 2
    for confirmation in (told["confirmation"], waits["confirmation"], pending.to_dict()):
        assert confirmation.get("code", "confirmation_required") == said


def test_progress_of_a_stream_only_grows(client: MakeClient) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    result = call(client(), "count", {"to": 4}, progress_callback=hear)

    assert result.structured_content == {"result": 4}
    assert [message for *_, message in heard] == ["1", "2", "3", "4"]
    steps = [progress for progress, *_ in heard]
    assert steps == sorted(set(steps))


@pytest.mark.parametrize(
    ("arguments", "ends"),
    [({"name": "x" * 300_000}, "malformed_call"), ({"name": [[[1]]]}, "invalid_arguments"),
     ({"name": None}, "invalid_arguments"), ({"": ""}, "invalid_arguments")],
)  # fmt: skip
def test_odd_arguments_are_denied_without_an_exception(
    client: MakeClient, arguments: dict[str, Any], ends: str
) -> None:
    assert code(call(client(), "greet", arguments)) == ends


def test_nothing_of_a_crash_reaches_the_client(client: MakeClient, workspace: Workspace) -> None:
    path = workspace.settings.root / "tools_md" / "greet.py"
    path.write_text(
        '"""Greet."""\n\n\ndef greet(name: str) -> str:\n    raise KeyError("s3cret")\n'
    )
    workspace.reload()

    result = call(client(), "greet", {"name": "Ana"})

    assert code(result) == "tool_error"
    assert "s3cret" not in result.model_dump_json()
    assert "Traceback" not in result.model_dump_json()


def test_nothing_of_a_crash_of_the_server_itself_reaches_the_client(
    client: MakeClient, workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> MCPError:
        async with client() as connected:
            workspace.close()
            with pytest.raises(MCPError) as error:
                await connected.call_tool("greet", {"name": "Ana"})
            return error.value

    error = asyncio.run(run())

    assert error.code == -32603
    assert "closed" not in str(error)
    assert str(error).removesuffix(".").split()[-1] in caplog.text
    assert "the workspace is closed" in caplog.text


def test_a_disconnected_client_ends_only_its_call(client: MakeClient, project: Path) -> None:
    async def run() -> Any:
        with anyio.fail_after(20):
            async with client() as connected:
                with anyio.CancelScope() as scope:

                    async def hang_up(progress: float, total: Any, message: str | None) -> None:
                        scope.cancel()

                    await connected.call_tool("hold", {}, progress_callback=hang_up)
                while not (project / "tools_md" / "hung-up.txt").exists():
                    await anyio.lowlevel.checkpoint()
                return await connected.call_tool("add", {"a": 1, "b": 2})

    assert not asyncio.run(run()).is_error
