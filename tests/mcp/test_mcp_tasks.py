"""A durable run that waits is a task, for clients that declare them (SEP-2663)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClientExtension, ResultClaim, advertise
from mcp.types import CallToolResult, Request, RequestParams, Result

from toolmd import Workspace
from toolmd._mcp.callers import FixedCaller
from toolmd._mcp.server import McpServer
from toolmd._types.call import Caller

TASKS = "io.modelcontextprotocol/tasks"
REST = """# Rest

Rest, then add two numbers.

## Metadata

- **Name**: rest
- **Version**: 1.0.0
- **Category**: test
- **Durable**: yes
- **Required Tools**: add

## Workflow

1. **Rest**.
   - **Wait**: {wait}

2. **Go on**.
   - **Ask**: Go on?

3. **Add**.
   - **Use**: add
   - **With**:
     - a: `2`
     - b: `3`
   - **Save as**: total

4. **Return**:
   - total: `total`

## Input Schema

None

## Output Schema

- **Type**: object (SkillResult)
"""


class NewTask(Result):
    """A task in place of a call's result."""

    result_type: Literal["task"]
    task_id: str
    status: str


class Task(Result):
    """The state of a task, as a client reads it."""

    result_type: Literal["complete"]
    task_id: str
    status: str
    status_message: str | None = None
    input_requests: dict[str, Any] | None = None
    result: dict[str, Any] | None = None


class TaskParams(RequestParams):
    task_id: str
    input_responses: dict[str, Any] | None = None


class TaskRequest(Request[TaskParams, str]):
    method: str
    params: TaskParams


async def sent(client: Any, method: str, task_id: str, **more: Any) -> Any:
    """Send one request for a task."""
    kind = Task if method == "tasks/get" else Result
    request = TaskRequest(method=method, params=TaskParams(task_id=task_id, **more))
    return await client.send_request(request, kind)


class Model(FixedCaller):
    """A host whose token may call and may not decide."""

    def may_decide(self, ctx: Any) -> bool:
        return False


class Follows(ClientExtension):
    """A client's support of tasks: it hands a new task to `follow`, which returns the result."""

    identifier = TASKS

    def __init__(self, follow: Callable[[Any, str], Awaitable[CallToolResult]]) -> None:
        self._follow = follow

    def claims(self) -> tuple[ResultClaim[NewTask], ...]:
        async def resolve(task: NewTask, context: Any) -> CallToolResult:
            assert task.status == "working"
            return await self._follow(context.session, task.task_id)

        return (ResultClaim(result_type="task", model=NewTask, resolve=resolve),)


@pytest.fixture
def served(project: Path) -> Iterator[Callable[..., McpServer]]:
    """Return a function that serves the project to a user, with a skill that waits first."""
    with ExitStack() as stack:

        def serve(wait: str, user: str = "ana", who: type[FixedCaller] = FixedCaller) -> McpServer:
            (project / "skills_md" / "rest.skill.md").write_text(REST.format(wait=wait), "utf-8")
            workspace = Workspace.open(project, overrides={"store": "sqlite"})
            return McpServer(stack.enter_context(workspace), who(Caller(user)))

        yield serve


async def until(session: Any, task_id: str, status: str) -> Task:
    """Look at a task until it has a status."""
    async with asyncio.timeout(60):
        while (task := await sent(session, "tasks/get", task_id)).status != status:
            pass
    return task


def test_a_run_that_waits_is_followed_asked_about_and_answered_as_a_task(served: Any) -> None:
    server = served("1s")

    async def follow(session: Any, task_id: str) -> CallToolResult:
        asked = await until(session, task_id, "input_required")
        ((key, request),) = (asked.input_requests or {}).items()
        assert (key, request["params"]["message"]) == ("2:ask", "Go on?")
        answers = {"nobody:asked": {"action": "accept"}, key: {"action": "accept", "content": {}}}
        await sent(session, "tasks/update", task_id, input_responses=answers)
        done = await until(session, task_id, "completed")
        return CallToolResult.model_validate(done.result)

    async def play() -> CallToolResult:
        async with Client(server.low, extensions=[Follows(follow)]) as client:
            return await client.call_tool("rest", {})

    result = asyncio.run(play())
    assert result.structured_content["data"] == {"total": {"sum": 5}}


def test_a_task_is_cancelled_and_nobody_elses_is_known(served: Any) -> None:
    server = served("1h")
    other = served("1h", "bob")
    found: list[str] = []

    async def follow(session: Any, task_id: str) -> CallToolResult:
        found.append(task_id)
        async with Client(other.low, extensions=[advertise(TASKS)]) as bob:
            for named in (task_id, task_id.partition(".")[0], ""):
                for method in ("tasks/get", "tasks/cancel"):
                    with pytest.raises(MCPError, match="Unknown task"):
                        await sent(bob.session, method, named)
        async with Client(server.low) as undeclared:
            with pytest.raises(MCPError, match="Missing required client capability"):
                await sent(undeclared.session, "tasks/get", task_id)
        await sent(session, "tasks/cancel", task_id)
        await until(session, task_id, "cancelled")
        return CallToolResult(content=[], is_error=True)

    async def play() -> None:
        async with Client(server.low, extensions=[Follows(follow)]) as client:
            await client.call_tool("rest", {})

    asyncio.run(play())
    assert found


def test_a_client_without_tasks_reads_that_the_run_goes_on_by_itself(served: Any) -> None:
    async def play(mode: str) -> CallToolResult:
        async with Client(server.low, mode=mode) as client:
            return await client.call_tool("rest", {})

    server = served("1h")
    for mode in ("auto", "legacy"):
        result = asyncio.run(play(mode))
        assert result.structured_content["error"]["code"] == "waiting"


def test_a_client_that_may_not_decide_sees_the_question_and_changes_nothing(served: Any) -> None:
    server = served("1s", who=Model)

    async def follow(session: Any, task_id: str) -> CallToolResult:
        async with asyncio.timeout(60):
            while (task := await sent(session, "tasks/get", task_id)).status_message != "Go on?":
                pass
        answers = {"2:ask": {"action": "accept", "content": {}}}
        await sent(session, "tasks/update", task_id, input_responses=answers)
        after = await sent(session, "tasks/get", task_id)
        assert task.status == after.status == "working"
        assert (task.input_requests, after.status_message) == (None, "Go on?")
        return CallToolResult(content=[], is_error=True)

    async def play() -> None:
        async with Client(server.low, extensions=[Follows(follow)]) as client:
            await client.call_tool("rest", {})

    asyncio.run(play())
