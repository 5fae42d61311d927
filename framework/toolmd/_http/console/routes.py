"""The routes of the console's pages, parts and assets."""

from collections.abc import Awaitable, Callable
from functools import cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolmd._http.api.errors import ApiError
from toolmd._http.console.actions import ConsoleActions, answered
from toolmd._http.console.layout import ASSETS, asset, page, printed
from toolmd._http.console.pages import Pages
from toolmd._http.console.view import ConsoleView

OPEN_PATHS = frozenset(("/enter", *(f"/assets/{name}" for name in ASSETS)))
"""Paths that need no session: they contain nothing of the project."""


def console_routes(view: ConsoleView) -> list[Route]:
    """Return the console's routes; all but the entry and the assets are for the operator only."""
    pages, actions = Pages(view), ConsoleActions(view)
    looks: dict[str, Callable[[Request], Response]] = {
        "/": pages.catalogue,
        "/problems": pages.problems,
        "/tools/{name}": pages.tool,
        "/skills/{name}": pages.skill,
        "/pending": pages.pending,
        "/crises": pages.crises,
        "/runs": pages.runs,
        "/runs/{run_id}": pages.run,
        "/fleet": pages.fleet,
        "/audit": pages.audit,
    }
    deeds: dict[str, Callable[[Request], Awaitable[Response]]] = {
        "/view/tools/{name}/try": actions.try_tool,
        "/view/tools/{name}/examples": actions.examples,
        "/view/pending/{confirmation_id:path}": actions.decide,
        "/view/changes/{name}": actions.accept,
        "/view/crises/clear": actions.clear_crisis,
        "/view/skills/{name}/run": actions.run,
        "/view/runs/{run_id}/cancel": actions.cancel,
        "/view/runs/{run_id}/resume": actions.resume,
    }
    return [
        Route("/enter", lambda _request: page("enter.html")),
        Route("/assets/{name}", _asset),
        *(Route(path, _looked(look)) for path, look in looks.items()),
        *(Route(path, answered(deed), methods=["POST"]) for path, deed in deeds.items()),
    ]


def _looked(look: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Run a page in a thread: the first read of a snapshot imports all its Python."""

    async def looked(request: Request) -> Response:
        return await run_in_threadpool(look, request)

    return looked


def foreign(request: Request, problem: ApiError) -> Response:
    """Return the answer to a request whose token lacks a right: a page, or a part of one."""
    if request.method == "POST":
        return page("part_problem.html", status=403, message=problem.problem["detail"])
    return page("foreign.html", status=403)


@cache
def stranger_page() -> bytes:
    """Return the page for a browser without a session."""
    return printed("stranger.html").encode()


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    return asset(name) if name in ASSETS else Response("Not found", 404, media_type="text/plain")
