"""The routes of the console's pages, parts and assets."""

from collections.abc import Awaitable, Callable
from functools import cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolmd._auth import RIGHTS
from toolmd._http.console.actions import ConsoleActions, answered
from toolmd._http.console.layout import ASSETS, asset, page, printed
from toolmd._http.console.pages import Pages
from toolmd._http.console.view import ConsoleView
from toolmd._http.operations import ANY, OPEN, ApiError, check_rights

OPEN_PATHS = frozenset(("/enter", *(f"/assets/{name}" for name in ASSETS)))
"""Paths that need no session: they contain nothing of the project."""
LOOKS = {
    "/": "catalogue",
    "/problems": "problems",
    "/tools/{name}": "tool",
    "/skills/{name}": "skill",
    "/pending": "pending",
    "/crises": "crises",
    "/runs": "runs",
    "/runs/{run_id}": "run",
    "/fleet": "fleet",
    "/audit": "audit",
}
"""The pages, which need `operate`: they show the calls of all users and their context."""
DEEDS = {
    "/view/tools/{name}/try": ("try_tool", "call and operate"),
    "/view/tools/{name}/examples": ("examples", "call and operate"),
    "/view/pending/{confirmation_id:path}": ("decide", "decide and operate"),
    "/view/changes/{name}": ("accept", "operate"),
    "/view/crises/clear": ("clear_crisis", "operate"),
    "/view/skills/{name}/run": ("run", "call and operate"),
    "/view/runs/{run_id}/cancel": ("cancel", "operate"),
    "/view/runs/{run_id}/resume": ("resume", "operate"),
}
"""What forms do, for any user, and what a token needs for it."""
NEEDS = {
    "GET /enter": OPEN, "GET /assets/{name}": OPEN,
    **{f"GET {path}": "operate" for path in LOOKS},
    **{f"POST {path.replace(':path', '')}": needs for path, (_, needs) in DEEDS.items()},
}  # fmt: skip


def console_routes(view: ConsoleView) -> list[tuple[str, Route]]:
    """Return the console's routes; each one answers a denial in its own form."""
    pages, actions = Pages(view), ConsoleActions(view)
    return [
        (OPEN, Route("/enter", lambda _request: page("enter.html"))),
        (OPEN, Route("/assets/{name}", _asset)),
        *((ANY, Route(path, _looked(getattr(pages, look)))) for path, look in LOOKS.items()),
        *((ANY, Route(path, _done(getattr(actions, deed), needs), methods=["POST"]))
          for path, (deed, needs) in DEEDS.items()),
    ]  # fmt: skip


def _rights(request: Request) -> frozenset[str]:
    rights: frozenset[str] = request.scope["state"][RIGHTS]
    return rights


def _looked(look: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Run a page in a thread: the first read of a snapshot imports all its Python."""

    async def looked(request: Request) -> Response:
        try:
            check_rights("operate", _rights(request))
        except ApiError:
            return page("foreign.html", status=403)
        return await run_in_threadpool(look, request)

    return looked


def _done(
    deed: Callable[[Request], Awaitable[Response]], needs: str
) -> Callable[[Request], Awaitable[Response]]:
    act = answered(deed)

    async def done(request: Request) -> Response:
        try:
            check_rights(needs, _rights(request))
        except ApiError as problem:
            return page("part_problem.html", status=403, message=problem.problem["detail"])
        return await act(request)

    return done


@cache
def stranger_page() -> bytes:
    """Return the page for a browser without a session."""
    return printed("stranger.html").encode()


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    return asset(name) if name in ASSETS else Response("Not found", 404, media_type="text/plain")
