"""`toolmd serve` over standard input and output, as a host starts it."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters
from mcp.shared.message import SessionMessage
from tests import warm_python

from toolmd._mcp.stdio import Pipe

CALLER = ("--user", "ana", "--context", "patient=p1")


def command(project: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "toolmd", "serve", "--project", str(project), *words]


def start(project: Path, *words: str, **streams: Any) -> "subprocess.Popen[bytes]":
    """Start a server with pipes."""
    return warm_python.Popen(
        command(project, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "TOOLMD_LOAD_PLUGINS": ""}, **streams,
    )  # fmt: skip


@asynccontextmanager
async def over_pipes(project: Path, *words: str) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server; yield the streams of its messages, as the SDK's own client has them."""
    server = start(project, *words)
    assert server.stdin is not None
    assert server.stdout is not None
    to_client, reading = anyio.create_memory_object_stream[Any](0)
    writing, to_server = anyio.create_memory_object_stream[Any](0)

    async def read(lines: Any) -> None:
        with to_client, suppress(anyio.BrokenResourceError):  # the client has ended
            while line := await to_thread(lines.readline):
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                await to_client.send(SessionMessage(message))

    async def write(pipe: Any) -> None:
        with pipe:
            async for sent in to_server:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(f"{text}\n".encode())
                pipe.flush()

    async with anyio.create_task_group() as group, reading, writing, to_server:
        group.start_soon(read, server.stdout)
        group.start_soon(write, server.stdin)
        yield reading, writing
        writing.close()
        reading.close()
        group.cancel_scope.cancel()
    server.stdin.close()
    server.stdout.close()
    assert await to_thread(server.wait, 30) == 0


PAGE = Path(__file__).parents[2] / "docs/how-to/mcp.md"


def test_the_command_in_the_settings_of_hosts_serves_the_project(project: Path) -> None:
    texts = re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    tables = [json.loads(text).get("mcpServers") for text in texts]
    ((server,),) = (table.values() for table in tables if table)
    program, verb, option, _, *words = [server["command"], *server["args"]]
    assert [program, verb, option] == ["toolmd", "serve", "--project"]

    async def run() -> list[str]:
        async with Client(over_pipes(project, *words)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "greet" in asyncio.run(run())


def test_a_host_calls_and_its_user_confirms(
    project: Path, mode: str, person: Callable[..., Any], reminders: Any
) -> None:
    # A program of its own, as a host starts it.
    program, *words = command(project, *CALLER)
    environ = {"TOOLMD_LOAD_PLUGINS": "", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    serving = StdioServerParameters(command=program, args=words, env=environ)

    async def run() -> tuple[Any, Any, Any]:
        user = person({"title": "Tea"})
        async with Client(serving, mode=mode, elicitation_callback=user) as client:
            who = await client.call_tool("whoami", {})
            made = await client.call_tool("remind", {"title": "Walk", "hour": 9})
            refused = await client.call_tool("add", {"a": 1})
            return who, made, refused

    who, made, refused = asyncio.run(run())

    assert who.structured_content == {"user": "ana", "patient": "p1"}
    assert made.structured_content["title"] == "Tea"
    assert refused.structured_content["error"]["code"] == "invalid_arguments"
    assert len(reminders()) == 1


def test_a_tools_prints_do_not_disturb_the_host(project: Path) -> None:
    path = project / "tools_md" / "greet.py"
    path.write_text(
        '"""Say hello."""\n\nimport os\n\n\ndef greet(name: str) -> str:\n'
        '    print("stray")\n    os.system("echo stray")\n    input_ = os.read(0, 10)\n'
        '    return f"Hello, {name}! {input_!r}"\n'
    )

    async def run() -> Any:
        async with Client(over_pipes(project, *CALLER)) as client:
            return await client.call_tool("greet", {"name": "Ana"})

    assert asyncio.run(run()).structured_content == {"result": "Hello, Ana! b''"}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="the system has no SIGHUP")
def test_sighup_reloads_the_definitions(project: Path, mode: str) -> None:
    # A tool that gives its server's process, since a client does not say.
    (project / "tools_md" / "greet.py").write_text(
        '"""Say who serves."""\n\nimport os\n\n\ndef greet(name: str) -> str:\n'
        "    return str(os.getpid())\n"
    )
    text = (project / "tools_md" / "greet.tool.md").read_text("utf-8")

    async def heard_of(client: Client, told: asyncio.Event, pid: int) -> None:
        (project / "tools_md" / "hail.tool.md").write_text(text.replace("greet", "hail"), "utf-8")
        if client.protocol_version >= "2026-07-28":
            async with client.listen(tools_list_changed=True) as stream:
                os.kill(pid, signal.SIGHUP)
                async for _ in stream:
                    return
        os.kill(pid, signal.SIGHUP)
        await asyncio.wait_for(told.wait(), 30)

    async def run() -> set[str]:
        told = asyncio.Event()

        async def hear(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                told.set()

        server = over_pipes(project, "--no-follow")
        async with Client(server, mode=mode, message_handler=hear) as client:
            result = await client.call_tool("greet", {"name": "Ana"})
            await heard_of(client, told, int(result.structured_content["result"]))
            return {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}

    assert "hail" in asyncio.run(run())


def call_line(number: int, arguments: str) -> str:
    params = f'{{"name":"add","arguments":{arguments}}}'
    return f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}\n'


def test_each_line_of_the_host_is_answered_or_ends_nothing(project: Path) -> None:
    lines = [
        "no json\n", "\n",
        call_line(2, '{"a":"\\ud800"}'),
        call_line(3, f'{{"a":{"[" * 3000 + "]" * 3000}}}'),
        call_line(4, f'{{"a":{"1" * 5000}}}'),
        call_line(5, '{"a":1,"b":2,"a":3}'),
        call_line(6, '{"a":1,"b":2}')[:60] + "\n",
        '{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x"}}\n',
        '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
    ]  # fmt: skip

    with start(project) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"\xff\xfe\n" + "".join(lines).encode())
        server.stdin.flush()
        answers: dict[int | None, Any] = {}
        while 1 not in answers or 7 not in answers:
            answer = json.loads(server.stdout.readline())
            answers[answer.get("id")] = answer

    assert answers[1]["result"] == {}
    assert {answers[number]["error"]["code"] for number in (None, 2, 3, 4, 6)} == {-32700}
    assert answers[5]["result"]["structuredContent"]["error"]["code"] == "malformed_call"
    assert answers[7]["error"]["code"] in {-32602, -32600}  # the second before the handshake


