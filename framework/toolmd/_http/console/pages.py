"""The console's pages; each reads the workspace again."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast, get_args

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from toolmd._auth import CALLER
from toolmd._call.audit.reader import DecisionKind, Wanted
from toolmd._export.targets import TARGETS
from toolmd._http.console.audit_view import read_audit
from toolmd._http.console.catalogue import CatalogueLine, catalogue, entry_of, find_tool
from toolmd._http.console.checks import checks_of
from toolmd._http.console.confirmations import held_slips, slips_of, waiting
from toolmd._http.console.document import rendered
from toolmd._http.console.findings import FileLines, by_file
from toolmd._http.console.form import fields_of
from toolmd._http.console.layout import page
from toolmd._http.console.model_view import run_view
from toolmd._http.console.timeline import timeline
from toolmd._http.console.view import ConsoleView
from toolmd._skills.graph import chart_of, svg
from toolmd._types.call import NOBODY, Caller
from toolmd._types.registry import Bound
from toolmd._types.run import StepState
from toolmd._types.skill import SkillSpec
from toolmd._validation.redact import redacted
from toolmd._workspace import Workspace
from toolmd._workspace.names import can_run
from toolmd.errors import NotFoundError, ToolmdError

Read = TypeVar("Read")
LISTED = 100
"""The most runs, or conversations with a crisis flag, on a page."""


class Pages:
    """The GET routes; every method runs in a worker thread."""

    def __init__(self, view: ConsoleView) -> None:
        self._view = view

    @property
    def _workspace(self) -> Workspace:
        return self._view.workspace

    def catalogue(self, request: Request) -> Response:
        """Show all definitions."""
        found = catalogue(self._workspace)
        return self._page(request, "catalogue.html", "catalogue", found=found)

    def problems(self, request: Request) -> Response:
        """Show all diagnostics, by file."""
        found = catalogue(self._workspace)
        return self._page(request, "problems.html", "problems", found=found)

    def tool(self, request: Request) -> Response:
        """Show one tool: its definition, its exports, and a form to call it."""
        bound = find_tool(self._workspace, request.path_params["name"])
        if bound is None:
            return self._missing(request, "tool")
        return self._page(
            request,
            "tool.html",
            "catalogue",
            bound=bound,
            spec=bound.spec,
            entry=self._entry(bound),
            document=self._document(bound),
            exports=self._exports(bound.name),
            checks=checks_of(bound, self._workspace.settings),
            fields=fields_of(bound.spec.parameters),
            caller=_caller(request),
        )

    def skill(self, request: Request) -> Response:
        """Show one skill: its steps as a graph, and a form to run it."""
        name = request.path_params["name"]
        skills = self._workspace.skills
        bound = skills.get(name) or skills.get(name.replace("-", "_"))
        if bound is None:
            return self._missing(request, "skill")
        return self._page(
            request,
            "skill.html",
            "catalogue",
            bound=bound,
            spec=bound.spec,
            entry=self._entry(bound),
            document=self._document(bound),
            graph=_graph(bound.spec) if bound.spec.workflow_sections else None,
            runs_itself=can_run(bound),
            invocable=bound.spec.user_invocable,
            fields=fields_of(bound.spec.parameters),
            caller=_caller(request),
        )

    def pending(self, request: Request) -> Response:
        """Show a page of the pending calls."""
        (slips, more), after = _after(request, lambda after: held_slips(self._workspace, after))
        return self._page(request, "pending.html", "pending", slips=slips, more=more, after=after)

    def crises(self, request: Request) -> Response:
        """Show the conversations whose crisis flag is set; each page lists them for its badge."""
        return self._page(request, "crises.html", "crises", shown=LISTED)

    def runs(self, request: Request) -> Response:
        """Show the runs, the latest first."""
        listed = self._workspace.runs.list_sync
        runs, after = _after(request, lambda after: listed(limit=LISTED + 1, after=after))
        more = len(runs) > LISTED
        return self._page(request, "runs.html", "runs", runs=runs[:LISTED], more=more, after=after)

    def run(self, request: Request) -> Response:
        """Show one run, step by step on its graph."""
        run_id = request.path_params["run_id"]
        try:
            trace = self._workspace.runs.trace_sync(run_id)
        except NotFoundError:
            return self._missing(request, "run")
        return self._page(
            request,
            "run.html",
            "runs",
            view=trace.view,
            skill=trace.skill,
            graph=_graph(trace.skill, trace.states) if trace.skill.workflow_sections else None,
            timeline=timeline(trace, dt.datetime.now(dt.UTC)),
            model=run_view(self._workspace, trace.view.result),
            events=[event.to_dict() for event in trace.events],
            inputs=redacted(trace.view.inputs, trace.skill.parameters),
            slips=slips_of(self._workspace, trace.view),
        )

    def fleet(self, request: Request) -> Response:
        """Show the workers, what waits for them, the schedules and the use of shared limits."""
        fleet = self._workspace.runs.fleet_sync()
        store = self._workspace.settings.store
        return self._page(request, "fleet.html", "fleet", fleet=fleet, kept=store != "memory")

    def audit(self, request: Request) -> Response:
        """Show the recorded decisions, those of a tool, user or kind if the address names one."""
        asked = {key: request.query_params.get(key) or None for key in ("tool", "user", "outcome")}
        outcome = cast("DecisionKind | None", asked["outcome"])
        wanted = Wanted(asked["tool"], asked["user"], outcome)
        before = request.query_params.get("before")
        return self._page(
            request,
            "audit.html",
            "audit",
            audit_view=read_audit(self._workspace.settings, wanted, before),
            asked={key: value for key, value in asked.items() if value},
            before=before,
            outcomes=get_args(DecisionKind),
            names=(*self._workspace.tools, *self._workspace.skills),
        )

    def _page(self, request: Request, template: str, place: str, **values: Any) -> Response:
        workspace = self._workspace
        errors = sum(d.severity == "error" for d in workspace.diagnostics)
        return page(
            template,
            place=place,
            project=workspace.settings.root.name,
            path=request.url.path,
            waiting=waiting(workspace),
            errors=errors,
            crises=workspace.crises.list_sync(),
            pending_changes=workspace.changes.list_sync(),
            trusts_edits=workspace.settings.trust_edits,
            **values,
        )

    def _missing(self, request: Request, kind: str) -> Response:
        response = self._page(request, "missing.html", "", kind=kind)
        response.status_code = 404
        return response

    def _entry(self, bound: Bound[Any]) -> CatalogueLine:
        workspace = self._workspace
        files = by_file(workspace.diagnostics, FileLines(workspace.settings.root))
        changing = any(edit.name == bound.name for edit in workspace.changes.list_sync())
        return entry_of(bound, workspace.settings, files, changing=changing)

    def _document(self, bound: Bound[Any]) -> Markup:
        return rendered(FileLines(self._workspace.settings.root).text(bound.spec.source.path))

    def _exports(self, name: str) -> list[tuple[str, Any, tuple[Any, ...]]]:
        found: list[tuple[str, Any, tuple[Any, ...]]] = []
        for target in (name for name, row in TARGETS.items() if row.shows_tool):
            try:
                made = self._workspace.exported(target, [name])
            except ToolmdError as error:
                found.append((target, str(error), ()))
            else:
                items = made.items
                one = items[0] if isinstance(items, list) and len(items) == 1 else items
                found.append((target, one, made.losses))
        return found


def _after(request: Request, read: Callable[[str | None], Read]) -> tuple[Read, str | None]:
    """Read the page after the entry in the address; the first one if that is not kept."""
    after = request.query_params.get("after") or None
    try:
        return read(after), after
    except NotFoundError:
        return read(None), None


def _graph(spec: SkillSpec, states: Mapping[str, StepState] | None = None) -> Markup:
    drawn = svg(chart_of(spec), states, standalone=False)
    return Markup(drawn)  # noqa: S704 - the drawing escapes its texts


def _caller(request: Request) -> Caller:
    caller: Caller = request.scope.get("state", {}).get(CALLER, NOBODY)
    return caller
