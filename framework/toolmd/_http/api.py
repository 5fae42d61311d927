"""The operations of the API on a workspace; each docstring is its documentation."""

import asyncio
import datetime as dt
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import chain
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, Field
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Route

from toolmd._auth import ALL_RIGHTS, Sessions, Tokens
from toolmd._auth.tokens import TokenError
from toolmd._call.audit.reader import AuditReader, DecisionKind, Wanted
from toolmd._export.documents import describe_bound, list_entry
from toolmd._export.mcp import policy_of
from toolmd._http.document import document
from toolmd._http.events import EventSource, EventStream
from toolmd._http.operations import (
    ANY,
    OPEN,
    OPERATIONS,
    ApiError,
    ApiRequest,
    Body,
    Nothing,
    check_rights,
    malformed,
    operation,
)
from toolmd._skills.graph import chart_of, svg
from toolmd._types.call import Caller
from toolmd._types.confirmation import Confirmation
from toolmd._types.decision import Approver, Decision
from toolmd._types.diagnostic import Severity
from toolmd._types.identity import Identity, is_for
from toolmd._types.result import Result, json_bytes
from toolmd._types.run import RunView
from toolmd._validation.redact import HIDDEN, redacted
from toolmd._workspace import Workspace
from toolmd._workspace.names import known_name
from toolmd.errors import NotFoundError, UnreachableError

_log = logging.getLogger(__name__)
PROBES = frozenset(("/health", "/ready"))
"""Paths for balancers: open to everyone, so their answers contain nothing of the project."""
OPEN_PATHS = frozenset(("/api/session",))
"""Paths that need no token."""
WARN_S = 60.0
"""The time until the same warning is logged again, in seconds."""
Confidence = Annotated[float, Field(ge=0, le=1)]


def _utc(text: str) -> str:
    at = dt.datetime.fromisoformat(text)
    return (at.astimezone(dt.UTC) if at.tzinfo else at.replace(tzinfo=dt.UTC)).isoformat()


def _time(value: object) -> dt.datetime:
    """Read a time; a number, also as text, could mean seconds, milliseconds or a year."""
    try:
        return dt.datetime.fromisoformat(cast("str", value))
    except (TypeError, ValueError):
        raise ValueError("a time is text in ISO 8601, with its zone") from None


Utc = Annotated[str, AfterValidator(_utc)]


class Page(BaseModel):
    """The part of a list that is wanted."""

    limit: int = Field(50, ge=1, le=1000, description="The most to list.")
    after: str | None = Field(None, description="The id of the last one of the previous page.")


class AuditPage(BaseModel):
    """The decision records that are wanted."""

    limit: int = Field(100, ge=1, le=1000, description="The most records to list.")
    before: str | None = Field(None, description="Only records before the one with this id.")
    tool: str | None = Field(None, description="Only records of this tool.")
    user: str | None = Field(None, description="Only records of this user.")
    outcome: DecisionKind | None = Field(None, description="Only these decisions.")
    conversation: str | None = Field(None, description="Only records of this conversation.")
    since: Utc | None = Field(None, description="Only records from this time on, ISO 8601.")
    until: Utc | None = Field(None, description="Only records before this time, ISO 8601.")


class FindingsPage(BaseModel):
    """What to list of each finding."""

    source: bool = Field(default=False, description="With the line of the file, as `source`.")


class Names(BaseModel):
    """The definitions that are wanted."""

    name: list[str] = Field([], description="Only these tools and skills; repeatable.")


class CallBody(Body):
    """A call of one tool."""

    arguments: dict[str, Any] | str = Field(
        default_factory=dict, description="The arguments, an object or its JSON text."
    )
    confidence: Confidence | None = Field(None, description="The model's confidence, 0 to 1.")
    message: str = Field("", description="The user's own words, for the intent check.")
    call_id: str | None = Field(None, description="The result has the same id.")
    dry_run: bool = Field(default=False, description="Run all checks, but not the tool.")


