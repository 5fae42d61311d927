"""Serve durable runs that wait as tasks, for clients that declare the extension (SEP-2663)."""

import asyncio
import hashlib
import hmac
from collections.abc import Mapping
from secrets import token_bytes
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ElicitResult,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolmd._mcp.answers import skill_answer
from toolmd._mcp.asking import Asking
from toolmd._mcp.callers import Callers, RequestContext
from toolmd._store import MEMORY
from toolmd._types.call import Caller
from toolmd._types.result import Result
from toolmd._types.run import Question, RunView
from toolmd._types.skill import SkillSpec
from toolmd._workspace import Workspace
from toolmd.errors import NotFoundError

EXTENSION = "io.modelcontextprotocol/tasks"
POLL_MS = 2_000
"""How often a client should look at a task, in milliseconds."""
_WAITS = frozenset(("confirm", "review", "waiting"))
_LACKS: dict[str, Any] = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}


class TaskParams(RequestParams):
    """The parameters of `tasks/get` and `tasks/cancel`."""

    task_id: str


class UpdateParams(TaskParams):
    """The parameters of `tasks/update`."""

    input_responses: Mapping[str, Any]


class Tasks:
    """The tasks of a server: each is a durable run, whose id is signed for its caller."""

    def __init__(self, workspace: Workspace, who: Callers, asking: Asking) -> None:
        """Prepare to serve; no store is opened before a run waits."""
        self._workspace = workspace
        self._who = who
        self._asking = asking
        self._key: bytes | None = None

    async def begin(
        self, ctx: RequestContext, spec: object, result: Result, caller: Caller
    ) -> dict[str, Any] | None:
        """Return a task for a run that waits, or None if the result itself is the answer."""
        if result.outcome not in _WAITS or result.run_id is None or not declares_tasks(ctx):
            return None
        if not isinstance(spec, SkillSpec) or not spec.durable:
            return None
        view = await self._workspace.runs.get(result.run_id)
        task_id = f"{view.id}.{await self._signature(view.id, caller)}"
        return {**self._task(ctx, task_id, view), "resultType": "task"}

    async def get(self, ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        """Return the state of a task, with what it asks or its result."""
        view, caller = await self._found(ctx, params.task_id)
        task = self._task(ctx, params.task_id, view)
        if task["status"] == "input_required":
            task["inputRequests"] = {
                one.key: request.model_dump(mode="json", by_alias=True, exclude_none=True)
                for one in _asked(view)
                if (request := await self._asking.request(ctx, one.id)) is not None
            }
        if task["status"] == "completed" and view.result is not None:
            # A view hides Sensitive values; the caller of the run gets its result.
            ended = await self._workspace.runs.resume(view.id)
            seen = await self._workspace.results.for_model(ended, user=caller.user)
            task["result"] = skill_answer(seen).model_dump(
                mode="json", by_alias=True, exclude_none=True
            )
        return task

    async def update(self, ctx: RequestContext, params: UpdateParams) -> dict[str, Any]:
        """Apply the answers of the task's user; those to no open question are ignored."""
        view, caller = await self._found(ctx, params.task_id)
        if self._who.may_decide(ctx):
            for one in _asked(view):
                try:
                    told = ElicitResult.model_validate(params.input_responses.get(one.key))
                except ValidationError:
                    continue
                if told.action != "cancel":
                    await self._asking.settle(one.id, told, caller)
        return {}

    async def cancel(self, ctx: RequestContext, params: TaskParams) -> dict[str, Any]:
        """Cancel a task's run before its next call."""
        view, _ = await self._found(ctx, params.task_id)
        await self._workspace.runs.cancel(view.id)
        return {}

    async def _found(self, ctx: RequestContext, task_id: str) -> tuple[RunView, Caller]:
        """Return the run of a task and its caller; a task of somebody else is unknown."""
        if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(METHOD_NOT_FOUND, "Method not found")
        if not declares_tasks(ctx):
            message = "Missing required client capability"
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, data=_LACKS)
        caller = self._who(ctx)
        run_id, _, signature = task_id.rpartition(".")
        if hmac.compare_digest(
            signature.encode(), (await self._signature(run_id, caller)).encode()
        ):
            try:
                return await self._workspace.runs.get(run_id), caller
            except NotFoundError:
                pass
        raise MCPError(INVALID_PARAMS, "Unknown task: it is not one of this caller's runs.")

    def _task(self, ctx: RequestContext, task_id: str, view: RunView) -> dict[str, Any]:
        message = view.result.message if view.result is not None else ""
        if view.questions:
            message = view.questions[0].prompt
        task = {
            "resultType": "complete",
            "taskId": task_id,
            "status": self._status(ctx, view),
            "createdAt": view.began,
            "lastUpdatedAt": view.entries[-1].at if view.entries else view.began,
            "ttlMs": None,
            "pollIntervalMs": POLL_MS,
        }
        return {**task, "statusMessage": message} if message else task

    def _status(self, ctx: RequestContext, view: RunView) -> str:
        if view.state == "cancelled":
            return "cancelled"
        if view.result is not None or view.state in ("done", "failed"):
            return "completed"
        # Another person decides where this client may not, and the task goes on then.
        is_asked = bool(_asked(view)) and self._who.may_decide(ctx)
        return "input_required" if is_asked else "working"

    async def _signature(self, run_id: str, caller: Caller) -> str:
        """Return what makes a run's id a task of this caller: ids can be guessed."""
        if self._key is None:
            self._key = await asyncio.to_thread(self._read_key)
        whose = repr((run_id, caller.user, sorted(caller.context.items())))
        return hmac.new(self._key, whose.encode(), hashlib.sha256).hexdigest()[:32]

    def _read_key(self) -> bytes:
        settings = self._workspace.settings
        if settings.store == MEMORY:
            return token_bytes(32)
        from toolmd._store.store import shared_secret

        # Any process of the store may serve the next request for a task.
        return shared_secret(settings.store, settings.state).encode()


def _asked(view: RunView) -> list[Question]:
    """Return the questions for the run's own user; an operator answers a review."""
    return [one for one in view.questions if one.kind is None]


def declares_tasks(ctx: RequestContext) -> bool:
    """Return whether the client of a request understands a task as a result."""
    capabilities = ctx.session.client_capabilities
    return (
        ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        and capabilities is not None
        and EXTENSION in (capabilities.extensions or {})
    )
