"""Where each page, part and asset of the console is found."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolmark._http.console.actions import Actions
from toolmark._http.console.bench import Bench
from toolmark._http.console.pages import Pages
from toolmark._http.console.paper import ASSETS, asset, printed

OPEN_PATHS = frozenset(("/enter", *(f"/assets/{name}" for name in ASSETS)))
"""What may be asked for before one is let in: it holds nothing of the project."""


def console_routes(bench: Bench) -> list[Route]:
    """Give the routes of the console, all below `/`."""
    pages, actions = Pages(bench), Actions(bench)
    return [
        Route("/", pages.catalogue),
        Route("/problems", pages.problems),
        Route("/tools/{name}", pages.tool),
        Route("/skills/{name}", pages.skill),
        Route("/pending", pages.pending),
        Route("/runs", pages.runs),
        Route("/runs/{run_id}", pages.run),
        Route("/audit", pages.audit),
        Route("/enter", pages.enter),
        Route("/assets/{name}", _asset),
        Route("/view/tools/{name}/try", actions.try_tool, methods=["POST"]),
        Route("/view/tools/{name}/examples", actions.examples, methods=["POST"]),
        Route("/view/pending/{held_id:path}", actions.decide, methods=["POST"]),
        Route("/view/held-edits/{name}", actions.acknowledge, methods=["POST"]),
        Route("/view/skills/{name}/run", actions.run, methods=["POST"]),
        Route("/view/runs/{run_id}/cancel", actions.cancel, methods=["POST"]),
        Route("/view/runs/{run_id}/resume", actions.resume, methods=["POST"]),
    ]


def stranger_page() -> bytes:
    """Give the page for whoever comes without a session: where to find the way in."""
    return printed("stranger.html").encode()


def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    return asset(name) if name in ASSETS else Response("Not found", 404, media_type="text/plain")