class ReplyBody(Body):
    """A model's reply."""

    reply: Any = Field(description="Text, or the provider's message as JSON.")
    dialect: str = Field("auto", description="`auto` detects it from the reply.")
    message: str = Field("", description="The user's own words, for the intent check.")
    dry_run: bool = Field(default=False, description="Run all checks, but not the tools.")


class DecisionBody(Body):
    """A person's decision on a pending call."""

    decision: Literal["approve", "confirm", "edit", "reject", "respond"] = Field(
        description="`approve` (or `confirm`), `edit`, `reject` or `respond`."
    )
    edit: dict[str, Any] | None = Field(None, description="The changed arguments, for `edit`.")
    text: str | None = Field(None, description="The answer in place of the tool, for `respond`.")


class RunBody(Body):
    """A run of one skill."""

    inputs: dict[str, Any] | str = Field(
        default_factory=dict, description="The inputs, an object or its JSON text."
    )
    confidence: Confidence | None = Field(None, description="The model's confidence, 0 to 1.")
    message: str = Field("", description="The user's own words, for the intent check.")
    at: Annotated[AwareDatetime, BeforeValidator(_time)] | None = Field(
        None, strict=False, description="Schedule it: the time, with its zone, at which it starts."
    )
    wait: bool = Field(default=True, description="If false, answer at once, with its id.")


class ClearBody(Body):
    """The conversation whose crisis flag an operator clears."""

    conversation: str = Field(description="The host's name for the conversation.")
    user: str | None = Field(None, description="Its user; null if nobody was signed in.")


class SessionBody(Body):
    """The token of a browser."""

    token: str = Field(max_length=4096, description="The token of the printed link.")


