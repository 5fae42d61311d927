"""The operations on runs of skills: start, list, show, resume and cancel them."""

import asyncio
import datetime as dt
import logging
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, cast

from pydantic import AwareDatetime, BeforeValidator, Field
from starlette.responses import Response

from toolmd._http.api.errors import ApiError
from toolmd._http.api.operation import ApiRequest, Body, Number, Operation, Text
from toolmd._http.api.tools import SURE, Confidence, known
from toolmd._http.api.wire import json_bytes
from toolmd._types.call import Caller
from toolmd._workspace import Workspace
from toolmd._workspace.runs import PAGE
from toolmd.errors import NotFoundError

_log = logging.getLogger(__name__)
FIRST_SIGN_S = 5
"""The time to wait for the first event of a background run, in seconds."""


def _time(value: object) -> dt.datetime:
    """Read a time; a number, also as text, could mean seconds, milliseconds or a year."""
    try:
        return dt.datetime.fromisoformat(cast("str", value))
    except (TypeError, ValueError):
        raise ValueError("a time is text in ISO 8601, with its zone") from None


class RunBody(Body):
    """A run of one skill."""

    inputs: dict[str, Any] | str = Field(
        default_factory=dict, description="The inputs, an object or its JSON text."
    )
    confidence: Confidence | None = Field(None, description=SURE)
    message: str = Field("", description="The user's own words, for the intent check.")
    at: Annotated[AwareDatetime, BeforeValidator(_time)] | None = Field(
        None, strict=False, description="Schedule it: the time, with its zone, at which it starts."
    )
    wait: bool = Field(
        default=True,
        description="Answer when it ended or waits; if false, at once, with its id.",
    )


class Nothing(Body):
    """An empty body."""


class Background:
    """The runs that no request waits for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._under_way: set[asyncio.Task[None]] = set()

    def start(
        self, name: str, inputs: Mapping[str, Any] | str, caller: Caller, confidence: float | None
    ) -> str:
        """Start a run in the running loop, and return its id."""
        run_id = f"run-{secrets.token_hex(8)}"
        task = asyncio.get_running_loop().create_task(
            self._run(name, inputs, caller, confidence, run_id)
        )
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return run_id

    async def close(self) -> None:
        """Cancel the tasks; stored runs resume at the next start."""
        for task in tuple(self._under_way):
            task.cancel()
        await asyncio.gather(*self._under_way, return_exceptions=True)

    async def _run(
        self,
        name: str,
        inputs: Mapping[str, Any] | str,
        caller: Caller,
        confidence: float | None,
        run_id: str,
    ) -> None:
        try:
            await self._workspace.run(
                name,
                inputs,
                confidence=confidence,
                message=caller.message,
                user=caller.user,
                context=caller.context,
                conversation=caller.conversation,
                run_id=run_id,
            )
        except Exception:  # noqa: BLE001 - no request waits for it, so the log has the error
            _log.exception("the run %s failed", run_id)


class RunAnswers:
    """The operations on runs."""

    def __init__(self, workspace: Workspace, background: Background) -> None:
        self._workspace = workspace
        self._background = background

    def operations(self) -> tuple[Operation, ...]:
        """Return the routes."""
        return (
            Operation("POST", "/api/skills/{name}/run", "runSkill", "Run a skill.", self._run,
                      "Result", RunBody, (400, 404, 408, 413), details=RUN),
            Operation("GET", "/api/runs", "listRuns", "List the runs, the newest first.",
                      self._page, "Runs", problems=(400, 404), query=(LIMIT, AFTER)),
            Operation("POST", "/api/runs/{run}/resume", "resumeRun", "Resume a run.",
                      self._resume, "Result", Nothing, (400, 404, 408, 413)),
            Operation("POST", "/api/runs/{run}/cancel", "cancelRun",
                      "Stop a run, and undo its completed steps.",
                      self._cancel, "Result", Nothing, (400, 404, 408, 413)),
            Operation("GET", "/api/fleet", "showFleet",
                      "Show the workers, what waits for them, schedules and used limits.",
                      self._fleet, "Fleet", problems=(503,)),
            Operation("GET", "/api/runs/{id}", "showRun", "Show a run step by step.", self._show,
                      "Run", problems=(404,)),
        )  # fmt: skip

    async def _run(self, asked: ApiRequest) -> Any:
        body = asked.body
        name = known(asked.name, self._workspace, "skill")
        caller = asked.caller._replace(message=body.message)
        if not body.wait and body.at is None:
            return await self._started(name, body, caller)
        result = await self._workspace.run(
            name,
            body.inputs,
            confidence=body.confidence,
            message=body.message,
            user=caller.user,
            context=caller.context,
            conversation=caller.conversation,
            at=body.at,
        )
        return result.to_dict()

    async def _fleet(self, asked: ApiRequest) -> Any:
        del asked
        return (await self._workspace.runs.fleet()).to_dict()

    async def _started(self, name: str, body: RunBody, caller: Caller) -> Response:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        ids: list[str] = []

        def heard(kind: str, data: dict[str, Any], user: str | None) -> None:
            del user
            if kind == "run" and data["run_id"] in ids:
                loop.call_soon_threadsafe(begun.set)

        end = self._workspace.on_workspace_event(heard)
        try:
            ids.append(self._background.start(name, body.inputs, caller, body.confidence))
            async with asyncio.timeout(FIRST_SIGN_S):
                await begun.wait()
        except TimeoutError:
            pass
        finally:
            end()
        where = {"location": f"/api/runs/{ids[0]}"}
        told = json_bytes({"run_id": ids[0]})
        return Response(told, 202, headers=where, media_type="application/json")

    async def _page(self, asked: ApiRequest) -> Any:
        runs, after = self._workspace.runs, asked.text(AFTER.name)
        limit = asked.numbers[LIMIT.name]
        with _known():
            views = await runs.list(user=asked.theirs, limit=limit, after=after)
        return [view.to_dict() for view in views]

    async def _show(self, asked: ApiRequest) -> Any:
        with _known():
            return (await self._workspace.runs.get(asked.name, user=asked.theirs)).to_dict()

    async def _resume(self, asked: ApiRequest) -> Any:
        with _known():
            result = await self._workspace.runs.resume(asked.name, user=asked.theirs)
        return result.to_dict()

    async def _cancel(self, asked: ApiRequest) -> Any:
        with _known():
            result = await self._workspace.runs.cancel(asked.name, user=asked.theirs)
        return result.to_dict()


@contextmanager
def _known() -> Iterator[None]:
    """Answer 404 if the run does not exist."""
    try:
        yield
    except NotFoundError as error:
        raise ApiError(404, "unknown_run", str(error)) from None


LIMIT = Number("limit", "The most runs to list; a shorter list is the last page.", PAGE, 1, 1000)
AFTER = Text("after", "The id of the last run of the previous page.")
RUN = (
    "Returns the skill's result, whether it succeeded or not, or its questions; they are among"
    " the pending calls, as `RUN/KEY`. With `wait: false` the answer is a 202 with the run's id,"
    " and the run goes on in the background."
)