def test_json_that_is_no_message_is_answered_as_an_invalid_request(project: Path) -> None:
    said: dict[str, Any] = {"jsonrpc": "2.0", "method": "ping"}
    named = [
        {**said, "id": 2, "method": 7}, {"jsonrpc": "2.0", "id": 3},
        {**said, "id": "4", "jsonrpc": "1.0"}, {**said, "id": 5, "params": [1]},
    ]  # fmt: skip
    nameless = [[], 1, None, {}, {**said, "id": True}, {**said, "id": None}, {**said, "method": 7}]
    never_answered = [{**said, "method": "notifications/x"}, {"id": 9, "result": {}}]
    lines = [*never_answered, *named, *nameless, {**said, "id": 1}]
    with start(project) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in (*named, *nameless, 1)]

    denied = [one["id"] for one in answers if one.get("error", {}).get("code") == -32600]
    assert denied == [2, 3, "4", 5, *([None] * len(nameless))]
    assert answers[-1]["result"] == {}


def test_a_saved_file_is_reloaded_and_the_host_is_notified(project: Path, mode: str) -> None:
    text = (project / "tools_md" / "greet.tool.md").read_text("utf-8")

    async def run() -> None:
        notified = asyncio.Event()

        async def notify(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                notified.set()

        async def wait_for_hail(client: Client, notification: Callable[[], Any]) -> None:
            hail = project / "tools_md" / "hail.tool.md"
            hail.write_text(text.replace("greet", "hail"), "utf-8")
            # A reload may see the file before all of it is written, so it may take two.
            while True:
                await asyncio.wait_for(notification(), 30)
                notified.clear()
                listed = await client.list_tools(cache_mode="refresh")
                if "hail" in {tool.name for tool in listed.tools}:
                    return

        async with Client(over_pipes(project), mode=mode, message_handler=notify) as client:
            await client.list_tools()
            if client.protocol_version >= "2026-07-28":
                async with client.listen(tools_list_changed=True) as stream:
                    await wait_for_hail(client, lambda: anext(aiter(stream)))
            else:
                await wait_for_hail(client, notified.wait)

    asyncio.run(run())


def test_at_a_signal_calls_under_way_are_answered_and_new_ones_denied(
    project: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (project / "tools_md" / "greet.py").write_text(
        "from pathlib import Path\n\n\ndef greet(name: str) -> str:\n"
        "    return Path(name).read_text()\n"
    )
    client = {"name": "c", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    call = {"name": "greet", "arguments": {"name": str(pipe)}}
    with start(project) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def send(number: int, method: str, params: Any) -> None:
            assert server.stdin is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()

        send(1, "initialize", hello)
        answers = [json.loads(server.stdout.readline())]
        send(2, "tools/call", call)
        with pipe.open("w") as writer:  # opens when the call reads
            server.send_signal(signal.SIGTERM)
            number = 3
            while "error" not in answers[-1]:
                send(number, "tools/list", {})
                answers.append(json.loads(server.stdout.readline()))
                number += 1
            writer.write("soup" * 50_000)
        answers.append(json.loads(server.stdout.readline()))
        code = server.wait(30)

    assert "shutting down" in answers[-2]["error"]["message"]
    assert answers[-1]["id"] == 2
    assert "soup" in answers[-1]["result"]["content"][0]["text"]
    assert code == 0


def test_buffered_prints_do_not_reach_the_host_at_the_end(project: Path) -> None:
    path = project / "tools_md" / "greet.py"
    path.write_text(
        'print("stray")\n\n\ndef greet(name: str) -> str:\n    print("stray")\n    return name\n'
    )
    call = {"name": "greet", "arguments": {"name": "Ana"}}
    client = {"name": "c", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    server = start(project, stderr=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    lines = []
    for number, (method, params) in enumerate((("initialize", hello), ("tools/call", call))):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        lines.append(server.stdout.readline().decode())
    rest, told = server.communicate()
    lines += rest.decode().splitlines()

    assert all(line.startswith('{"jsonrpc"') for line in lines)
    assert "Ana" in lines[1]
    assert told.decode().count("stray") == 2


def test_a_host_that_reads_no_more_is_no_error() -> None:
    reads, writes = os.pipe()
    os.close(reads)

    async def write() -> None:
        pipe = Pipe(os.fdopen(writes, "w", closefd=False))
        await pipe.write("a message\n")
        await pipe.write("another\n")

    asyncio.run(write())