class Api:
    """The API of a workspace; enter `running` around the server."""

    def __init__(
        self, workspace: Workspace, event_source: EventSource, tokens: Tokens, sessions: Sessions
    ) -> None:
        self.workspace, self.event_source = workspace, event_source
        self._tokens, self._sessions = tokens, sessions
        self._stream = EventStream(event_source)
        self._tools = SnapshotDocument(workspace, lambda: _entries(workspace.tools))
        self._skills = SnapshotDocument(workspace, lambda: _entries(workspace.skills))
        self._document = SnapshotDocument(workspace, self.document)
        self._background: set[asyncio.Task[Any]] = set()
        self._look: asyncio.Task[bool] | None = None
        self._looked = 0.0
        self._warned = -WARN_S

    def routes(self) -> list[tuple[str, Route]]:
        """Return what each route needs, and the route."""
        return [one.route(self) for one in OPERATIONS]

    def document(self) -> dict[str, Any]:
        """Return the OpenAPI document, with a path for each current tool and skill."""
        exported: Any = self.workspace.export("openapi")
        facts = dict(Identity.of(self.workspace.settings).facts)
        needed = (tool.call_spec.requires_context for tool in self.workspace.tools.values())
        return document(exported["paths"], {*facts, *chain.from_iterable(needed)})

    @asynccontextmanager
    async def running(self) -> Any:
        """Serve within this context, once."""
        self.event_source.feed.serve_here()
        self.event_source.listen(self.workspace)
        try:
            yield
        finally:
            self.event_source.close()
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)

    @operation("GET /api/tools", ANY, "Entries")
    async def list_tools(self, request: ApiRequest) -> Any:
        """List the tools, but for those of other roles."""
        hidden = {name for name, bound in self.workspace.tools.items()
                  if not is_for(bound.call_spec, request.caller)}  # fmt: skip
        if not hidden or "operate" in request.rights:
            return await self._tools.answer()
        tools = {name: one for name, one in self.workspace.tools.items() if name not in hidden}
        return await asyncio.to_thread(_entries, tools)

    @operation("GET /api/tools/{name}", ANY, "Definition")
    async def show_tool(self, request: ApiRequest) -> Any:
        """Show a tool."""
        return self._describe(self.workspace.tools[self._known(request.name, "tool")], request)

    @operation("POST /api/tools/{name}/call", "call", "Result", body=CallBody)
    async def call_tool(self, request: ApiRequest) -> Any:
        """Call a tool.

        A result is a 200 with any outcome: the model must read that a call was denied (`denied`)
        or is pending (`confirm`, `review`). Only an unknown tool is a 404, a problem with the
        additional member `result`.
        """
        folded = request.name.replace("-", "_")
        name = folded if folded in self.workspace.tools else request.name
        body = request.body
        return _result_json(await self.workspace.call(
            name, body.arguments, confidence=body.confidence, message=body.message,
            call_id=body.call_id, dry_run=body.dry_run, **_who(request.caller),
        ))  # fmt: skip

    @operation("GET /api/skills", ANY, "Entries")
    async def list_skills(self, request: ApiRequest) -> Any:
        """List the skills."""
        del request
        return await self._skills.answer()

    @operation("GET /api/skills/{name}", ANY, "Definition")
    async def show_skill(self, request: ApiRequest) -> Any:
        """Show a skill."""
        return self._describe(self.workspace.skills[self._known(request.name, "skill")], request)

    @operation("POST /api/skills/{name}/run", "call", "Result", body=RunBody)
    async def run_skill(self, request: ApiRequest) -> Any:
        """Run a skill.

        Returns the skill's result, whether it succeeded or not, or its questions; they are among
        the pending calls, as `RUN/KEY`. With `wait: false` the answer is a 202 with the run's id,
        and the run goes on in the background.
        """
        name, body = self._known(request.name, "skill"), request.body
        if not body.wait and body.at is None:
            caller = request.caller._replace(message=body.message)
            run_id = await self._begin_run(name, body, caller)
            where = {"location": f"/api/runs/{run_id}"}
            return Response(json_bytes({"run_id": run_id}), 202, where, "application/json")
        result = await self.workspace.run(
            name, body.inputs, confidence=body.confidence, message=body.message, at=body.at,
            **_who(request.caller),
        )  # fmt: skip
        return result.to_dict()

    @operation("GET /api/skills/{name}/graph", ANY, "Picture", kind="image/svg+xml")
    async def draw_skill(self, request: ApiRequest) -> Any:
        """Draw the steps of a skill."""
        spec = self.workspace.skills[self._known(request.name, "skill")].spec
        picture = svg(chart_of(spec), standalone=False)
        return Response(picture, media_type="image/svg+xml")

    @operation("GET /api/runs/{run}/graph", ANY, "Picture", kind="image/svg+xml")
    async def draw_run(self, request: ApiRequest) -> Any:
        """Draw the steps of a run and their states."""
        trace = await self._trace(request)
        picture = svg(chart_of(trace.skill), trace.states, standalone=False)
        return Response(picture, media_type="image/svg+xml")

    @operation("GET /api/runs/{run}/events", ANY, "RunEvents")
    async def list_run_events(self, request: ApiRequest) -> Any:
        """List the events of a run, rebuilt from its record."""
        return [event.to_dict() for event in (await self._trace(request)).events]

    async def _trace(self, request: ApiRequest) -> Any:
        with _not_found("unknown_run"):
            await self.workspace.runs.get(request.name, user=request.visible_user)
            return await self.workspace.runs.trace(request.name)

    @operation("POST /api/handle", "call", "Turn", body=ReplyBody, problems=(404,))
    async def handle_reply(self, request: ApiRequest) -> Any:
        """Run the calls of a model's reply."""
        body = request.body
        with _not_found("unknown_dialect"):
            turn = await self.workspace.handle(
                body.reply, body.dialect, message=body.message, dry_run=body.dry_run,
                **_who(request.caller),
            )  # fmt: skip
        return turn.to_dict()

    @operation("GET /api/pending", ANY, "Confirmations", query=Page)
    async def list_pending(self, request: ApiRequest) -> Any:
        """List the pending calls, the oldest first.

        `can_approve` says whether the caller's yes would count: nobody approves a review of an own
        call.
        """
        with _not_found("confirmation_not_found"):
            found = await self.workspace.confirmations.pending(
                user=request.visible_user,
                roles=request.caller.roles,
                limit=request.query.limit,
                after=request.query.after,
            )
        return [{**one.to_dict(), "can_approve": self._can_approve(one, request)} for one in found]

    def _can_approve(self, one: Confirmation, request: ApiRequest) -> bool:
        try:
            who = self._approver(one, request)
        except ApiError:
            return False
        return self.workspace.confirmations.can_approve(one, who)

    @operation("POST /api/pending/{id}", "decide or operate", "Result", body=DecisionBody)
    async def decide(self, request: ApiRequest) -> Any:
        """Decide on a pending call.

        A pending call is decided once: a second decision returns `confirmation_used`. An edit
        counts as approval, except for critical tools, which need another confirmation. If the tool
        has changed, the result is `confirmation_stale`, with a new prompt.
        """
        body, confirmations = request.body, self.workspace.confirmations
        who = await self._decider(request)
        for needs, key, given in (("edit", "edit", body.edit), ("respond", "text", body.text)):
            if (given is not None) is not (body.decision == needs) or given in ({}, ""):
                raise malformed(f"`{key}` belongs to {needs}, which needs it")
        kind: Any = "approve" if body.decision == "confirm" else body.decision
        decision = Decision(kind, body.edit or {}, body.text or "")
        result = await confirmations.decide(request.name, decision, who)
        unknown = result.error is not None and result.error.code == "confirmation_not_found"
        if unknown and "/" in request.name and "operate" in request.rights:
            # No approval of this person: a review of a run, for an operator.
            who = Approver(None, request.caller.user)
            result = await confirmations.decide(request.name, decision, who)
        return _result_json(result)

    def _run_json(self, view: RunView, request: ApiRequest) -> dict[str, Any]:
        """Return a run; an operator sees no Sensitive input of another user."""
        described = view.to_dict()
        if request.visible_user is None:
            skill = self.workspace.skills.get(view.skill)
            described["inputs"] = (
                dict.fromkeys(view.inputs, HIDDEN)
                if skill is None
                else redacted(view.inputs, skill.spec.parameters)
            )
        return described

    async def _decider(self, request: ApiRequest) -> Approver:
        """Return who decides on the call of a request. Raises ApiError if the token may not."""
        try:
            pending = await self.workspace.confirmations.get(request.name)
        except UnreachableError:
            return Approver.of(request.caller)  # the decision itself is denied then
        return self._approver(pending, request)

    def _approver(self, pending: Confirmation | None, request: ApiRequest) -> Approver:
        """Return who decides; without a user an operator, who decides on the calls of others.

        Raises ApiError if the token may not. Nobody approves a review of their own call.
        """
        user, own = request.caller.user, Approver.of(request.caller)
        if pending is not None and pending.call.caller.user == user:
            # Without a user, the core would take them for an operator.
            operates = user is None and pending.kind == "review"
            check_rights("decide and operate" if operates else "decide", request.rights)
            return own
        is_review = pending is not None and pending.kind == "review" and user is not None
        if is_review and "decide" in request.rights and self._may_approve(pending, own):
            return own
        if "operate" not in request.rights:
            raise ApiError(404, "confirmation_not_found", "no such call is pending for you")
        return Approver(None, user)

    @staticmethod
    def _may_approve(pending: Confirmation | None, own: Approver) -> bool:
        """Return whether a review may wait for the approval of this person, not of an operator."""
        if pending is None or not pending.approvals:
            return pending is not None and "/" in pending.id  # that of a run names no approvals
        by_rule = any(isinstance(one.by, str) for one in pending.approvals)
        return by_rule or pending.may_interest(own.roles, time.time())

    @operation("GET /api/runs", ANY, "Runs", query=Page)
    async def list_runs(self, request: ApiRequest) -> Any:
        """List the runs, the newest first."""
        with _not_found("unknown_run"):
            views = await self.workspace.runs.list(
                user=request.visible_user, limit=request.query.limit, after=request.query.after
            )
        return [self._run_json(view, request) for view in views]

    @operation("POST /api/runs/{run}/resume", "call or operate", "Result", body=Nothing)
    async def resume_run(self, request: ApiRequest) -> Any:
        """Resume a run."""
        with _not_found("unknown_run"):
            return (
                await self.workspace.runs.resume(request.name, user=request.visible_user)
            ).to_dict()

    @operation("POST /api/runs/{run}/cancel", "call or operate", "Result", body=Nothing)
    async def cancel_run(self, request: ApiRequest) -> Any:
        """Stop a run, and undo its completed steps."""
        with _not_found("unknown_run"):
            return (
                await self.workspace.runs.cancel(request.name, user=request.visible_user)
            ).to_dict()

    @operation("GET /api/runs/{id}", ANY, "Run")
    async def show_run(self, request: ApiRequest) -> Any:
        """Show a run step by step."""
        with _not_found("unknown_run"):
            view = await self.workspace.runs.get(request.name, user=request.visible_user)
        return self._run_json(view, request)

    @operation("GET /api/diagnostics", "operate", "Diagnostics", query=FindingsPage)
    async def list_diagnostics(self, request: ApiRequest) -> Any:
        """List all findings."""

        def find() -> Any:
            # The first check imports every implementation.
            found: list[dict[str, Any]] = [one.to_dict() for one in self.workspace.diagnostics]
            if request.query.source:
                paths = {one["path"] for one in found}
                lines = {path: self._text(path).split("\n") for path in paths}
                for one in found:
                    one["source"] = "".join(lines[one["path"]][one["line"] - 1 : one["line"]])
            return found

        return await _encode(find)

    @operation("GET /api/changes", "operate", "PendingChanges")
    async def list_changes(self, _: ApiRequest) -> Any:
        """List the pending edits that weaken a policy."""
        return [edit.to_dict() for edit in await self.workspace.changes.list()]

    @operation("POST /api/changes/{name}/accept", "operate", "PendingChange", body=Nothing)
    async def accept_change(self, request: ApiRequest) -> Any:
        """Accept an edit that weakens a policy: it is live from then on."""
        with _not_found("no_held_edit"):
            return (await self.workspace.changes.accept(request.name)).to_dict()

    @operation("GET /api/exports/{target}", ANY, "Export", query=Names)
    async def export(self, request: ApiRequest) -> Any:
        """Export the tools and skills for another program."""

        def export() -> Any:
            exported = self.workspace.exported(request.name, request.query.name)
            losses = [str(loss) for loss in exported.losses]
            return {"target": exported.target, "items": exported.items, "losses": losses}

        with _not_found("unknown_name"):
            return await _encode(export)

    @operation("GET /api/crises", "operate", "Crises")
    async def list_crises(self, _: ApiRequest) -> Any:
        """List the conversations with a crisis flag, oldest first."""
        return [crisis.to_dict() for crisis in await self.workspace.crises.list()]

    @operation("POST /api/crises/clear", "operate", "Cleared", body=ClearBody, problems=(404,))
    async def clear_crisis(self, request: ApiRequest) -> Any:
        """Clear the crisis flag of a conversation: its calls run again."""
        with _not_found("no_crisis"):
            await self.workspace.crises.clear(request.body.conversation, user=request.body.user)
        return request.body.model_dump()

    @operation("GET /api/audit", "operate", "Decisions", query=AuditPage)
    async def list_decisions(self, request: ApiRequest) -> Any:
        """List the decision records, the latest first."""
        query, reader = request.query, AuditReader(self.workspace.settings)
        wanted = Wanted(query.tool, query.user, query.outcome, query.conversation, query.since,
                        query.until)  # fmt: skip
        found = await asyncio.to_thread(reader.latest, query.limit, wanted, query.before)
        return [one.to_dict() for one in found]

    @operation("GET /api/audit/verify", "operate", "Verified")
    async def verify_decisions(self, _: ApiRequest) -> Any:
        """Verify the chain of the decision records."""
        return (await asyncio.to_thread(AuditReader(self.workspace.settings).verify)).to_dict()

    @operation("GET /api/events", ANY, "Events", kind="text/event-stream")
    async def follow_events(self, request: ApiRequest) -> Any:
        """Follow the events.

        Server-sent events; `data` is a JSON object. `hello` comes first. `Last-Event-ID` resumes
        the stream; `resync` means that events were lost, so read everything again. Of other
        processes of the store it has `pending` and `run`, within about a second and perhaps twice.
        The page on HTTP that `make docs` writes has each event.
        """
        last = Headers(scope=request.scope).get("last-event-id")
        return self._stream.follow(last, request.visible_user)

    @operation("POST /api/session", OPEN, body=SessionBody, problems=(401,))
    async def begin_session(self, request: ApiRequest) -> Any:
        """Start a browser's session."""
        detail = "The token is not valid; the server prints a new one at each start."
        try:
            passed = await self._tokens.find({"authorization": f"Bearer {request.body.token}"})
        except TokenError as error:
            passed, detail = None, str(error)
        if passed is None:
            raise ApiError(401, "unauthorized", detail, {"www-authenticate": "Bearer"})
        self._tokens.remember(passed)
        return Response(status_code=204, headers={"set-cookie": self._sessions.begin(passed)})

    @operation("GET /api/caller", ANY, "CallerFacts")
    async def show_caller(self, request: ApiRequest) -> Any:
        """Show who calls, what the token may do, and what the project has."""
        settings = self.workspace.settings
        return {
            "user": request.caller.user,
            "roles": list(request.caller.roles),
            "context": dict(request.caller.context),
            "may": [one for one in ALL_RIGHTS if one in request.rights],
            "project": settings.root.name,
            "trust_edits": settings.trust_edits,
        }

    @operation("GET /health", OPEN, "Health")
    async def health(self, _: ApiRequest) -> Any:
        """Report that the process lives."""
        return {"status": "ok", "pending_changes": len(self.workspace.changes.list_sync())}

    @operation("GET /ready", OPEN, "Ready")
    async def ready(self, _: ApiRequest) -> Any:
        """Report whether calls are served.

        A balancer sends requests where it is 200. It is 503 while the store can't be reached, and
        with `serve.require_accepted` while a weaker policy waits for acceptance.
        """
        if self._look is None or (self._look.done() and time.monotonic() > self._looked + 1):
            # Strangers can't load the store: one look a second, for which every request waits.
            self._look = asyncio.get_running_loop().create_task(self._store_answers())
        await asyncio.wait((self._look,), timeout=2)
        if not (self._look.done() and self._look.result()):
            raise ApiError(503, "store_unreachable", "The server can't reach its store.")
        pending = len(self.workspace.changes.list_sync())
        if pending and self.workspace.settings.serve.require_accepted:
            raise ApiError(503, "changes_pending", "A weaker policy waits for acceptance.")
        found = self.workspace.diagnostics_of(())
        broken = {one.span.path for one in found if one.severity is Severity.ERROR}
        return {"status": "ready", "pending_changes": pending, "broken_files": len(broken),
                "policy": self.workspace.policy}  # fmt: skip

    @operation("GET /openapi.json", ANY, "Document")
    async def openapi(self, request: ApiRequest) -> Any:
        """Return this document."""
        del request
        return await self._document.answer()

    def _describe(self, bound: Any, request: ApiRequest) -> dict[str, Any]:
        """Return a definition; an operator gets the text of its file, too."""
        found = [diagnostic.to_dict() for diagnostic in bound.diagnostics]
        described = {**describe_bound(bound), "stale": bound.stale, "diagnostics": found}
        if "operate" in request.rights:
            described["text"] = self._text(bound.spec.source.path)
        return {**described, **_policy(bound.spec)}

    def _text(self, path: str) -> str:
        """Return the text of a file of the project; empty if it can't be read."""
        try:
            text = (self.workspace.settings.root / path).read_text("utf-8-sig", "replace")
        except (OSError, ValueError):
            return ""
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _known(self, name: str, kind: Literal["tool", "skill"]) -> str:
        with _not_found(f"unknown_{kind}"):
            return known_name(name, self.workspace.registry, kind)

    async def _begin_run(self, name: str, body: RunBody, caller: Caller) -> str:
        """Start a run, and return its id once it is known, or after 5 seconds."""
        begun, loop = asyncio.Event(), asyncio.get_running_loop()
        run_id = f"run-{secrets.token_hex(8)}"

        def heard(kind: str, data: dict[str, Any], _user: str | None) -> None:
            if kind == "run" and data["run_id"] == run_id:
                loop.call_soon_threadsafe(begun.set)

        async def run() -> None:
            try:
                await self.workspace.run(
                    name, body.inputs, confidence=body.confidence, message=caller.message,
                    run_id=run_id, **_who(caller),
                )  # fmt: skip
            except Exception:  # noqa: BLE001 - no request waits for it, so the log has the error
                _log.exception("the run %s failed", run_id)

        end = self.workspace.on_workspace_event(heard)
        try:
            task = loop.create_task(run())
            self._background.add(task)
            task.add_done_callback(self._background.discard)
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    await begun.wait()
        finally:
            end()
        return run_id

    async def _store_answers(self) -> bool:
        try:
            with suppress(NotFoundError):
                await self.workspace.runs.get("-")
        except Exception as error:  # noqa: BLE001 - whatever fails here fails calls too
            # Strangers can cause this warning, and must not fill the log.
            if time.monotonic() - self._warned >= WARN_S:
                self._warned = time.monotonic()
                _log.warning("not ready: %s", error)
            return False
        finally:
            self._looked = time.monotonic()
        return True


class SnapshotDocument:
    """An answer that stays the same as long as the snapshot does."""

    def __init__(self, workspace: Workspace, build: Callable[[], Any]) -> None:
        """Store `build`, which returns the snapshot's JSON value and is called in a thread."""
        self._workspace, self._build = workspace, build
        self._current: tuple[Any, bytes] = (None, b"")
        self._building = asyncio.Lock()

    async def answer(self) -> bytes:
        """Return the document."""
        async with self._building:
            # Build again if a reload came in between: an answer must not mix two snapshots.
            while (registry := self._workspace.registry) is not self._current[0]:
                self._current = registry, await _encode(self._build)
        return self._current[1]


def _who(caller: Caller) -> dict[str, Any]:
    return {
        "user": caller.user, "roles": caller.roles, "context": caller.context,
        "conversation": caller.conversation, "via": caller.via,
    }  # fmt: skip


def _result_json(result: Result) -> bytes:
    """Return a result's JSON; raise ApiError if the tool or the confirmation is unknown."""
    if (error := result.error) and error.code in {"unknown_tool", "confirmation_not_found"}:
        raise ApiError(404, error.code, error.message, result=result.to_dict())
    return result.to_json()


@contextmanager
def _not_found(code: str) -> Iterator[None]:
    """Answer 404 with a code of its own where something does not exist."""
    try:
        yield
    except NotFoundError as error:
        raise ApiError(404, code, str(error)) from None


async def _encode(build: Callable[[], Any]) -> bytes:
    """Build and encode what may be long next to the event loop."""
    return await asyncio.to_thread(lambda: json_bytes(build()))


def _entries(bound: Any) -> list[dict[str, Any]]:
    return [list_entry(one) | _policy(one.spec) for one in bound.values()]


def _policy(spec: Any) -> dict[str, Any]:
    """Return what a list shows of a definition: its policy, or whether its runs are stored."""
    if spec.kind == "skill":
        return {"durable": spec.durable and spec.executable, "can_start": spec.user_invocable}
    return {"policy": policy_of(spec), "read_only": spec.read_only}
